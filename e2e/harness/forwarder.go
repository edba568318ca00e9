package harness

import (
	"errors"
	"io"
	"net"
	"sync"
)

// forwarder passes TCP connections on from an address that stays to a target that changes. While it
// is shut, connections to the address are refused, as with a stopped server.
type forwarder struct {
	addr string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]struct{} // nil while shut
}

// open begins to pass connections on to target.
func (f *forwarder) open(target string) error {
	listener, err := net.Listen("tcp", f.addr)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.listener, f.conns = listener, map[net.Conn]struct{}{}
	f.mu.Unlock()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go f.pass(conn, target)
		}
	}()
	return nil
}

// shut refuses new connections and cuts the present ones.
func (f *forwarder) shut() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conns == nil {
		return nil
	}
	errs := []error{f.listener.Close()}
	for conn := range f.conns {
		errs = append(errs, conn.Close())
	}
	f.conns = nil
	return errors.Join(errs...)
}

// pass carries one connection until either side ends.
func (f *forwarder) pass(client net.Conn, target string) {
	defer client.Close()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer server.Close()
	if !f.track(client) {
		return
	}
	defer f.forget(client)
	done := make(chan struct{}, 2)
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		done <- struct{}{}
	}
	go carry(server, client)
	go carry(client, server)
	<-done
}

func (f *forwarder) track(conn net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conns == nil {
		return false
	}
	f.conns[conn] = struct{}{}
	return true
}

func (f *forwarder) forget(conn net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, conn)
}
