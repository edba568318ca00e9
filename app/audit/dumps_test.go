package audit_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/core/access"
	core "github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// hearAnswer has a process hear a call and its response. If write is not nil, it makes
// the commit of the call.
func (w *world) hearAnswer(p *audit.Service, org tenant.ID, request, answer string, write func(context.Context), err error) {
	w.Helper()
	w.hearOn(operation.Management, p, org, request, answer, write, err)
}

func (w *world) hearOn(surface operation.Surface, p *audit.Service, org tenant.ID, request, answer string, write func(context.Context), err error) {
	w.Helper()
	scope, bad := tenant.Of(org)
	if bad != nil {
		w.Fatal(bad)
	}
	ctx := store.Request(w.Context())
	if write != nil {
		write(ctx)
	}
	var heard func(operation.Transcript)
	c := &operation.Call{Spec: &operation.Spec{ID: "notes.put", Method: "PUT", Intent: access.Write, Surface: surface}, RequestID: request, RawPath: "/notes",
		Principal: operation.Principal{ID: "u"}, Scope: scope, Answered: func(fn func(operation.Transcript)) { heard = fn }}
	if p.Hear(ctx, c, err); heard != nil {
		heard(operation.Transcript{Protocol: "HTTP/1.1", Status: 200, Header: map[string][]string{"Authorization": {"planted"}}, Body: [][]byte{[]byte(answer)}})
	}
}

func (w *world) hear(p *audit.Service, org tenant.ID, request string, write func(context.Context), err error) {
	w.Helper()
	w.hearAnswer(p, org, request, `{"text":"answer to `+request+`","secret":"planted"}`, write, err)
}

// records returns the trail of an organisation, the newest first.
func (w *world) records(p *audit.Service, org tenant.ID) (out []core.Record) {
	w.Helper()
	scope, err := tenant.Of(org)
	if err == nil {
		err = p.Newest(w.Context(), scope, func(r core.Record) bool { out = append(out, r); return true })
	}
	if err != nil {
		w.Fatal(err)
	}
	return out
}

func (w *world) put(org tenant.ID, id, text string) func(context.Context) {
	return func(ctx context.Context) {
		w.write(org, id, text)
		store.NoteWritten(ctx)
	}
}

// A record has the request and the response of its call, without secrets.
func TestRecordsHaveDumps(t *testing.T) {
	w := newWorld(t)
	p := w.process(audit.Settings{Detailed: true})
	w.hear(p, "a", "r-one", w.put("a", "n", "one"), nil)
	w.hear(p, "a", "r-two", w.put("a", "n", "two"), nil)
	w.hear(p, "a", "refused", nil, fault.New(fault.Denied, "no", "no"))
	w.fold(p)
	got := w.records(p, "a")
	if len(got) != 3 {
		t.Fatal(got)
	}
	for i, request := range []string{"refused", "r-two", "r-one"} {
		if r := got[i]; r.ReqID != request || !strings.HasPrefix(r.RequestDump, "PUT /notes") || !strings.Contains(r.ResponseDump, "answer to "+request) || strings.Contains(r.RequestDump+r.ResponseDump, "planted") {
			t.Errorf("%+v", r)
		}
	}
	if v := w.verify(p); len(v.Findings) > 0 {
		t.Error(v.Findings)
	}
}

// If another process has recorded the commit, the dumps get a record of their own. They
// never get into the record of another caller, whatever request ID a client chooses.
func TestDumpsOfOthers(t *testing.T) {
	w := newWorld(t)
	p, other := w.process(audit.Settings{Detailed: true}), w.process(audit.Settings{})
	w.write("a", "n", "one")
	w.fold(other)
	w.hear(p, "a", "r-one", func(ctx context.Context) { store.NoteWritten(ctx) }, nil)
	w.write("b", "n", "two")
	w.hear(p, "a", "r-two", func(ctx context.Context) { store.NoteWritten(ctx) }, nil)
	w.fold(p)
	got := w.records(p, "a")
	if len(got) != 3 || got[2].RequestDump != "" || len(got[2].Subjects) != 1 || got[1].RequestDump == "" || len(got[1].Subjects) != 0 || got[1].ReqID != "r-one" {
		t.Errorf("%+v", got)
	}
	if got := w.records(p, "b"); len(got) != 1 || got[0].RequestDump != "" {
		t.Errorf("%+v", got)
	}
	w.fold(p)
	if again := w.records(p, "a"); len(again) != 3 {
		t.Errorf("told twice: %+v", again)
	}
}

// Dumps that cannot be recorded are recorded later; without the setting there are none.
func TestDumpsAreToldLater(t *testing.T) {
	w := newWorld(t)
	p := w.process(audit.Settings{Detailed: true})
	w.hear(p, "a", "r-one", w.put("a", "n", "one"), nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Fold(ended); err == nil {
		t.Fatal("a fold that had no time went well")
	}
	w.fold(p)
	if got := w.records(p, "a"); len(got) != 1 || got[0].ResponseDump == "" {
		t.Errorf("%+v", got)
	}
	plain := w.process(audit.Settings{})
	w.hear(plain, "a", "r-two", w.put("a", "n", "two"), nil)
	w.fold(plain)
	if got := w.records(p, "a"); len(got) != 2 || got[0].ResponseDump != "" {
		t.Errorf("%+v", got)
	}
}

// With too many dumps, the records are kept without them.
func TestRoomForDumps(t *testing.T) {
	w := newWorld(t)
	p := w.process(audit.Settings{Detailed: true})
	long := strings.Repeat("word ", 4000)
	for i := range 1200 {
		w.hearAnswer(p, "a", strconv.Itoa(i), `{"text":"`+long+`"}`, func(ctx context.Context) { store.NoteWritten(ctx) }, nil)
	}
	w.fold(p)
	dumps, records := 0, w.records(p, "a")
	for _, r := range records {
		dumps += len(r.RequestDump) + len(r.ResponseDump)
	}
	if dumps > 16<<20 || dumps < 8<<20 {
		t.Error(len(records), dumps)
	}
}

// Responses of portals have data about people, which can be erased: records have their
// lengths only, whether or not the call made a commit.
func TestDumpsOfPortals(t *testing.T) {
	w := newWorld(t)
	p := w.process(audit.Settings{Detailed: true})
	const answer = `{"member":"Augusta"}`
	w.hearOn(operation.Portal, p, "a", "r-one", answer, w.put("a", "n", "one"), nil)
	w.hearOn(operation.Portal, p, "a", "refused", answer, nil, fault.New(fault.Denied, "no", "no"))
	w.fold(p)
	got := w.records(p, "a")
	if len(got) != 2 {
		t.Fatal(got)
	}
	for _, r := range got {
		if strings.Contains(r.ResponseDump, "Augusta") || !strings.HasSuffix(r.ResponseDump, "(20 bytes)") {
			t.Errorf("%q", r.ResponseDump)
		}
	}
}
