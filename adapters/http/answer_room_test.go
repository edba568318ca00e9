package http_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	nethttp "net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// text is a value with a known size, or an unknown one if it is negative.
type text int

func (t text) Size() int { return int(t) }
func (t text) AppendJSON(b []byte) ([]byte, error) {
	return append(append(append(b, '"'), bytes.Repeat([]byte("x"), int(t))...), '"'), nil
}

// lists serves a list of texts of these sizes.
func lists(t *testing.T, c httpadapter.Config, sizes ...text) nethttp.Handler {
	t.Helper()
	list := func(context.Context, struct{}) (operation.Page[text], error) {
		return operation.Page[text]{Items: sizes, Pages: 1}, nil
	}
	ops := operation.Group{Surface: operation.Probe, Name: "texts", Path: "/texts", Tag: "Texts", Style: operation.Style{ListKey: "texts"}}.Rows(
		operation.GET("list", "", "List", list, operation.Public(), operation.Example(nil, map[string]any{})))
	c.Guard, c.Logger = func(next operation.Handler) operation.Handler { return next }, quiet
	h, err := httpadapter.Handler(ops, c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// pieces records how a list is sent.
type pieces struct {
	*httptest.ResponseRecorder
	largest int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.largest = max(p.largest, len(b))
	return p.ResponseWriter().Write(b)
}

func (p *pieces) ResponseWriter() nethttp.ResponseWriter { return p.ResponseRecorder }

// A long list is sent in pieces, so that the service never holds all of it. A short one is
// sent at once, with its length.
func TestListsAreSentInPieces(t *testing.T) {
	for _, c := range []struct {
		sizes []text
		whole bool
		most  int
	}{
		{nil, true, 100},
		{[]text{1, 2, 3}, true, 100},
		{make([]text, 1000), true, 10_000},
		{[]text{500_000, 500_000}, true, 1<<20 + 100},
		{[]text{600_000, 600_000, 600_000, 600_000, 600_000}, false, 1_300_000},
		{[]text{3 << 20, 1, 3 << 20}, false, 3<<20 + 100},
	} {
		w := &pieces{ResponseRecorder: httptest.NewRecorder()}
		lists(t, httpadapter.Config{}, c.sizes...).ServeHTTP(w, httptest.NewRequest("GET", "/texts", nil))
		var got struct{ Texts []string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Texts) != len(c.sizes) || w.largest > c.most {
			t.Fatalf("%d texts of %d, %v; the largest piece has %d bytes", len(got.Texts), len(c.sizes), err, w.largest)
		}
		for i, s := range c.sizes {
			if len(got.Texts[i]) != int(s) {
				t.Errorf("text %d has %d bytes of %d", i, len(got.Texts[i]), s)
			}
		}
		if whole := w.Header().Get("Content-Length") != ""; whole != c.whole {
			t.Errorf("%d texts: length %q", len(c.sizes), w.Header().Get("Content-Length"))
		}
	}
}

// A large part of an answer waits for a memory reservation. Without one, the answer is 503
// if nothing was sent yet; otherwise the connection is closed. Reservations are released.
func TestAnswersTakeRoom(t *testing.T) {
	room := load.NewRoom(16<<20, nil)
	_, other := room.Begin(t.Context())
	cfg := httpadapter.Config{Room: room, Deadline: 50 * time.Millisecond}
	get := func(sizes ...text) (w *httptest.ResponseRecorder, aborted bool) {
		defer func() {
			err, _ := recover().(error)
			aborted = errors.Is(err, nethttp.ErrAbortHandler)
		}()
		w = httptest.NewRecorder()
		lists(t, cfg, sizes...).ServeHTTP(w, httptest.NewRequest("GET", "/texts", nil))
		return w, false
	}
	for range 20 {
		if w, aborted := get(2<<20, 2<<20); w.Code != 200 || aborted {
			t.Fatal("with room:", w.Code, aborted)
		}
	}
	if err := other.Answer(t.Context(), 16<<20); err != nil {
		t.Fatal(err)
	}
	if w, _ := get(2 << 20); w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "memory") {
		t.Errorf("without room: %d %s", w.Code, w.Body)
	}
	if w, _ := get(1000, 1000); w.Code != 200 {
		t.Errorf("a short list without room: %d", w.Code)
	}
	if w, aborted := get(1<<20, 100, 2<<20); w.Code != 200 || !aborted {
		t.Errorf("no room for a later piece: %d, ended %v", w.Code, aborted)
	}
	other.End()
	if w, aborted := get(1<<20, 100, 2<<20); w.Code != 200 || aborted {
		t.Errorf("room again: %d, ended %v", w.Code, aborted)
	}
}

// counted is a text that records how many are encoded at the same time, once the list is
// long.
type counted struct{ now, most *atomic.Int64 }

func (c counted) AppendJSON(b []byte) ([]byte, error) {
	if len(b) > 128<<10 {
		n := c.now.Add(1)
		defer c.now.Add(-1)
		for was := c.most.Load(); n > was && !c.most.CompareAndSwap(was, n); was = c.most.Load() {
		}
		time.Sleep(100 * time.Microsecond)
	}
	return append(append(append(b, '"'), bytes.Repeat([]byte("x"), 8<<10)...), '"'), nil
}

// Many long lists at once leave a core to small requests: only as many are encoded at a time
// as there are cores for large requests, and no core is held while a client reads.
func TestLongListsTakeTurns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one core for large requests
	room := load.NewRoom(1<<40, nil)
	var now, most atomic.Int64
	items := make([]counted, 300) // 2.4 MB: three pieces
	for i := range items {
		items[i] = counted{&now, &most}
	}
	list := func(context.Context, struct{}) (operation.Page[counted], error) {
		return operation.Page[counted]{Items: items, Pages: 1}, nil
	}
	ops := operation.Group{Surface: operation.Probe, Name: "texts", Path: "/texts", Tag: "Texts", Style: operation.Style{ListKey: "texts"}}.Rows(
		operation.GET("list", "", "List", list, operation.Public(), operation.Example(nil, map[string]any{})))
	h, err := httpadapter.Handler(ops, httpadapter.Config{Room: room, Guard: func(next operation.Handler) operation.Handler { return next }, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "/texts", nil))
			if w.Code != 200 || w.Body.Len() < 300*(8<<10) {
				t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d at once", most.Load())
	}
	_, q := room.Begin(t.Context())
	begun := time.Now()
	if q.Turn(t.Context())(); time.Since(begun) > time.Second {
		t.Error("a core was not given back")
	}
}
