package fetch_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	port "github.com/gatehouse-io/gatehouse/ports/fetch"
)

// TestTalk applies the limits of other requests to conversations.
func TestTalk(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"b"}})
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.CloseNow() }()
		_ = c.Write(r.Context(), websocket.MessageText, []byte(r.Header.Get("Authorization")))
		for {
			kind, text, err := c.Read(r.Context())
			if err != nil {
				return
			}
			_ = c.Write(r.Context(), kind, text)
		}
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, r *http.Request) {
		if c, err := websocket.Accept(w, r, nil); err == nil {
			_ = c.Write(r.Context(), websocket.MessageText, make([]byte, 2000))
			_, _, _ = c.Read(r.Context())
		}
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/echo", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/hangs", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s := httptest.NewServer(mux)
	defer s.Close()
	allowed := fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, MaxBytes: 1000, Timeout: 2 * time.Second})

	c, err := allowed.Talk(t.Context(), port.Request{URL: s.URL + "/echo", Header: map[string]string{"Authorization": "mine"}}, []string{"a", "b"})
	if err != nil || c.Protocol() != "b" {
		t.Fatal(err)
	}
	if text, err := c.Receive(t.Context()); err != nil || string(text) != "mine" {
		t.Error(string(text), err)
	}
	if err := c.Send(t.Context(), []byte("hello")); err != nil {
		t.Error(err)
	}
	if text, err := c.Receive(t.Context()); err != nil || string(text) != "hello" {
		t.Error(string(text), err)
	}
	// It lasts longer than a request may take, until the caller ends it.
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := c.Receive(ctx); !errors.Is(err, port.ErrUnreachable) || ctx.Err() == nil {
		t.Error(err)
	}
	c.Close()
	if err := c.Send(t.Context(), []byte("late")); err == nil {
		t.Error("a closed conversation goes on")
	}

	for path, want := range map[string]error{"/away": port.ErrUnreachable, "/none": port.ErrUnreachable, "/hangs": port.ErrUnreachable} {
		if _, err := allowed.Talk(t.Context(), port.Request{URL: s.URL + path, Header: map[string]string{"Authorization": "mine"}}, nil); !errors.Is(err, want) || strings.Contains(err.Error(), "mine") {
			t.Errorf("%s: %v", path, err)
		}
	}
	large, err := allowed.Talk(t.Context(), port.Request{URL: s.URL + "/large"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer large.Close()
	if _, err := large.Receive(t.Context()); !errors.Is(err, port.ErrTooLarge) {
		t.Error(err)
	}
	careful := fetch.New(fetch.Config{})
	if _, err := careful.Talk(t.Context(), port.Request{URL: s.URL + "/echo"}, nil); !errors.Is(err, port.ErrPrivate) {
		t.Error("a private address:", err)
	}
	for _, url := range []string{"ftp://example.com", "http://a:b@example.com", "/x"} {
		if _, err := careful.Talk(t.Context(), port.Request{URL: url}, nil); !errors.Is(err, port.ErrRequest) {
			t.Error(url, err)
		}
	}
}
