// Package crud makes plain resources: what there is to know about a kind, who names
// whom, and the five operations of those without rules beyond their own validity.
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

// Resource is a plain resource T that clients describe by a draft D: all that there is
// to it, stated. How answers look is the Style of its group, and the dialect of its
// surface.
type Resource[T, D any] struct {
	Facts[T] // Sample may be nil: Draft makes one
	Group    operation.Group
	Words    Words
	// New makes a resource of a draft, or says which field is wrong; Replace puts
	// other choices into it.
	New     func(Stamp, D) (T, error)
	Replace func(T, D, system.Clock) (T, error)
	// Draft is a request body for the API description. The examples of answers are
	// made of it.
	Draft any
	// Faults are the codes of the faults of New and Replace.
	Faults []string
	// Shown returns what a caller who reads a resource is shown of it; nil: all of it. Who
	// writes one without a message in Words is answered with all of it.
	Shown func(v T, who operation.Principal) T
	// Unpaged lists have all resources on one page.
	Unpaged bool
	// Receipt returns Meta and ID of the receipt of a write; nil: Meta is the ID of a
	// new resource, and there is no ID.
	Receipt func(op store.Op, v T) (meta any, id string)
	Hooks[T, D]
	// Rows picks the operations and adjusts them; nil: all five.
	Rows func(Operations[T, D]) []operation.Row
}

// Words are what a resource is called in the API description, and what receipts say. A
// write without a message answers with the resource in place of a receipt.
type Words struct {
	One, Many                 string // "a webhook", "webhooks"
	Created, Updated, Deleted string
	Param                     string // placeholder in paths; "" means "id"
	ParamDoc                  string // what it is; "" means "Identifier of the resource."
}

// Operations makes rows of a resource. Each takes further options, which win over what
// the row has by itself.
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

// Plain returns what Rows picks, or else the five operations of a plain resource.
func (o Operations[T, D]) Plain() []operation.Row {
	if o.Rows != nil {
		return o.Rows(o)
	}
	return []operation.Row{o.List(), o.Insert(), o.Get(), o.Edit(), o.Delete()}
}

// Sampled makes a resource of the example draft.
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

// exampleStamp is what the examples of the API description are made with.
var exampleStamp = Stamp{ID: "5f1a0c5d8e3b2a1f00000009", Org: "5f1a0c5d8e3b2a1f00000001", Now: func() time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
}}

// Example is the resource in the examples. Kinds.Check refuses a draft that makes none.
func (r Resource[T, D]) Example() T {
	v, _ := r.Sampled(exampleStamp)
	return v
}

// receipt is the answer to a write.
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

// viewer is the caller of one of the operations.
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
