package http_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/http/contracttest"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// The table of these tests: one row for every kind of output, and on every
// surface a row that fails in every way.

type thing struct {
	ID    string            `json:"_id"`
	Name  string            `json:"name" doc:"What it is called."`
	Size  *int              `json:"size"`
	Notes []string          `json:"notes,omitempty"`
	Made  time.Time         `json:"made"`
	Also  map[string]string `json:"also"`
	stock
}

type stock struct {
	Count int64 `json:"count,string"`
}

// spelled encodes its own JSON and describes it.
type spelled struct{ text string }

func (s spelled) AppendJSON(b []byte) ([]byte, error) {
	if s.text == "broken" {
		return b, errors.New("cannot be written")
	}
	return append(doc.AppendString(append(b, `{"spelled":`...), s.text+" <&>"), '}'), nil
}
func (s spelled) MarshalJSON() ([]byte, error)  { return s.AppendJSON(nil) }
func (s *spelled) UnmarshalJSON(b []byte) error { s.text = string(b); return nil }

func (spelled) Schema() map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{"spelled": map[string]any{"type": "string"}}, "required": []string{"spelled"}}
}

type feed struct{ tag string }

func (f feed) Stream() (string, string, [][]byte, [][]byte) {
	plain := [][]byte{[]byte(`{"Status":"OK","Message":[],`), []byte(`"Nonce":"n-1"}`)}
	if f.tag == "plain" {
		return "application/json", "", plain, nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(bytes.Join(plain, nil))
	_ = z.Close()
	return "application/json", f.tag, plain, [][]byte{b.Bytes()[:10], b.Bytes()[10:]}
}

type byName struct {
	Scope tenant.Scope
	Name  string `path:"name" doc:"Name of the thing."`
}

type listIn struct {
	N int `query:"n" doc:"How many."`
}

type draft struct {
	Name string   `json:"name"`
	Word spelled  `json:"word,omitzero"`
	Hats []string `json:"hats,omitempty"`
}

type createIn struct {
	Draft draft `body:""`
}

type replaceIn struct {
	byName
	Match operation.Match
	Draft draft `body:""`
}

type patchIn struct {
	byName
	Patch doc.Patch `body:""`
}

type failIn struct {
	How  string `query:"how" doc:"Name of the failure."`
	Host string `header:"x-test-host" doc:"Shown in the answer."`
}

// failures are the ways to fail, by name.
var failures = map[string]error{
	"invalid":         fault.New(fault.Invalid, "thing.name", "name is nonsense").At("name"),
	"unauthenticated": fault.New(fault.Unauthenticated, "auth.credential", "Not authorised"),
	"denied":          fault.New(fault.Denied, "auth.denied", "access denied: no"),
	"not_found":       fault.New(fault.NotFound, "thing.not_found", "thing not found"),
	"conflict":        fault.New(fault.Conflict, "thing.taken", "thing exists: 'x'").Because(errors.New("pq: duplicate key")),
	"stale":           fmt.Errorf("unit of work: %w", fault.New(fault.Stale, "thing.stale", "changed meanwhile")),
	"unavailable":     fault.New(fault.Unavailable, "", "come back later"),
	"too_large":       fault.New(fault.TooLarge, "thing.too_large", "less, please"),
	"too_many":        fault.New(fault.TooMany, "thing.too_many", "wait, please"),
	"too_slow":        fault.New(fault.TooSlow, "thing.too_slow", "faster, please"),
	"internal":        fault.New(fault.Internal, "", "error saving thing").Because(errors.New("pq: secret driver text")),
	"nokind":          fault.New(fault.Kind(99), "thing.odd", "odd"),
	"driver":          errors.New("pq: secret driver text"),
	"tardy":           fmt.Errorf("flush: %w", store.ErrTooLong),
	"gone":            fmt.Errorf("write: %w", store.ErrGone),
	"replaced":        fmt.Errorf("write: %w", store.ErrReplaced),
	"elsewhere":       fmt.Errorf("write: %w", store.ErrElsewhere),
	"hidden":          fmt.Errorf("write: %w", store.ErrHidden),
	"file":            fmt.Errorf("write: %w", store.ErrFile),
	"away":            fmt.Errorf("dial tcp: secret driver text: %w", store.ErrUnavailable),
	"deadline":        fmt.Errorf("secret driver text: %w", context.DeadlineExceeded),
	"canceled":        fmt.Errorf("secret driver text: %w", context.Canceled),
	"words":           fault.New(fault.Denied, "node.nonce", "Nonce failed: the nonce is old, No node ID Found"),
	"styled":          fault.New(fault.Invalid, "thing.styled", "own text"),
	"styledkind":      fault.New(fault.Conflict, "thing.other", "own text"),
}

func fail(_ context.Context, in failIn) (thing, error) {
	if in.How == "panic" {
		panic("secret panic text")
	}
	if err, ok := failures[in.How]; ok {
		return thing{}, err
	}
	return thing{Name: in.Host, Also: map[string]string{}}, nil
}

var (
	aThing     = map[string]any{"_id": "1", "name": "x", "size": nil, "made": "2026-01-02T03:04:05Z", "also": map[string]any{}, "count": "3"}
	allCodes   = []string{"unauthenticated", "denied", "not_found", "conflict", "stale", "too_large", "too_many", "too_slow", "invalid", "thing.styled", "thing.other"}
	styleThing = operation.Style{Word: "success", ListKey: "things", Faults: map[string]operation.Answer{
		operation.CodeMalformed: {Text: "error reading json body: {message}"},
		"thing.styled":          {Status: 422, Text: "styled: {message}!"},
		"conflict":              {Status: 403},
	}}
)

func failing(surface operation.Surface, name, path string, opts ...operation.Option) []operation.Operation {
	opts = append(opts, operation.Example(nil, aThing), operation.Faulting(append(allCodes, "thing.taken")...))
	return operation.Group{Surface: surface, Name: name, Path: path, Tag: "Failures", Permission: access.AnyUser, Style: styleThing}.Rows(
		operation.GET("fail", "/fail", "Fail", fail, opts...),
		operation.POST("fail.write", "/fail", "Fail while writing", fail, append(opts, operation.Status(200))...))
}

func things() []operation.Operation {
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one := func(name string) thing {
		return thing{ID: "1", Name: name, Made: made, Also: map[string]string{}, stock: stock{3}}
	}
	example := operation.Example(nil, aThing)
	return operation.Group{Surface: operation.Management, Name: "things", Path: "/api/things", Tag: "Things", Permission: access.APIs, Style: styleThing}.Rows(
		operation.GET("list", "", "List things", func(_ context.Context, in listIn) (operation.Page[thing], error) {
			p := operation.Page[thing]{Pages: 1}
			for range in.N {
				p.Items = append(p.Items, one("x"))
			}
			return p, nil
		}, operation.Example(nil, operation.Page[map[string]any]{Items: []map[string]any{aThing}, Pages: 1})),
		operation.GET("words", "/words/all", "List words", func(context.Context, struct{}) (operation.Page[spelled], error) {
			return operation.Page[spelled]{Items: []spelled{{"a"}, {"b"}}, Pages: 2}, nil
		}, operation.Example(nil, operation.Page[spelled]{Items: []spelled{{"a"}}, Pages: 1})),
		operation.POST("create", "", "Make a thing", func(_ context.Context, in createIn) (operation.Receipt, error) {
			return operation.Receipt{Message: "thing <made>", Meta: in.Draft.Name, ID: "1", Tag: "7"}, nil
		}, operation.Status(201), operation.Limits(200, 0), operation.Example(map[string]any{"name": "x"}, operation.Receipt{Message: "thing made", Meta: "x"})),
		operation.GET("get", "/{name}", "Fetch a thing", func(_ context.Context, in byName) (operation.Entity[thing], error) {
			return operation.Entity[thing]{Value: one(in.Name), Tag: "7"}, nil
		}, example),
		operation.GET("word", "/{name}/word", "Fetch a word", func(_ context.Context, in byName) (operation.Entity[spelled], error) {
			return operation.Entity[spelled]{Value: spelled{in.Name}, Tag: "w"}, nil
		}, operation.Example(nil, spelled{"x"})),
		operation.PUT("replace", "/{name}", "Replace a thing", func(_ context.Context, in replaceIn) (operation.Entity[thing], error) {
			return operation.Entity[thing]{Value: one(in.Draft.Name), Tag: "8"}, in.Match.CheckTag("7", true)
		}, operation.Example(map[string]any{"name": "y"}, aThing)),
		operation.PATCH("patch", "/{name}", "Change a thing", func(_ context.Context, in patchIn) (thing, error) { return one(in.Name), nil },
			operation.Example(map[string]any{"name": nil}, aThing), operation.Notes("Members that are null go away.")),
		operation.DELETE("delete", "/{name}", "Remove a thing", func(context.Context, byName) (operation.Receipt, error) {
			return operation.Receipt{Message: "thing deleted"}, nil
		}, operation.Example(nil, operation.Receipt{Message: "thing deleted"})),
		operation.POST("touch", "/{name}/touch", "Touch a thing", func(context.Context, byName) (any, error) { return nil, nil }, operation.Status(204)),
		operation.GET("slow", "/{name}/slow", "Wait", func(ctx context.Context, _ byName) (any, error) {
			<-ctx.Done()
			return nil, fmt.Errorf("store: %w", ctx.Err())
		}, operation.Limits(0, time.Millisecond), operation.Example(nil, []any{})),
		operation.GET("any", "/{name}/any", "Whatever it is", func(_ context.Context, in byName) (any, error) {
			if in.Name == "receipt" {
				return operation.Receipt{Message: "m", Meta: map[string]int{"a": 1}}, nil
			}
			return map[string]any{"<bad>": func() {}}, nil
		}, operation.Example(nil, map[string]any{})),
	)
}

func table() []operation.Operation {
	ops := append(things(), failing(operation.Management, "m", "/api")...)
	ops = append(ops, failing(operation.Admin, "a", "/admin")...)
	ops = append(ops, failing(operation.Node, "n", "/system")...)
	ops = append(ops, operation.Group{Surface: operation.Management, Name: "policies", Path: "/api/policies", Tag: "Policies", Permission: access.Policies,
		Style: operation.Style{ListKey: "Data", PagesKey: "Pages"}}.Rows(
		operation.GET("list", "", "List policies", func(context.Context, struct{}) (operation.Page[*int], error) {
			return operation.Page[*int]{Pages: 1}, nil
		},
			operation.Example(nil, operation.Page[*int]{Pages: 1})))...)
	ops = append(ops, failing(operation.Probe, "p", "/hello", operation.Public())...)
	return append(ops, operation.Group{Surface: operation.Node, Name: "feeds", Path: "/register", Tag: "Feeds"}.Rows(
		operation.GET("get", "/{name}", "Fetch a feed", func(_ context.Context, in byName) (feed, error) { return feed{in.Name}, nil },
			operation.Example(nil, feed{"x"})))...)
}

// spy is an observer and a guard that records its calls.
type spy struct {
	mu     sync.Mutex
	begun  []string
	ended  []int
	calls  []*operation.Call
	before func(*operation.Call) error
}

func (s *spy) Begin(ctx context.Context, op string) (context.Context, func(int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = append(s.begun, op)
	return ctx, func(status int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = append(s.ended, status)
	}
}

func (s *spy) guard(next operation.Handler) operation.Handler {
	return func(ctx context.Context, c *operation.Call) (any, error) {
		s.mu.Lock()
		s.calls = append(s.calls, c)
		s.mu.Unlock()
		if s.before != nil {
			if err := s.before(c); err != nil {
				return nil, err
			}
		}
		c.Principal.ID = "principal-1"
		return next(ctx, c)
	}
}

func (s *spy) last() *operation.Call { return s.calls[len(s.calls)-1] }

// server is the table with contract checks of answers.
type server struct {
	spy
	handler nethttp.Handler
	logs    bytes.Buffer
	t       *testing.T
}

func serve(t *testing.T, change ...func(*httpadapter.Config)) *server {
	t.Helper()
	s := &server{t: t}
	d := httpadapter.NewDescription("1.2.3")
	ops := append(table(), d.Operations()...)
	d.Describe(ops)
	cfg := httpadapter.Config{Guard: s.guard, Observer: s, Logger: slog.New(slog.NewJSONHandler(&s.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		NewRequestID: func() string { return "made-up" }}
	for _, c := range change {
		c(&cfg)
	}
	h, err := httpadapter.Handler(ops, cfg)
	if err != nil {
		t.Fatal(err)
	}
	document, err := httpadapter.Document(ops, "", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	s.handler = contracttest.Wrap(t, h, document)
	return s
}

// do sends a request; headers come as name, value, name, value.
func (s *server) do(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, in)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

// lines returns the log.
func (s *server) lines() []map[string]any {
	s.t.Helper()
	var out []map[string]any
	for line := range strings.Lines(s.logs.String()) {
		m := map[string]any{}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			s.t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}
