package crud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Facts is the definition of a kind of resource. Only Kind is required.
type Facts[T any] struct {
	Kind *store.Kind[T]
	// Name returns the name of a resource for people; nil: it has none.
	Name func(T) string
	// Uses yields the references that a resource holds besides those of Kind.Refs.
	Uses func(T) iter.Seq[Use]
	// Find finds the references that Uses yields, by an index; nil: all resources of
	// the kind are searched.
	Find Finder
	// Permission returns the permission that a user needs to read a resource; nil:
	// none. Users without it do not learn of the resource from references.
	Permission func(T) access.Permission
	// Sight decides who sees a resource; nil: every user of its organisation. For
	// others it does not exist.
	Sight Sight[T]
	// Announces says which signals gateways get on changes; the zero row: none.
	Announces signal.Row
	// Feed is how gateways load the resources; nil: they do not.
	Feed *gateway.Source
	// Events are the events of changes for external receivers; nil: none.
	Events *Events[T]
	// Sealed points to the text of a resource that secret.Keys has sealed; nil: there
	// is none. The text is sealed again when the encryption key changes.
	Sealed func(*T) *string
	// Past returns a resource in the form of a request body, so that an older version
	// can be restored; nil: clients cannot read its history.
	Past func(T) ([]byte, error)
	// Lasts says that a purge of the organisation keeps the records, because they
	// document the organisation.
	Lasts bool
	// Sample makes a valid resource. The store test suite stores it with every back
	// end.
	Sample func(Stamp) (T, error)
}

// Events makes events of the changes of a kind of resources.
type Events[T any] struct {
	Names []string // of all possible events
	// Of returns names and messages of the events of one change. before is nil when the
	// resource was created, after when it was deleted.
	Of func(before, after *T) []deliver.Event
}

// AsStored is a Facts.Past for resources whose stored form is a request body.
func AsStored[T any](v T) ([]byte, error) { return json.Marshal(v) }

// source returns the events without the type of the resource.
func (e *Events[T]) source(k *store.Kind[T]) *deliver.Source {
	if e == nil {
		return nil
	}
	decode := func(rec *store.Record) (*T, error) {
		if rec == nil {
			return nil, nil
		}
		v, err := k.Decode(*rec)
		return &v, err
	}
	return &deliver.Source{Names: e.Names, Of: func(before, after *store.Record) ([]deliver.Event, error) {
		b, err := decode(before)
		a, more := decode(after)
		if err := errors.Join(err, more); err != nil {
			return nil, err
		}
		return e.Of(b, a), nil
	}}
}

// Stamp is what a new resource gets from the service.
type Stamp struct {
	ID  string
	Org tenant.ID
	Now system.Clock // the time of the write; each call returns the same
}

// Registration is the definition of a kind of resource for the application, without its
// type. The application combines the registrations of all kinds.
type Registration struct {
	Kind      string
	Announces signal.Row
	Feed      *gateway.Source
	Events    *deliver.Source
	// Operations returns the operations on the resources; nil: a service of the package
	// returns them.
	Operations func(Tools) []operation.Operation
	// Untyped is the kind without its type. Sample makes values of it.
	Untyped *store.Kind[any]
	Sample  func(Stamp) (any, error)
	// Past returns a record of the kind in the form of a request body; nil: clients
	// cannot read its history.
	Past   func(store.Record) ([]byte, error)
	typed  store.AnyKind
	lasts  bool
	reseal func(context.Context, store.Store, secret.Keys) (int, error)
	find   Finder
	view   func(v Viewer) view
	holder func(rec store.Record) (holder, error)
	links  func(Stamp) []operation.Link
}

// Registrar returns a Registration: Facts, Resource, or a Registration itself.
type Registrar interface{ Registration() Registration }

// Registration implements Registrar.
func (r Registration) Registration() Registration { return r }

// Registration implements Registrar.
func (f Facts[T]) Registration() Registration {
	name, k := f.Name, f.Kind
	if name == nil {
		name = func(T) string { return "" }
	}
	r := Registration{
		Kind: k.Name, Announces: f.Announces, Feed: f.Feed, Events: f.Events.source(k), Untyped: k.Untyped(), typed: k, lasts: f.Lasts, find: f.Find,
		view: func(v Viewer) view { return viewOf(k, name, f.Permission, f.Sight.of(v)) },
		holder: func(rec store.Record) (holder, error) {
			v, err := k.Decode(rec)
			if err != nil {
				return holder{}, err
			}
			return holder{ids: k.Names(v), name: name(v), uses: f.uses(v, rec.Refs)}, nil
		},
	}
	if f.Sample != nil {
		r.Sample = func(s Stamp) (any, error) { return f.Sample(s) }
		r.links = f.links
	}
	if f.Past != nil {
		r.Past = func(rec store.Record) ([]byte, error) {
			v, err := k.Decode(rec)
			if err != nil {
				return nil, err
			}
			return f.Past(v)
		}
	}
	if f.Sealed != nil {
		r.reseal = resealing(k, f.Sealed)
	}
	if f.Uses != nil && f.Find == nil {
		r.find = searching(k, name, f.Uses)
	}
	return r
}

// uses returns all references of a resource, given those that the store indexes.
func (f Facts[T]) uses(v T, refs []integrity.Ref) (out []Use) {
	for _, ref := range refs {
		out = append(out, Use{Target: ref.Target, Where: ref.Field})
	}
	if f.Uses != nil {
		out = slices.AppendSeq(out, f.Uses(v))
	}
	return out
}

// Kinds is the registrations of all kinds, in the order in which responses list their
// records.
type Kinds []Registration

// Check returns an error about kinds without a name, kinds with equal names, whose
// records would mix in the store, and kinds whose sample is invalid.
func (ks Kinds) Check() error {
	var problems []string
	for i, r := range ks {
		other := ks[:i].named(r.Kind)
		switch {
		case r.Kind == "":
			problems = append(problems, "a kind has no name; name it")
		case other != nil && other.typed == r.typed:
			problems = append(problems, fmt.Sprintf("the kind %q is registered twice; remove one registration", r.Kind))
		case other != nil:
			problems = append(problems, fmt.Sprintf("the kind %q has the name of another kind; give it another name", r.Kind))
		case r.Sample != nil:
			if _, err := r.Sample(exampleStamp); err != nil {
				problems = append(problems, fmt.Sprintf("the example of the kind %q is refused: %v; correct its Draft or Sample", r.Kind, err))
			}
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("kinds: %s", strings.Join(problems, "; "))
	}
	return nil
}

func (ks Kinds) named(kind string) *Registration {
	for i := range ks {
		if ks[i].Kind == kind {
			return &ks[i]
		}
	}
	return nil
}

// Purged returns the names of the kinds whose records are purged with their
// organisation.
func (ks Kinds) Purged() (names []string) {
	for _, r := range ks {
		if !r.lasts {
			names = append(names, r.Kind)
		}
	}
	return names
}

// Untyped returns all kinds, for those who do not know their types.
func (ks Kinds) Untyped() (out []*store.Kind[any]) {
	for _, r := range ks {
		if r.Untyped != nil {
			out = append(out, r.Untyped)
		}
	}
	return out
}

// Signals returns what changes of all kinds announce.
func (ks Kinds) Signals() signal.Table {
	t := signal.Table{}
	for _, r := range ks {
		if r.Announces != (signal.Row{}) {
			t[r.Kind] = r.Announces
		}
	}
	return t
}

// Feeds returns the feeds that gateways load.
func (ks Kinds) Feeds() (out []gateway.Source) {
	for _, r := range ks {
		if r.Feed != nil {
			out = append(out, *r.Feed)
		}
	}
	return out
}

// Events returns the events of changes for external receivers, by kind.
func (ks Kinds) Events() map[string]deliver.Source {
	out := map[string]deliver.Source{}
	for _, r := range ks {
		if r.Events != nil {
			out[r.Kind] = *r.Events
		}
	}
	return out
}

// Operations returns the operations of all registrations.
func (ks Kinds) Operations(t Tools) (out []operation.Operation) {
	for _, r := range ks {
		if r.Operations != nil {
			out = append(out, r.Operations(t)...)
		}
	}
	return out
}

// Samples returns samples of every kind that has some.
func (ks Kinds) Samples() (out []store.Sample) {
	for _, r := range ks {
		if r.Sample != nil {
			out = append(out, store.Sample{Kind: r.Untyped, Make: func(id string, org tenant.ID) (any, error) {
				return r.Sample(Stamp{ID: id, Org: org, Now: exampleStamp.Now})
			}})
		}
	}
	return out
}

// Readable reports why a record of one of the kinds cannot be read, or nil.
func (ks Kinds) Readable(rec store.Record) error {
	r := ks.named(rec.Kind)
	if r == nil {
		return nil
	}
	_, err := r.holder(rec)
	return err
}
