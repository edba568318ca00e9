package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	core "github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// note is a resource whose changes are recorded.
type note struct {
	ID     string    `json:"id"`
	Org    tenant.ID `json:"org"`
	Text   string    `json:"text"`
	Secret string    `json:"secret"`
}

var notes = &store.Kind[note]{Name: "note", ID: func(n note) string { return n.ID }, Org: func(n note) tenant.ID { return n.Org }}

// world is a store and the trails of several processes over it.
type world struct {
	*testing.T
	db   *memdb.DB
	keys *crypto.Keys
	now  time.Time
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	var err error
	if w.db, err = memdb.New(func() time.Time { return w.now }); err != nil {
		t.Fatal(err)
	}
	if w.keys, err = crypto.NewKeys("a secret"); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) process(s audit.Settings) *audit.Service {
	w.Helper()
	s.Signer = w.keys
	p, err := audit.New(s, crud.Tools{Store: w.db, Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler), PageSize: 10},
		func(id string) *operation.Spec {
			return &operation.Spec{Summary: "Summary of " + id, Redact: []string{"text2"}}
		})
	if err != nil {
		w.Fatal(err)
	}
	return p
}

// write creates or changes a note in one commit.
func (w *world) write(org tenant.ID, id, text string) {
	w.Helper()
	ctx := store.Attribute(w.Context(), store.Attribution{Actor: "u", Operation: "notes.put", Request: "r-" + text, Method: "PUT", URL: "/notes/" + id, Status: 200})
	scope, err := tenant.Of(org)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := w.db.Update(ctx, scope, func(tx store.Writer) error {
		n := note{ID: id, Org: org, Text: text, Secret: "planted-" + text}
		_, err := notes.Edit(ctx, tx, id, nil, func(note) (note, error) { return n, nil })
		if fault.KindOf(err) == fault.NotFound {
			return notes.Insert(ctx, tx, n)
		}
		return err
	}); err != nil {
		w.Fatal(err)
	}
}

func (w *world) fold(p *audit.Service) {
	w.Helper()
	if err := p.Fold(w.Context()); err != nil {
		w.Fatal(err)
	}
}

func (w *world) verify(p *audit.Service, anchors ...core.Checkpoint) *core.Verifier {
	w.Helper()
	v, err := p.Verify(w.Context(), anchors...)
	if err != nil {
		w.Fatal(err)
	}
	return v
}

func (w *world) export(p *audit.Service) string {
	w.Helper()
	var b bytes.Buffer
	if err := p.Export(w.Context(), &b, nil); err != nil {
		w.Fatal(err)
	}
	return b.String()
}

// TestEveryCommitIsToldOnce has two processes record the commits of many writers at
// once.
func TestEveryCommitIsToldOnce(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(audit.Settings{}), w.process(audit.Settings{})
	var writers, folders sync.WaitGroup
	done := make(chan struct{})
	for _, p := range []*audit.Service{a, b} {
		folders.Go(func() {
			for {
				if err := p.Fold(t.Context()); err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range 4 {
		writers.Go(func() {
			for j := range 100 {
				w.write(tenant.ID(fmt.Sprint("org", i%2)), fmt.Sprint("n", i), fmt.Sprintf("%d-%d", i, j))
			}
		})
	}
	writers.Wait()
	close(done)
	folders.Wait()
	w.fold(a)
	if v := w.verify(b); len(v.Findings) > 0 || v.Records != 400 {
		t.Error(v.Records, v.Findings)
	}
	text := w.export(a)
	for i := range 4 {
		for j := range 100 {
			if n := strings.Count(text, fmt.Sprintf(`"req_id":"r-%d-%d"`, i, j)); n != 1 {
				t.Errorf("write %d-%d is told %d times", i, j, n)
			}
		}
	}
	if strings.Contains(text, "planted") {
		t.Error("a secret is in the trail")
	}
	if !strings.Contains(text, `"path":"/text","from":"0-0","to":"0-1"`) || !strings.Contains(text, `"path":"/secret","from":"***","to":"***"`) {
		t.Error("differences are missing")
	}
}

// TestTheStoreIsTampered changes stored records of the trail without the service.
func TestTheStoreIsTampered(t *testing.T) {
	forge := func(id string, fn func(core.Segment) core.Segment) func(context.Context, store.Writer) error {
		kind := store.Kind[core.Segment]{Name: "audit_segment", ID: func(s core.Segment) string { return s.ID }, Org: func(s core.Segment) tenant.ID { return s.OrgID }}
		return func(ctx context.Context, tx store.Writer) error {
			_, err := kind.Edit(ctx, tx, id, nil, func(s core.Segment) (core.Segment, error) { return fn(s), nil })
			return err
		}
	}
	second := core.SegmentID("a", 129)
	for name, c := range map[string]struct {
		do   func(context.Context, store.Writer) error
		want string
	}{
		"a record changes": {forge(second, func(s core.Segment) core.Segment {
			s.Text = strings.Replace(s.Text, `"actor":"u"`, `"actor":"v"`, 1)
			return s
		}), "record 129: the record was changed: its hash is another one"},
		"a record goes": {forge(second, func(s core.Segment) core.Segment {
			s.Text = s.Text[strings.IndexByte(s.Text, '\n')+1:]
			return s
		}), "record 129: records are missing"},
		"a packed segment is another one": {forge(core.SegmentID("a", 1), func(s core.Segment) core.Segment {
			s.Packed = s.Packed[:len(s.Packed)/2]
			return s
		}), "a line is no record"},
		"a segment goes": {func(ctx context.Context, tx store.Writer) error {
			return tx.Delete(ctx, "audit_segment", core.SegmentID("a", 1))
		}, "record 1: records are missing"},
		"the last segment goes": {func(ctx context.Context, tx store.Writer) error { return tx.Delete(ctx, "audit_segment", second) },
			"record 129: the trail was cut: it ends with 128, a checkpoint kept elsewhere names 140"},
		"a segment is another organisation's": {forge(second, func(s core.Segment) core.Segment { s.ID = "x"; return s }), ""},
	} {
		w := newWorld(t)
		p := w.process(audit.Settings{})
		for i := range 140 {
			if i == 128 {
				w.fold(p) // so that the second segment is open
			}
			w.write("a", "n", fmt.Sprint(i))
		}
		w.fold(p)
		scope, _ := tenant.Of("a")
		_, err := w.db.Update(t.Context(), scope, func(tx store.Writer) error { return c.do(t.Context(), tx) })
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: the store let it", name)
			}
			continue
		}
		if err != nil {
			t.Fatal(name, err)
		}
		if v := w.verify(p); !strings.Contains(fmt.Sprint(v.Findings), c.want) {
			t.Errorf("%s: %v", name, v.Findings)
		}
	}
}

// TestOldRecordsAreForgotten prunes by age and by size; the remaining trail still
// verifies.
func TestOldRecordsAreForgotten(t *testing.T) {
	for name, s := range map[string]audit.Settings{"age": {MaxAge: time.Hour}, "size": {MaxBytes: 20_000}} {
		w := newWorld(t)
		p := w.process(s)
		for i := range 1000 {
			w.now = w.now.Add(10 * time.Second)
			w.write("a", "n", fmt.Sprint(i))
		}
		w.write("b", "n", "x")
		w.fold(p)
		before := w.verify(p).Records
		if err := p.Prune(t.Context()); err != nil {
			t.Fatal(name, err)
		}
		v := w.verify(p)
		if len(v.Findings) > 0 || v.Records >= before || v.Records < 50 {
			t.Errorf("%s: %d records of %d are left: %v", name, v.Records, before, v.Findings)
		}
		w.write("a", "n", "after")
		w.fold(p)
		if again := w.verify(p); len(again.Findings) > 0 || again.Records != v.Records+1 {
			t.Errorf("%s: %d records: %v", name, again.Records, again.Findings)
		}
	}
}

// TestTrailOutlivesALeap: a clock that is years ahead for a while makes no record too
// old.
func TestTrailOutlivesALeap(t *testing.T) {
	var clock apptest.Leaping
	w := newWorld(t)
	w.now = clock.Now()
	p := w.process(audit.Settings{MaxAge: 9600 * time.Hour})
	for i := range 1000 {
		w.write("a", "n", fmt.Sprint(i))
	}
	w.fold(p)
	before := w.verify(p).Records
	for _, ahead := range []time.Duration{90000 * time.Hour, 90000 * time.Hour, 0} {
		clock.Set(ahead)
		w.now = clock.Now()
		if err := p.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v := w.verify(p); v.Records != before || len(v.Findings) > 0 {
			t.Fatalf("with a clock that is %v ahead %d records of %d are left: %v", ahead, v.Records, before, v.Findings)
		}
	}
}

// TestRetentionAfterALeap: records that are dated years ahead are deleted together with
// the records that follow them.
func TestRetentionAfterALeap(t *testing.T) {
	w := newWorld(t)
	p := w.process(audit.Settings{MaxAge: time.Hour})
	real := w.now
	for part, ahead := range []time.Duration{0, 90000 * time.Hour, 0, 2 * time.Hour} {
		w.now = real.Add(ahead)
		for i := range 300 {
			w.write("a", "n", fmt.Sprint(part, i))
		}
		w.fold(p)
	}
	if err := p.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v := w.verify(p); len(v.Findings) > 0 || v.Records < 300 || v.Records >= 600 {
		t.Errorf("%d records are left, want those of the last two hours: %v", v.Records, v.Findings)
	}
}

// TestFloodOfRefusals records some equal refusals one by one and counts the others. It
// keeps at most some hundred different ones, and counts the rest.
func TestFloodOfRefusals(t *testing.T) {
	w := newWorld(t)
	p := w.process(audit.Settings{})
	spec := &operation.Spec{ID: "notes.put", Summary: "Put", Surface: operation.Management, Method: "PUT", Intent: "write"}
	for i := range 5000 {
		call := &operation.Call{Spec: spec, Remote: fmt.Sprintf("192.0.2.%d:%d", i%2, i), RawPath: "/api/notes"}
		if i >= 2000 {
			call.Remote = fmt.Sprintf("10.0.%d.%d:1", i/250, i%250)
		}
		p.Hear(t.Context(), call, fault.New(fault.Unauthenticated, "auth.credential", "no"))
	}
	w.fold(p)
	text := w.export(p)
	if n := strings.Count(text, `"count":981`); n != 2 || strings.Count(text, `"ip":"192.0.2.0"`) != 20 {
		t.Errorf("%d folded records\n%.600s", n, text)
	}
	if n := w.verify(p).Records; n != 501 || !strings.Contains(text, `"verdict":"audit.too_many","count":2540`) {
		t.Error(n)
	}
}

// TestWhatIsTold states which calls are recorded that made no commit.
func TestWhatIsTold(t *testing.T) {
	denied, invalid := fault.New(fault.Denied, "d", "d"), fault.New(fault.Invalid, "i", "i")
	for _, c := range []struct {
		intent, surface string
		err             error
		wrote           bool
		told            bool
	}{
		{"read", "management", nil, false, false}, {"read", "management", invalid, false, false}, {"read", "management", denied, false, true},
		{"write", "management", nil, false, true}, {"write", "management", nil, true, false}, {"write", "management", invalid, true, true},
		{"write", "node", nil, false, false}, {"write", "node", denied, false, true}, {"delete", "admin", errors.New("x"), false, true},
	} {
		w := newWorld(t)
		p := w.process(audit.Settings{})
		ctx := store.Request(t.Context())
		if c.wrote {
			store.NoteWritten(ctx)
		}
		p.Hear(ctx, &operation.Call{Spec: &operation.Spec{ID: "x", Intent: access.Intent(c.intent), Surface: operation.Surface(c.surface)}}, c.err)
		w.fold(p)
		if told := w.verify(p).Records == 1; told != c.told {
			t.Errorf("%+v: %v", c, told)
		}
	}
}

// TestUnknownPaths: a call of an unknown path is recorded if its method would change
// something, and otherwise only with Reads. Many equal ones are counted.
func TestUnknownPaths(t *testing.T) {
	for _, c := range []struct {
		intent access.Intent
		reads  bool
		want   int
	}{{access.Write, false, 20}, {access.Read, false, 0}, {access.Read, true, 20}} {
		w := newWorld(t)
		p := w.process(audit.Settings{Reads: c.reads})
		for range 5000 {
			p.Hear(t.Context(), &operation.Call{Spec: &operation.Spec{ID: "unrouted", Intent: c.intent, Surface: operation.Management, Unrouted: true}},
				fault.New(fault.NotFound, operation.CodeNoRoute, "Not Found"))
		}
		w.fold(p)
		if got := w.verify(p).Records; got != c.want || c.want > 0 && !strings.Contains(w.export(p), `"count":4981`) {
			t.Errorf("%+v: %d records", c, got)
		}
	}
}

// historic counts how often older versions of a document are read.
type historic struct {
	*memdb.DB
	reads *int
}

func (h historic) History(ctx context.Context, s tenant.Scope, kind, id string) iter.Seq2[store.Commit, error] {
	*h.reads++
	return h.DB.History(ctx, s, kind, id)
}

// TestLargeDocumentsAreNotReadBack: no older version is read, now or later, of
// documents that are too large to compare. Of the same documents while they were small
// the differences are recorded.
func TestLargeDocumentsAreNotReadBack(t *testing.T) {
	w := newWorld(t)
	reads := 0
	p, err := audit.New(audit.Settings{Signer: w.keys}, crud.Tools{Store: historic{w.db, &reads}, Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler), PageSize: 10},
		func(id string) *operation.Spec { return &operation.Spec{Summary: "Summary of " + id} })
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 3<<20)
	for _, text := range []string{"first", "second", large, "a" + large, large, strings.ReplaceAll(large, "x", "y")} {
		w.write("org", "n", text)
	}
	w.fold(p)
	told := w.export(p)
	if n := strings.Count(told, `"more":1`); n != 4 || !strings.Contains(told, `"first"`) || len(told) > 20_000 {
		t.Errorf("%d changes are too large to tell: %.3000s", n, told)
	}
	if reads > 1 { // for the one change that was small
		t.Errorf("the past was read %d times", reads)
	}
}

// TestPrunedLog: the trail has a record that says which commits were pruned before they
// were recorded.
func TestPrunedLog(t *testing.T) {
	w := newWorld(t)
	p := w.process(audit.Settings{})
	w.write("a", "n", "1")
	w.fold(p)
	for i := range 5 {
		w.now = w.now.Add(time.Hour)
		w.write("a", "n", fmt.Sprint("later", i))
	}
	if _, err := w.db.Prune(t.Context(), store.Retention{Since: w.now}); err != nil {
		t.Fatal(err)
	}
	w.fold(p)
	if text := w.export(p); !strings.Contains(text, `"url":"revisions 2 to 6"`) || !strings.Contains(text, "r-later4") {
		t.Error(text)
	}
	if v := w.verify(p); len(v.Findings) > 0 || v.Records != 3 {
		t.Error(v.Records, v.Findings)
	}
}

// TestBegins: the start of a trail is noted before the first calls, so that their
// changes are recorded although the process dies before the first fold.
func TestBegins(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.now = w.now.Add(time.Hour)
		w.write("a", "n", fmt.Sprint("before", i))
	}
	if _, err := w.db.Prune(t.Context(), store.Retention{Since: w.now}); err != nil {
		t.Fatal(err)
	}
	if err := w.process(audit.Settings{}).Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.write("a", "n", "acknowledged")
	p := w.process(audit.Settings{}) // the first process was killed
	if err := p.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.fold(p)
	if text := w.export(p); !strings.Contains(text, "r-acknowledged") || strings.Contains(text, "r-before") || strings.Contains(text, "audit.gap") {
		t.Error(text)
	}
}

// TestStorePutBack: a process goes on recording after its store was restored from a
// backup.
func TestStorePutBack(t *testing.T) {
	w := newWorld(t)
	p := w.process(audit.Settings{})
	w.write("a", "n", "1")
	w.fold(p)
	var old store.State
	if err := w.db.Snapshot(t.Context(), func(s store.State) error {
		var all []store.Record
		for rec := range s.Records {
			all = append(all, rec)
		}
		old = s
		old.Records = func(yield func(store.Record, error) bool) {
			for _, rec := range all {
				if !yield(rec, nil) {
					return
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		w.write("a", "n", fmt.Sprint("undone", i))
		w.fold(p)
	}
	if err := w.db.Load(old); err != nil {
		t.Fatal(err)
	}
	w.write("a", "n", "again")
	w.fold(p)
	if text := w.export(p); !strings.Contains(text, "r-again") || strings.Contains(text, "r-undone") {
		t.Error(text)
	}
}

// TestOff: a service that is off keeps no records, and its operations say that it is
// off.
func TestOff(t *testing.T) {
	w := newWorld(t)
	p, err := audit.New(audit.Settings{}, crud.Tools{Store: w.db}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Verify(t.Context()); err == nil || p.Fold(t.Context()) != nil || p.Run(t.Context()) != nil {
		t.Error("a trail is kept")
	}
	if _, err := audit.New(audit.Settings{Signer: w.keys}, crud.Tools{}, nil); err == nil {
		t.Error("a trail without a store")
	}
}

func TestCells(t *testing.T) {
	for v, want := range map[string]string{`"a"`: "a", `"=1+1"`: "'=1+1", `"@x"`: "'@x", `"-1"`: "'-1", `"+1"`: "'+1", `"\u000b=1"`: "'\v=1", `"/a;=1"`: "/a;'=1", `7`: "7", `[{"a":1}]`: `[{"a":1}]`, ``: ""} {
		if got := audit.Cell(v); got != want {
			t.Errorf("%s: %q", v, got)
		}
	}
}

// TestListsAreBounded: a response that would be too large is refused with a text that
// says what to do.
func TestListsAreBounded(t *testing.T) {
	w := newWorld(t)
	p := w.process(audit.Settings{})
	for i := range 50 {
		w.write("a", "n", fmt.Sprint(i))
	}
	p.Answering(10_000)
	scope, _ := tenant.Of("a")
	ask := func(query string) (any, error) {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		o := p.Operations()[0]
		return o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Scope: scope, Query: q})
	}
	if _, err := ask("p=1"); err != nil {
		t.Error(err)
	}
	for _, query := range []string{"p=0", "download=true"} {
		if _, err := ask(query); fault.CodeOf(err) != audit.CodeTooMany || !strings.Contains(err.Error(), "from_date") {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// TestReads: with Reads each read is recorded, whatever its result, and reads take no
// room of other calls. Without Reads none is recorded.
func TestReads(t *testing.T) {
	w := newWorld(t)
	scope, err := tenant.Of("one")
	if err != nil {
		t.Fatal(err)
	}
	call := func(surface operation.Surface, intent access.Intent, url string) *operation.Call {
		return &operation.Call{Spec: &operation.Spec{ID: "notes.get", Summary: "Read a note", Method: "GET", Path: url, Surface: surface, Intent: intent}, Scope: scope,
			Principal: operation.Principal{ID: "u", OrgID: "one"}, Status: func(error) int { return 404 }}
	}
	missing := fault.New(fault.NotFound, "note.not_found", "no such note")
	for reads, want := range map[bool]int{false: 0, true: 4} {
		p := w.process(audit.Settings{Reads: reads})
		before := strings.Count(w.export(p), "notes.get")
		for range 2 {
			p.Hear(t.Context(), call(operation.Management, access.Read, "/notes/a"), nil)
			p.Hear(t.Context(), call(operation.Management, access.Read, "/notes/b"), missing)
			p.Hear(t.Context(), call(operation.Node, access.Read, "/system/apis"), nil)
			p.Hear(t.Context(), call(operation.Portal, access.Read, "/portal-api/users"), nil)
		}
		w.fold(p)
		if got := strings.Count(w.export(p), "notes.get") - before; got != want {
			t.Errorf("reads %v: %d records, want %d", reads, got, want)
		}
	}
	p := w.process(audit.Settings{Reads: true})
	for range 6000 {
		p.Hear(t.Context(), call(operation.Management, access.Read, "/notes/a"), nil)
	}
	p.Hear(t.Context(), call(operation.Management, access.Write, "/notes/refused"), fault.New(fault.Denied, "auth.permission", "no"))
	w.fold(p)
	if text := w.export(p); !strings.Contains(text, "auth.permission") || !strings.Contains(text, "audit.too_many") {
		t.Error("a flood of reads hides a refusal")
	}
}

// TestOrderOfTime: records of one fold are in the order of time, whether they come from
// commits or calls, also with more commits than fit into one unit of work.
func TestOrderOfTime(t *testing.T) {
	for _, commits := range []int{1, 2100} {
		w := newWorld(t)
		p := w.process(audit.Settings{Reads: true})
		scope, err := tenant.Of("one")
		if err != nil {
			t.Fatal(err)
		}
		tick := func() { w.now = w.now.Add(100 * time.Millisecond) }
		var want []string
		hear := func(name string, intent access.Intent, err error) {
			tick()
			want = append(want, name)
			p.Hear(t.Context(), &operation.Call{Spec: &operation.Spec{ID: "notes.call", Surface: operation.Management, Intent: intent}, Scope: scope, RequestID: name}, err)
		}
		write := func(name string) {
			tick()
			want = append(want, "r-"+name)
			w.write("one", "n", name)
		}
		hear("read before", access.Read, nil)
		for i := range commits {
			write(fmt.Sprint("early", i))
		}
		hear("read between", access.Read, nil)
		write("middle")
		hear("refused", access.Write, fault.New(fault.Denied, "auth.permission", "no"))
		write("late")
		hear("read after", access.Read, nil)
		w.fold(p)
		w.fold(p)
		var got []string
		for _, r := range w.records(p, "one") {
			got = append(got, r.ReqID)
		}
		slices.Reverse(got)
		if !slices.Equal(got, want) {
			t.Errorf("%d commits: %d records, %v … %v", commits, len(got), got[:min(4, len(got))], got[max(0, len(got)-7):])
		}
		if v := w.verify(p); len(v.Findings) > 0 || v.Records != len(want) {
			t.Error(v.Records, v.Findings)
		}
	}
}
