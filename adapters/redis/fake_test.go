package redis_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// fake is a server that answers as a test says, for cases that are hard to produce with
// a real one. It speaks RESP 2.
type fake struct {
	addr   string
	l      net.Listener
	answer func(command []string) string // a RESP reply; "" blocks
	mu     sync.Mutex
	asked  []string
	conns  []net.Conn
}

// ok is the answer of a server with one subscriber.
func ok(command []string) string {
	switch strings.ToUpper(command[0]) {
	case "HELLO":
		return "-ERR unknown command\r\n"
	case "PUBSUB":
		return "*2\r\n$" + strconv.Itoa(len(command[2])) + "\r\n" + command[2] + "\r\n:1\r\n"
	case "PUBLISH":
		return ":1\r\n"
	case "PING":
		return "+PONG\r\n"
	}
	return "+OK\r\n"
}

// newFake starts a server; without TLS if encryption is nil.
func newFake(t testing.TB, encryption *tls.Config, answer func([]string) string) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{addr: l.Addr().String(), l: l, answer: answer}
	if encryption != nil {
		l = tls.NewListener(l, encryption)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.conns = append(f.conns, conn)
			f.mu.Unlock()
			go func() { defer conn.Close(); _ = f.talk(conn) }()
		}
	}()
	return f
}

func (f *fake) talk(conn net.Conn) error {
	r := bufio.NewReader(conn)
	for {
		var n int
		if _, err := fmt.Fscanf(r, "*%d\r\n", &n); err != nil {
			return err
		}
		command := make([]string, n)
		for i := range command {
			var length int
			if _, err := fmt.Fscanf(r, "$%d\r\n", &length); err != nil {
				return err
			}
			text := make([]byte, length+2)
			if _, err := io.ReadFull(r, text); err != nil {
				return err
			}
			command[i] = string(text[:length])
		}
		f.mu.Lock()
		f.asked = append(f.asked, strings.Join(command, " "))
		f.mu.Unlock()
		if _, err := io.WriteString(conn, f.answer(command)); err != nil {
			return err
		}
	}
}

// stop ends the server.
func (f *fake) stop() {
	_ = f.l.Close()
	f.cut()
}

// cut ends all connections.
func (f *fake) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.conns {
		_ = c.Close()
	}
	f.conns = nil
}

// heard returns the received commands that begin with a word.
func (f *fake) heard(word string) (out []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.asked {
		if strings.HasPrefix(strings.ToUpper(c), word) {
			out = append(out, c)
		}
	}
	return out
}
