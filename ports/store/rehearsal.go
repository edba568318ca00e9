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

// Rehearsal collects what units of work would have changed. It contains names of members,
// never their values.
type Rehearsal struct {
	Changes    []Step
	References []Reference // dangling after the change
	onlooker   Onlooker
}

// Step is the change of one record.
type Step struct {
	Op      Op        `json:"op" doc:"created, updated or deleted."`
	Kind    string    `json:"kind"`
	ID      string    `json:"id"`
	Org     tenant.ID `json:"org_id"`
	Members []string  `json:"members,omitempty" doc:"For an update: top-level members of the stored document that change."`
}

type rehearsalKey struct{}

// Rehearse returns a context in which every Update runs and may fail as usual, but stores
// nothing. The Rehearsal gets the changes. Later units of work do not see what earlier ones
// rehearsed. Records that the onlooker sees neither before nor after the change are left out.
func Rehearse(ctx context.Context, o Onlooker) (context.Context, *Rehearsal) {
	r := &Rehearsal{Changes: []Step{}, References: []Reference{}, onlooker: o}
	return context.WithValue(ctx, rehearsalKey{}, r), r
}

// Rehearsing reports whether writes in this context are not stored.
func Rehearsing(ctx context.Context) bool { return ctx.Value(rehearsalKey{}) != nil }

// errRehearsed makes a back end roll back a successful unit of work.
var errRehearsed = errors.New("store: a rehearsal is not stored")

// Updater is the Update method of a Store.
type Updater func(ctx context.Context, s tenant.Scope, fn func(Writer) error) (Revision, error)

// Update runs a unit of work with the back end's own update, or rehearses it if ctx comes from
// Rehearse. Every back end wraps its update in this one. A rehearsed unit of work has revision
// 0.
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

// recorder is a Writer that remembers the records that it overwrites.
type recorder struct {
	Writer
	onlooker Onlooker
	at       map[recordName]int // index in writes
	writes   []write
}

type recordName struct {
	org      tenant.ID
	kind, id string
}

// write is a record before the first and after the last write; nil: it does not exist.
type write struct {
	recordName
	before, after *Record
	seen          bool // the onlooker may see before
}

// Put implements Writer.
func (w *recorder) Put(ctx context.Context, r Record) error {
	var before *Record // of any organisation in the scope
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

// outcome lists the changes, without records that were both created and deleted.
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

// differing returns the names of the members in which two documents differ: first those of
// before, in order, then those that only after has.
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

// Reference says that one resource refers to another.
type Reference struct {
	Kind  string            `json:"kind" doc:"Kind of the resource that holds the reference."`
	ID    string            `json:"id" doc:"Identifier of that resource."`
	Name  string            `json:"name" doc:"Name of that resource, or empty if it has none."`
	Where string            `json:"where" doc:"Place of the reference in that resource."`
	To    *integrity.Target `json:"to,omitempty" doc:"Target of the reference, if the request does not determine it."`
}

// Aftermath yields the references that dangle after the change of a record: those of other
// records to its previous state, and its own. It reads within the unit of work. A nil before
// means that the record was created, a nil after that it was deleted.
type Aftermath func(ctx context.Context, r Reader, before, after *Record) iter.Seq2[Reference, error]

// Onlooker is the reader of a rehearsal. The zero Onlooker may see every record, and does not
// ask for references.
type Onlooker struct {
	// Aftermath finds references that would dangle.
	Aftermath Aftermath
	// Sees reports whether the onlooker may see this state of a record.
	Sees func(ctx context.Context, r Reader, rec Record) (bool, error)
}

func (o Onlooker) sees(ctx context.Context, r Reader, rec *Record) (bool, error) {
	if rec == nil || o.Sees == nil {
		return rec != nil, nil
	}
	return o.Sees(ctx, r, *rec)
}
