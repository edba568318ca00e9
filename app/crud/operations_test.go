package crud_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// prefix is a filter of lists.
type prefix struct {
	Prefix string `query:"prefix" doc:"Only titles that begin with it."`
}

// desk has the operations of a resource whose notes are each seen by one reader, whose
// writes return the note, and whose hooks record their calls.
type desk struct {
	testing.TB
	ops  map[string]operation.Operation
	seen []string
	deny string // the hook that returns an error
}

func newDesk(t testing.TB) *desk {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{TB: t, ops: map[string]operation.Operation{}}
	see := func(hook string, c *crud.Change[note, noteDraft]) error {
		d.seen = append(d.seen, fmt.Sprintf("%s %s %q>%q", hook, c.Op, c.Old.Title, c.New.Title))
		if hook == d.deny {
			return errors.New("refused by " + hook)
		}
		return nil
	}
	r := notes
	r.Words.Created, r.Words.Updated, r.Words.Param = "", "", "noteID"
	r.Group.Style.Bare = true
	r.Sight = func(v crud.Viewer) crud.Seeing[note] {
		return func(_ context.Context, _ store.Reader, n note) (bool, error) {
			return strings.HasSuffix(n.Title, " for "+v.Who.ID), nil
		}
	}
	r.Prepare = func(_ context.Context, c *crud.Change[note, noteDraft]) error { return see("prepare", c) }
	r.Before = func(_ context.Context, _ store.Writer, c *crud.Change[note, noteDraft]) error {
		return see("before", c)
	}
	r.After = func(_ context.Context, _ store.Writer, c *crud.Change[note, noteDraft]) error { return see("after", c) }
	r.Done = func(_ context.Context, c *crud.Change[note, noteDraft]) { _ = see("done", c) }
	r.Rows = func(o crud.Operations[note, noteDraft]) []operation.Row {
		return []operation.Row{crud.ListBy(o, func(f prefix) (crud.Selection[note], error) {
			return crud.Selection[note]{Keep: func(n note) bool { return strings.HasPrefix(n.Title, f.Prefix) }}, nil
		}), o.Insert(), o.Get(), o.Edit(operation.Summary("Write a note anew")), o.Delete(), o.Referrers("Who names a note", []store.Reference{})}
	}
	n := 0
	ops := r.Registration().Operations(crud.Tools{Store: db, Now: time.Now, Log: slog.Default(), PageSize: 2, NewID: func() string { n++; return fmt.Sprint(n) }})
	if err := operation.Check(ops); err != nil {
		t.Fatal(err)
	}
	for _, o := range ops {
		d.ops[strings.TrimPrefix(o.ID, "notes.")] = o
	}
	return d
}

// ask calls one operation as a reader and returns the encoded response.
func (d *desk) ask(op, who, id, body string, query ...string) string {
	d.Helper()
	scope, err := tenant.Of("o")
	if err != nil {
		d.Fatal(err)
	}
	return d.askIn(scope, op, who, id, body, query...)
}

// askIn is ask with the scope of the caller.
func (d *desk) askIn(scope tenant.Scope, op, who, id, body string, query ...string) string {
	d.Helper()
	o := d.ops[op]
	c := &operation.Call{Spec: &o.Spec, Scope: scope, Principal: operation.Principal{ID: who}, Path: map[string]string{"noteID": id}, Body: []byte(body), Query: map[string][]string{}}
	for i := 0; i < len(query); i += 2 {
		c.Query.Set(query[i], query[i+1])
	}
	out, err := o.Do(d.Context(), c)
	if err != nil {
		return fault.KindOf(err).String() + ": " + err.Error()
	}
	text, err := httpadapter.Text(&o, out)
	if err != nil {
		d.Fatal(err)
	}
	return string(text)
}

// TestOperations states what a resource can configure about its operations: who sees
// which records, filters, responses that are the resource, names of parameters, and
// hooks.
func TestOperations(t *testing.T) {
	d := newDesk(t)
	const absent = "not_found: note not found: store: not found"
	for _, c := range []struct{ op, who, id, body, want string }{
		{"create", "ada", "", `{"title":"a for ada"}`, `{"id":"1","org_id":"o","title":"a for ada"}`},
		{"create", "bob", "", `{"title":"b for bob"}`, `{"id":"2","org_id":"o","title":"b for bob"}`},
		{"create", "bob", "", `{"title":"c for ada"}`, `{"id":"3","org_id":"o","title":"c for ada"}`},
		{"list", "ada", "", "", `[{"id":"1","org_id":"o","title":"a for ada"},{"id":"3","org_id":"o","title":"c for ada"}]`},
		{"list", "eve", "", "", `[]`},
		{"get", "ada", "1", "", `{"id":"1","org_id":"o","title":"a for ada"}`},
		{"get", "bob", "1", "", absent},
		{"get", "bob", "9", "", absent},
		{"references", "bob", "1", "", absent},
		{"references", "ada", "1", "", `[]`},
		{"replace", "bob", "1", `{"title":"mine for bob"}`, absent},
		{"replace", "ada", "1", `{"title":"z for ada"}`, `{"id":"1","org_id":"o","title":"z for ada"}`},
		{"delete", "bob", "1", "", absent},
		{"get", "ada", "1", "", `{"id":"1","org_id":"o","title":"z for ada"}`},
		{"delete", "ada", "1", "", `{"Status":"OK","Message":"Note deleted","Meta":null}`},
		{"delete", "ada", "1", "", absent},
	} {
		if have := d.ask(c.op, c.who, c.id, c.body); have != c.want {
			t.Errorf("%s of %q as %s: %s, want %s", c.op, c.id, c.who, have, c.want)
		}
	}
	if have := d.ask("list", "ada", "", "", "prefix", "c"); have != `[{"id":"3","org_id":"o","title":"c for ada"}]` {
		t.Error(have)
	}
	if have := d.ask("list", "ada", "", "", "prefix", "b"); have != `[]` {
		t.Error(have)
	}
	if o := d.ops["replace"]; o.Summary != "Write a note anew" || o.Path != "/api/notes/{noteID}" || !slices.ContainsFunc(o.Params, func(p operation.Param) bool { return p.Name == "noteID" && p.In == "path" }) {
		t.Errorf("%+v", o.Spec)
	}
}

// TestOperationsAboveOrganisations: a caller whose scope spans organisations changes
// and deletes a resource in the organisation of the resource.
func TestOperationsAboveOrganisations(t *testing.T) {
	d := newDesk(t)
	d.ask("create", "ada", "", `{"title":"a for ada"}`)
	all := tenant.Everyone("test")
	for _, c := range []struct{ op, id, body, want string }{
		{"replace", "1", `{"title":"b for ada"}`, `{"id":"1","org_id":"o","title":"b for ada"}`},
		{"replace", "2", `{"title":"b for ada"}`, "not_found: note not found: store: not found"},
		{"delete", "2", "", "not_found: note not found: store: not found"},
		{"delete", "1", "", `{"Status":"OK","Message":"Note deleted","Meta":null}`},
	} {
		if have := d.askIn(all, c.op, "ada", c.id, c.body); have != c.want {
			t.Errorf("%s of %q: %s, want %s", c.op, c.id, have, c.want)
		}
	}
}

// TestHooks states when hooks run, which data they get, and that each can refuse the
// write.
func TestHooks(t *testing.T) {
	d := newDesk(t)
	d.ask("create", "ada", "", `{"title":"a for ada"}`)
	d.ask("replace", "ada", "1", `{"title":"b for ada"}`)
	d.ask("replace", "ada", "1", `{"title":"c for ada"}`, "dry_run", "true")
	d.ask("delete", "ada", "1", "")
	want := []string{
		`prepare created "">""`, `before created "">""`, `after created "">"a for ada"`, `done created "">"a for ada"`,
		`prepare updated "">""`, `before updated "a for ada">""`, `after updated "a for ada">"b for ada"`, `done updated "a for ada">"b for ada"`,
		`prepare updated "">""`, `before updated "b for ada">""`, `after updated "b for ada">"c for ada"`,
		`prepare deleted "">""`, `before deleted "">""`, `after deleted "b for ada">""`, `done deleted "b for ada">""`,
	}
	if !slices.Equal(d.seen, want) {
		t.Errorf("hooks saw\n%s", strings.Join(d.seen, "\n"))
	}
	for _, hook := range []string{"prepare", "before", "after"} {
		d := newDesk(t)
		d.ask("create", "ada", "", `{"title":"a for ada"}`)
		d.deny, d.seen = hook, nil
		for op, body := range map[string]string{"create": `{"title":"b for ada"}`, "replace": `{"title":"b for ada"}`, "delete": ""} {
			if have := d.ask(op, "ada", "1", body); have != "internal: refused by "+hook {
				t.Errorf("%s: %s", op, have)
			}
		}
		if have := d.ask("list", "ada", "", ""); have != `[{"id":"1","org_id":"o","title":"a for ada"}]` {
			t.Errorf("%s refuses, and there is %s", hook, have)
		}
		if slices.ContainsFunc(d.seen, func(s string) bool { return strings.HasPrefix(s, "done") }) {
			t.Errorf("what is refused is done: %q", d.seen)
		}
	}
}
