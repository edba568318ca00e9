package documents_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
)

// library is a host with descriptions.
type library struct {
	asked  atomic.Int64
	answer fetch.Answer
	err    error
}

func (l *library) Fetch(_ context.Context, r fetch.Request) (fetch.Answer, error) {
	if r.Trusted || r.Header["Authorization"] != "" {
		return fetch.Answer{}, errors.New("an admin has chosen the address: it is not trusted, and gets no credential")
	}
	l.asked.Add(1)
	return l.answer, l.err
}

// TestElsewhere reads a description on another host: once for all readers, and again
// after a while. A description that is unavailable, too large or invalid is refused, and
// not fetched at each read.
func TestElsewhere(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := &library{answer: fetch.Answer{Status: 200, Body: []byte("openapi: 3.0.3\ninfo: {title: Pets, version: '1'}\n")}}
	e := &documents.Elsewhere{Config: documents.Config{YAML: yaml.Codec{}, MaxUpload: 1 << 20}, Fetcher: l, Now: func() time.Time { return now }}
	const at = "https://pets.example/openapi.yaml"
	read := func(what, want string, asked int64) {
		t.Helper()
		text, mediaType, err := e.Read(t.Context(), at)
		if got := string(text); !strings.Contains(got, want) || (err == nil) != (want != "") || err == nil && mediaType == "" {
			t.Errorf("%s: %q %q %v", what, got, mediaType, err)
		}
		if err != nil && (fault.CodeOf(err) != documents.CodeElsewhere || !strings.Contains(err.Error(), at)) {
			t.Errorf("%s: %v", what, err)
		}
		if n := l.asked.Load(); n != asked {
			t.Errorf("%s: asked %d times, want %d", what, n, asked)
		}
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { _, _, _ = e.Read(t.Context(), at) })
	}
	all.Wait()
	read("many look", "Pets", 1)
	now = now.Add(6 * time.Minute)
	l.answer.Body = []byte(`{"openapi":"3.0.3","info":{"title":"Cats","version":"2"}}`)
	read("it has changed", "Cats", 2)
	now = now.Add(6 * time.Minute)
	l.err = fetch.ErrUnreachable
	read("it is away", "Cats", 3)
	read("it is away, again", "Cats", 3)
	for i, bad := range []*library{
		{err: fetch.ErrPrivate}, {err: fetch.ErrTooLarge}, {answer: fetch.Answer{Status: 404, Body: l.answer.Body}}, {answer: fetch.Answer{Status: 302, Header: map[string][]string{"Location": {"http://127.0.0.1/"}}}},
		{answer: fetch.Answer{Status: 200, Body: []byte("<html>Log in</html>")}}, {answer: fetch.Answer{Status: 200}}, {answer: fetch.Answer{Status: 200, Body: []byte(`{"secret":"of a host inside"}`)}},
	} {
		e = &documents.Elsewhere{Config: e.Config, Fetcher: l, Now: e.Now}
		l.answer, l.err = bad.answer, bad.err
		l.asked.Store(0)
		what := fmt.Sprint("bad ", i)
		read(what, "", 1)
		read(what, "", 1)
		now = now.Add(time.Minute)
		read(what, "", 2)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	e = &documents.Elsewhere{Config: e.Config, Fetcher: l, Now: e.Now}
	l.err = context.Canceled
	_, _, _ = e.Read(gone, at)
	l.answer, l.err = fetch.Answer{Status: 200, Body: []byte(`{"openapi":"3.0.3","info":{"title":"Dogs","version":"1"}}`)}, nil
	l.asked.Store(0)
	read("who asked first is gone", "Dogs", 1)
}

// TestElsewhereBounds reads more than the cache may hold.
func TestElsewhereBounds(t *testing.T) {
	l := &library{answer: fetch.Answer{Status: 200, Body: []byte(`{"openapi":"3.0.3","info":{"title":"` + strings.Repeat("x", 1<<20) + `","version":"1"}}`)}}
	e := &documents.Elsewhere{Config: documents.Config{YAML: yaml.Codec{}, MaxUpload: 2 << 20}, Fetcher: l, Now: time.Now}
	ask := func(from, to int) {
		t.Helper()
		for i := range to - from {
			if _, _, err := e.Read(t.Context(), fmt.Sprint("https://pets.example/", from+i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask(0, 31)
	ask(0, 31)
	if n := l.asked.Load(); n != 31 {
		t.Errorf("31 descriptions were asked for %d times", n)
	}
	ask(31, 40)
	ask(0, 1)
	if n := l.asked.Load(); n != 41 {
		t.Errorf("%d calls: what is too much was not forgotten", n)
	}
}
