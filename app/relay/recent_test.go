package relay_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/relay"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// onlooker reads the list of announcements.
type onlooker struct {
	*testing.T
	db  *memdb.DB
	now time.Time
	of  *relay.Recent
}

func newOnlooker(t *testing.T) *onlooker {
	t.Helper()
	o := &onlooker{T: t, now: time.Unix(1_800_000_000, 0)}
	db, err := memdb.New(func() time.Time { return o.now })
	if err != nil {
		t.Fatal(err)
	}
	o.db = db
	o.again()
	return o
}

// again starts from scratch, like another process.
func (o *onlooker) again() {
	o.of = relay.NewRecent(o.db, signal.Table{"policy": signal.Always(signal.PolicyChanged, "id")}, true)
}

func (o *onlooker) scope(org string) tenant.Scope {
	o.Helper()
	s, err := tenant.Of(tenant.ID(org))
	if err != nil {
		o.Fatal(err)
	}
	return s
}

// write stores a policy.
func (o *onlooker) write(org, id string) {
	o.Helper()
	o.update(o.scope(org), func(ctx context.Context, w store.Writer) error {
		return w.Put(ctx, store.Record{Org: tenant.ID(org), Kind: "policy", ID: id, Doc: []byte(`{}`)})
	})
}

func (o *onlooker) update(s tenant.Scope, fn func(context.Context, store.Writer) error) {
	o.Helper()
	o.now = o.now.Add(time.Second)
	ctx := store.Attribute(o.Context(), store.Attribution{User: "ada@example.com", Operation: "policies.create", Request: "r"})
	if _, err := o.db.Update(ctx, s, func(w store.Writer) error { return fn(ctx, w) }); err != nil {
		o.Fatal(err)
	}
}

// list returns the announcements of an organisation in a short form.
func (o *onlooker) list(org string) (out []string) {
	o.Helper()
	all, err := o.ask(o.Context(), o.scope(org))
	if err != nil {
		o.Fatal(err)
	}
	for _, a := range all.Announcements {
		if a.User != "ada@example.com" || a.Operation != "policies.create" || a.Request != "r" || a.Date.IsZero() {
			o.Errorf("%+v", a)
		}
		out = append(out, strings.TrimSpace(fmt.Sprint(a.Command, " ", a.Kind, " ", a.Subject)))
	}
	return out
}

func (o *onlooker) ask(ctx context.Context, s tenant.Scope) (relay.AnnouncedList, error) {
	op := o.of.Operations()[0]
	v, err := op.Do(ctx, &operation.Call{Spec: &op.Spec, Scope: s})
	if err != nil {
		return relay.AnnouncedList{}, err
	}
	return v.(relay.AnnouncedList), nil
}

// TestRecent: each organisation gets its own announcements, the newest first, in
// whichever order the organisations call, and no organisation gets payloads that name
// keys.
func TestRecent(t *testing.T) {
	o := newOnlooker(t)
	if got := o.list("acme"); got != nil {
		t.Error(got)
	}
	o.write("acme", "a")
	o.write("other", "theirs")
	o.write("acme", "b")
	o.update(o.scope("acme"), func(ctx context.Context, w store.Writer) error {
		return errors.Join(
			notify.Post(ctx, w, signal.Signal{Command: signal.KeySpaceUpdateNotification, Payload: "hash"}, signal.Signal{Command: signal.DeleteAPICache, Payload: "orders"}),
			notify.PostSealed(ctx, w, func(string) (string, error) { return "sealed", nil }, "ada", signal.KeyReset("old", "new")))
	})
	o.update(tenant.Everyone("test"), func(ctx context.Context, w store.Writer) error {
		return errors.Join(notify.Post(ctx, w, signal.Signal{Command: signal.GroupReload}),
			w.Put(ctx, store.Record{Org: "acme", Kind: "policy", ID: "c", Doc: []byte(`{}`)}), w.Put(ctx, store.Record{Org: "other", Kind: "policy", ID: "d", Doc: []byte(`{}`)}))
	})
	want := map[string][]string{
		"acme":  {"PolicyChanged policy c", "UserKeyReset", "DeleteAPICache  orders", "KeySpaceUpdateNotification", "PolicyChanged policy b", "PolicyChanged policy a"},
		"other": {"PolicyChanged policy d", "PolicyChanged policy theirs"},
		"third": nil,
	}
	for range 2 {
		for org, told := range want {
			if got := o.list(org); !slices.Equal(got, told) {
				t.Errorf("%s: %q, want %q", org, got, told)
			}
		}
		o.again() // another process returns the same
	}
}

// TestRecentBounds: many announcements of one organisation do not drop those of another
// one. The first read covers only the end of the log. A log that has been pruned is
// read from its beginning.
func TestRecentBounds(t *testing.T) {
	o := newOnlooker(t)
	o.write("quiet", "q")
	if got := o.list("quiet"); len(got) != 1 {
		t.Fatal(got)
	}
	for i := range 490 {
		o.write("loud", fmt.Sprint("p", i))
	}
	if got := o.list("loud"); len(got) != 50 || got[0] != "PolicyChanged policy p489" {
		t.Errorf("%d, %q", len(got), got[:1])
	}
	if got := o.list("quiet"); len(got) != 1 {
		t.Error(got)
	}
	for i := range 20 {
		o.write("loud", fmt.Sprint("n", i))
	}
	o.again()
	if got := o.list("quiet"); len(got) != 0 {
		t.Errorf("a process looks back further than it may: %q", got)
	}
	o.now = o.now.Add(time.Hour)
	if _, err := o.db.Prune(t.Context(), store.Retention{Since: o.now}); err != nil {
		t.Fatal(err)
	}
	o.again()
	if got := o.list("loud"); len(got) == 0 || got[0] != "PolicyChanged policy n19" {
		t.Error(got)
	}
	for i := range 1200 {
		o.write(fmt.Sprint("org", i), "p")
		if i%400 == 0 {
			o.list("loud")
		}
	}
	if got := o.list("org1199"); len(got) != 1 {
		t.Error(got)
	}
	if got := o.list("loud"); len(got) != 0 {
		t.Errorf("organisations are remembered without end: %q", got)
	}
}

// TestRecentWithoutLog: without a change log the list is empty, and a caller who gives
// up gets no partial response.
func TestRecentWithoutLog(t *testing.T) {
	o := newOnlooker(t)
	o.write("acme", "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.ask(ctx, o.scope("acme")); err == nil {
		t.Error("no error")
	}
	o.of = relay.NewRecent(struct{ store.Store }{o.db}, nil, false)
	if all, err := o.ask(t.Context(), o.scope("acme")); err != nil || all.Announcing || all.Announcements == nil || len(all.Announcements) != 0 {
		t.Error(all, err)
	}
}
