package store

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Rehearsal collects what units of work would have done. It shows names of
// members, never their values.
type Rehearsal struct {
	Changes    []Step
	References []Reference // that would lead nowhere
	onlooker   Onlooker
}

// Step is what would become of one record.
type Step struct {
	Op      Op        `json:"op" doc:"created, updated or deleted."`
	Kind    string    `json:"kind"`
	ID      string    `json:"id"`
	Org     tenant.ID `json:"org_id"`
	Members []string  `json:"members,omitempty" doc:"Of an update: the top-level members of the stored document that change."`
}

type rehearsalKey struct{}

// Rehearse returns a context in which every Update runs, fails as it would fail,
// and stores nothing; what it would have stored is in the Rehearsal. Later units
// of work do not see what earlier ones rehearsed. Records that the onlooker sees
// neither before nor after are left out.
func Rehearse(ctx context.Context, o Onlooker) (context.Context, *Rehearsal) {
	r := &Rehearsal{Changes: []Step{}, References: []Reference{}, onlooker: o}
	return context.WithValue(ctx, rehearsalKey{}, r), r
}

// Rehearsing reports whether what is written in this context is not stored.
func Rehearsing(ctx context.Context) bool { return ctx.Value(rehearsalKey{}) != nil }

// errRehearsed makes a back end undo a unit of work that went well.
var errRehearsed = errors.New("store: a rehearsal is not stored")

// Updater is the Update of a Store.
type Updater func(ctx context.Context, s tenant.Scope, fn func(Writer) error) (Revision, error)

// Update carries a unit of work out with a back end's own update, or rehearses
// it if the context says so: every back end's Update is this one around its own.
// A rehearsed unit of work has no revision: 0.
func (update Updater) Update(ctx context.Context, s tenant.Scope, fn func(Writer) error) (Revision, error) {
	rehearsal, rehearsing := ctx.Value(rehearsalKey{}).(*Rehearsal)
	if !rehearsing {
		return update(ctx, s, fn)
	}
	var steps []Step
	var refs []Reference
	_, err := update(ctx, s, func(w Writer) error {
		rec := &recorder{Writer: w, onlooker: rehearsal.onlooker, at: map[recordName]int{}}
		if err := fn(rec); err != nil {
			return err
		}
		var err error
		if steps, refs, err = rec.outcome(ctx); err != nil {
			return err
		}
		return errRehearsed
	})
	if !errors.Is(err, errRehearsed) {
		return 0, err
	}
	rehearsal.Changes = append(rehearsal.Changes, steps...)
	rehearsal.References = append(rehearsal.References, refs...)
	return 0, nil
}

// recorder is a Writer that remembers what it wrote over.
type recorder struct {
	Writer
	onlooker Onlooker
	at       map[recordName]int // into writes
	writes   []write
}

type recordName struct {
	org      tenant.ID
	kind, id string
}

// write is a record before the first and after the last write; nil: there is none.
type write struct {
	recordName
	before, after *Record
	seen          bool // by the onlooker, as it was before
}

// Put implements Writer.
func (w *recorder) Put(ctx context.Context, r Record) error {
	var before *Record // of any organisation that the unit may touch
	for rec, err := range w.Scan(ctx, Query{Kind: r.Kind, ID: r.ID}) {
		if err != nil {
			return err
		}
		if rec.Org == r.Org {
			before = &rec
			break
		}
	}
	seen, err := w.onlooker.sees(ctx, w.Writer, before)
	if err != nil {
		return err
	}
	if err := w.Writer.Put(ctx, r); err != nil {
		return err
	}
	w.note(write{recordName{r.Org, r.Kind, r.ID}, before, &r, seen})
	return nil
}

// Delete implements Writer.
func (w *recorder) Delete(ctx context.Context, kind, id string) error {
	before, err := w.Get(ctx, kind, id)
	if err != nil {
		return err
	}
	seen, err := w.onlooker.sees(ctx, w.Writer, &before)
	if err != nil {
		return err
	}
	if err := w.Writer.Delete(ctx, kind, id); err != nil {
		return err
	}
	w.note(write{recordName{before.Org, kind, id}, &before, nil, seen})
	return nil
}

func (w *recorder) note(c write) {
	if i, again := w.at[c.recordName]; again {
		w.writes[i].after = c.after
		return
	}
	w.at[c.recordName] = len(w.writes)
	w.writes = append(w.writes, c)
}

// outcome sums up what was written, records that came and went left out.
func (w *recorder) outcome(ctx context.Context) (steps []Step, refs []Reference, err error) {
	for _, c := range w.writes {
		if !c.seen {
			if c.seen, err = w.onlooker.sees(ctx, w.Writer, c.after); err != nil {
				return nil, nil, err
			}
		}
		if !c.seen || c.before == nil && c.after == nil {
			continue
		}
		s := Step{Kind: c.kind, ID: c.id, Org: c.org, Op: Updated}
		switch {
		case c.before == nil:
			s.Op = Created
		case c.after == nil:
			s.Op = Deleted
		default:
			s.Members = differing(c.before.Doc, c.after.Doc)
		}
		steps = append(steps, s)
		if w.onlooker.Aftermath == nil {
			continue
		}
		for ref, err := range w.onlooker.Aftermath(ctx, w.Writer, c.before, c.after) {
			if err != nil {
				return nil, nil, err
			}
			refs = append(refs, ref)
		}
	}
	return steps, refs, nil
}

// differing returns the names of the members in which two documents differ, in
// order of the first and then of the second.
func differing(before, after []byte) []string {
	a, errA := doc.ParseObject(before)
	b, errB := doc.ParseObject(after)
	if errA != nil || errB != nil {
		return nil // documents that are no objects have no members
	}
	var names []string
	for name, old := range a.All() {
		if now, ok := b.Get(name); !ok || !bytes.Equal(old, now) {
			names = append(names, name)
		}
	}
	for name := range b.All() {
		if _, ok := a.Get(name); !ok {
			names = append(names, name)
		}
	}
	return names
}

// Reference says that one resource names another.
type Reference struct {
	Kind  string            `json:"kind" doc:"Kind of the resource that holds the reference."`
	ID    string            `json:"id" doc:"Its identifier."`
	Name  string            `json:"name" doc:"Its name, or nothing where it has none."`
	Where string            `json:"where" doc:"Where in it the reference stands."`
	To    *integrity.Target `json:"to,omitempty" doc:"What it names, where the question does not say."`
}

// Aftermath yields the references that lead nowhere once a record has changed:
// those of others to what it was, and its own. It looks from inside the unit of
// work. A nil before means that the record was created, a nil after that it was
// deleted.
type Aftermath func(ctx context.Context, r Reader, before, after *Record) iter.Seq2[Reference, error]

// Onlooker is whom a rehearsal is told to. The zero Onlooker may know of every
// record, and does not ask for references.
type Onlooker struct {
	// Aftermath finds references that would lead nowhere.
	Aftermath Aftermath
	// Sees reports whether the onlooker may know of a record as it is.
	Sees func(ctx context.Context, r Reader, rec Record) (bool, error)
}

func (o Onlooker) sees(ctx context.Context, r Reader, rec *Record) (bool, error) {
	if rec == nil || o.Sees == nil {
		return rec != nil, nil
	}
	return o.Sees(ctx, r, *rec)
}
