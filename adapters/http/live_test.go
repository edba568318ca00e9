package http_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// ticking is an endless live answer.
type ticking struct{ closed *atomic.Int64 }

func (ticking) Stream() (string, string, [][]byte, [][]byte) {
	return "text/event-stream", "", [][]byte{[]byte("tick\n")}, nil
}

func (t ticking) Next(ctx context.Context) ([]byte, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(50 * time.Millisecond):
		return []byte("tick\n"), nil
	}
}

func (t ticking) Close() { t.closed.Add(1) }

// TestLive: a live answer is sent piece by piece. It outlasts the limits of other answers, and ends
// with the client or the server.
func TestLive(t *testing.T) {
	var closed atomic.Int64
	ops := operation.Group{Surface: operation.Portal, Name: "ticks", Path: "/portal-api/ticks", Tag: "Ticks", Style: operation.Style{Faults: operation.PortalFaults()}}.Rows(
		operation.POST("follow", "", "Follow", func(context.Context, struct{}) (ticking, error) { return ticking{&closed}, nil },
			operation.Public(), operation.Example(nil, ticking{})))
	h, err := httpadapter.Handler(ops, httpadapter.Config{Logger: quiet, Guard: func(next operation.Handler) operation.Handler { return next }})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Config.ReadTimeout, s.Config.WriteTimeout = time.Second, time.Second
	httpadapter.EndLive(s.Config)
	s.Start()
	defer s.Close()
	follow := func() *nethttp.Response {
		resp, err := nethttp.Post(s.URL+"/portal-api/ticks", "application/json", nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	first, second := follow(), follow()
	if got := first.Header.Get("Content-Type"); first.StatusCode != 200 || got != "text/event-stream" || first.ContentLength >= 0 {
		t.Fatal(first.StatusCode, got, first.ContentLength)
	}
	ticks := bufio.NewScanner(first.Body)
	for range 30 { // a second and a half
		if !ticks.Scan() {
			t.Fatal("the answer ends by itself:", ticks.Err())
		}
	}
	_ = first.Body.Close()
	for n := 0; closed.Load() < 1; n++ {
		if time.Sleep(50 * time.Millisecond); n > 200 {
			t.Fatal("the client has gone, and the answer goes on")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Config.Shutdown(ctx); err != nil {
		t.Fatal("the server waits for an answer that does not end:", err)
	}
	if _, err := io.Copy(io.Discard, second.Body); err != nil {
		t.Error("the answer does not end well:", err)
	}
	if n := closed.Load(); n != 2 {
		t.Errorf("%d of 2 answers were closed", n)
	}
}

// large is a feed in pieces that exceeds a connection's buffers.
type large struct{}

const pieceSize, pieceCount = 8 << 20, 7

func (large) Stream() (string, string, [][]byte, [][]byte) {
	return "application/json", "", slices.Repeat([][]byte{bytes.Repeat([]byte(" "), pieceSize)}, pieceCount), nil
}

// TestSlowGateway: a gateway that reads a feed piece by piece may take longer in all than other
// answers may.
func TestSlowGateway(t *testing.T) {
	ops := operation.Group{Surface: operation.Node, Name: "system", Path: "/system", Tag: "Feeds"}.Rows(
		operation.GET("apis", "/apis", "Fetch a feed", func(context.Context, struct{}) (large, error) { return large{}, nil }, operation.Example(nil, map[string]any{})))
	h, err := httpadapter.Handler(ops, httpadapter.Config{Logger: quiet, Guard: func(next operation.Handler) operation.Handler { return next }})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Config.WriteTimeout = 2 * time.Second
	s.Start()
	defer s.Close()
	resp, err := nethttp.Get(s.URL + "/system/apis")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	for i := range pieceCount {
		time.Sleep(400 * time.Millisecond)
		if n, err := io.CopyN(io.Discard, resp.Body, pieceSize); err != nil {
			t.Fatalf("the answer ends in piece %d, after %d bytes: %v", i, n, err)
		}
	}
}
