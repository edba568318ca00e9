// Package crud makes plain resources: the definition of a kind, the references between
// records, and the five operations of resources without rules beyond their own
// validity.
package crud

import (
	"context"
	"encoding/json"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Resource is the definition of a plain resource T that clients describe by a draft D.
// The form of responses is the Style of its group, and the dialect of its surface.
type Resource[T, D any] struct {
	Facts[T] // Sample may be nil: Draft makes one
	Group    operation.Group
	Words    Words
	// New makes a resource from a draft, or returns an error that names the invalid
	// field. Replace applies another draft to a resource.
	New     func(Stamp, D) (T, error)
	Replace func(T, D, system.Clock) (T, error)
	// Draft is an example of a request body for the API description. The examples of
	// responses are made from it.
	Draft any
	// Faults are the codes of the faults of New and Replace.
	Faults []string
	// Shown returns the form of a resource that a caller may read; nil: all of it. A
	// write without a message in Words responds with all of it.
	Shown func(v T, who operation.Principal) T
	// Unpaged lists have all resources on one page.
	Unpaged bool
	// Receipt returns Meta and ID of the receipt of a write; nil: Meta is the ID of a
	// new resource, and there is no ID.
	Receipt func(op store.Op, v T) (meta any, id string)
	Hooks[T, D]
	// Rows selects the operations and adjusts them; nil: all five.
	Rows func(Operations[T, D]) []operation.Row
}

// Words are the names of a resource in the API description, and the messages of
// receipts. A write without a message responds with the resource instead of a receipt.
type Words struct {
	One, Many                 string // "a webhook", "webhooks"
	Created, Updated, Deleted string
	Param                     string // placeholder in paths; "" means "id"
	ParamDoc                  string // description of Param; "" means "Identifier of the resource."
}

// Operations makes the operations of a resource. Each method takes further options,
// which override those that the operation has by itself.
type Operations[T, D any] struct {
	Resource[T, D]
	Tools
}

// With returns the operations of the resource. Hooks that it lacks do nothing.
func (r Resource[T, D]) With(t Tools) Operations[T, D] {
	nothing := func(context.Context, store.Writer, *Change[T, D]) error { return nil }
	if r.Prepare == nil {
		r.Prepare = func(context.Context, *Change[T, D]) error { return nil }
	}
	if r.Before == nil {
		r.Before = nothing
	}
	if r.After == nil {
		r.After = nothing
	}
	done := r.Done
	r.Done = func(ctx context.Context, c *Change[T, D]) {
		if done != nil && !store.Rehearsing(ctx) {
			done(ctx, c)
		}
	}
	return Operations[T, D]{r, t}
}

// Registration implements Registrar.
func (r Resource[T, D]) Registration() Registration {
	if r.Sample == nil {
		r.Sample = r.Sampled
	}
	if r.Permission == nil {
		r.Permission = func(T) access.Permission { return r.Group.Permission }
	}
	reg := r.Facts.Registration()
	reg.Operations = func(t Tools) []operation.Operation { return r.Group.Rows(r.With(t).Plain()...) }
	return reg
}

// Plain returns the operations that Rows selects, or else all five.
func (o Operations[T, D]) Plain() []operation.Row {
	if o.Rows != nil {
		return o.Rows(o)
	}
	return []operation.Row{o.List(), o.Insert(), o.Get(), o.Edit(), o.Delete()}
}

// Sampled makes a resource from the example draft.
func (r Resource[T, D]) Sampled(at Stamp) (v T, err error) {
	text, err := json.Marshal(r.Draft)
	if err != nil {
		return v, err
	}
	var d D
	if err := json.Unmarshal(text, &d); err != nil {
		return v, err
	}
	return r.New(at, d)
}

// exampleStamp is the stamp of examples in the API description.
var exampleStamp = Stamp{ID: "5f1a0c5d8e3b2a1f00000009", Org: "5f1a0c5d8e3b2a1f00000001", Now: func() time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
}}

// Example returns the resource in the examples. Kinds.Check refuses a draft that makes
// none.
func (r Resource[T, D]) Example() T {
	v, _ := r.Sampled(exampleStamp)
	return v
}

// receipt is the response to a write.
func (r Resource[T, D]) receipt(op store.Op, v T, at store.Serial) operation.Receipt {
	var out operation.Receipt
	switch op {
	case store.Created:
		out.Message, out.Meta, out.Tag = r.Words.Created, r.Kind.ID(v), operation.Tag(at)
	case store.Updated:
		out.Message, out.Tag = r.Words.Updated, operation.Tag(at)
	case store.Deleted:
		out.Message = r.Words.Deleted
	}
	if r.Receipt != nil {
		out.Meta, out.ID = r.Receipt(op, v)
	}
	return out
}

func (r Resource[T, D]) missing() string { return r.Kind.Name + ".not_found" }

// viewer returns the caller of one of the operations as a Viewer.
func (r Resource[T, D]) viewer(who operation.Principal) Viewer {
	return Viewer{Who: who, Door: r.Group.Permission, All: r.Group.Surface != operation.Management}
}

// address is the input of an operation on one resource.
type address struct {
	Scope tenant.Scope
	Who   operation.Principal
	ID    string `path:""`
}

// writing is the input of a write to one resource.
type writing struct {
	address
	Match operation.Match
}
