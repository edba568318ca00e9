package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"
)

// server is a handler behind a real socket.
type server struct {
	addr  string
	http  *http.Server
	ended chan error
}

func serve(h http.Handler) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{l.Addr().String(), &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}, make(chan error, 1)}
	go func() { s.ended <- s.http.Serve(l) }()
	return s, nil
}

func (s *server) close() error {
	err := s.http.Close()
	if ended := <-s.ended; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// bareHandler reads the body and writes the same bytes every time.
func bareHandler(body []byte, headers ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		_, _ = w.Write(body) // the client notices errors
	})
}

// line is one keep-alive connection. It costs less than net/http's client, so that on
// shared cores the measurement is more about the server.
type line struct {
	conn net.Conn
	r    *bufio.Reader
}

// ask sends a request and returns the length of the body of the answer, which must be a
// success.
func (l *line) ask(request []byte) (n int64, err error) {
	if _, err := l.conn.Write(request); err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(l.r, nil)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(io.Discard, res.Body)
	if err = errors.Join(err, res.Body.Close()); err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("answer %s", res.Status)
	}
	return n, err
}

// lines are the connections of several clients to one server.
type lines []*line

func dial(addr string, clients int) (lines, error) {
	var out lines
	for range clients {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return nil, errors.Join(err, out.close())
		}
		out = append(out, &line{c, bufio.NewReaderSize(c, 64<<10)})
	}
	return out, nil
}

func (ls lines) close() error {
	var errs []error
	for _, l := range ls {
		errs = append(errs, l.conn.Close())
	}
	return errors.Join(errs...)
}

// asking is a contestant whose clients send the requests that request makes.
func (ls lines) asking(what string, request func(client, n int) []byte) contestant {
	return contestant{name: what, clients: len(ls), do: func(_ context.Context, client, n int) error {
		_, err := ls[client].ask(request(client, n))
		return err
	}}
}

// request encodes an HTTP/1.1 request; headers are name, value pairs.
func request(method, path, body string, headers ...string) []byte {
	b := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, path)
	for pair := range slices.Chunk(headers, 2) {
		b = fmt.Appendf(b, "%s: %s\r\n", pair[0], pair[1])
	}
	if body != "" {
		b = fmt.Appendf(b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return append(append(b, "\r\n"...), body...)
}

// discard is a ResponseWriter that keeps the status only.
type discard struct {
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (d *discard) Header() http.Header { return d.header }

// WriteHeader implements http.ResponseWriter.
func (d *discard) WriteHeader(status int) { d.status = status }

// Write implements http.ResponseWriter.
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }

// direct is a contestant that calls a handler without a network.
func direct(what string, h http.Handler, base *http.Request) contestant {
	w := &discard{header: http.Header{}}
	return contestant{name: what, do: func(context.Context, int, int) error {
		clear(w.header)
		w.status = http.StatusOK
		r := *base
		h.ServeHTTP(w, &r)
		if w.status != http.StatusOK {
			return fmt.Errorf("answer %d", w.status)
		}
		return nil
	}}
}
