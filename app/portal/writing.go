package portal

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// place is the input of an operation on the records below one, or on all.
type place struct {
	Scope tenant.Scope
	Who   operation.Principal
	Above string `path:"^"`
}

// address is the input of an operation on one record.
type address struct {
	place
	ID string `path:""`
}

type creation[T table.Row[T]] struct {
	place
	Body table.Body[T] `body:""`
}

type revision[T table.Row[T]] struct {
	address
	Body table.Body[T] `body:""`
}

// parent returns the number of the parent record in the path, or 0.
func (o Operations[T, L, S]) parent(ctx context.Context, r store.Reader, in place) (table.ID, error) {
	if o.Above == nil {
		return 0, nil
	}
	id, err := locate(ctx, r, o.Above.Kind, in.Above)
	if err == store.ErrNotFound { //nolint:errorlint // locate does not wrap it
		err = o.Kind.Absent()
	}
	return id, err
}

// Lookup returns the record in the path. A record below another parent is not found.
func (o Operations[T, L, S]) Lookup(ctx context.Context, r store.Reader, in address) (v T, err error) {
	above, err := o.parent(ctx, r, in.place)
	if err != nil {
		return v, err
	}
	if o.Find != nil {
		v, err = o.Find(ctx, r, in.ID)
	} else {
		v, err = Find(ctx, r, o.Kind, in.ID)
	}
	if err != nil {
		return v, err
	}
	if t := tableOf[T](); o.Above != nil && t.Parent(v) != above {
		return v, o.Kind.Absent()
	}
	return v, nil
}

// change begins a write.
func (o Operations[T, L, S]) change(op store.Op, in place, body *table.Body[T]) (*Change[T], crud.Stamp) {
	at := o.Stamp(in.Scope)
	c := &Change[T]{Op: op, Scope: in.Scope, Store: o.Store, Who: in.Who, At: at}
	if body != nil {
		c.Sent = body
	}
	return c, at
}

// write is the state of one write.
type write[T any] struct {
	*Change[T]
	// draft builds the change from the stored state; put stores it.
	draft func(context.Context, store.Reader) error
	put   func(context.Context, store.Writer) error
}

// carryOut executes a write: it validates and prepares the change, and stores it in one
// unit of work.
func (o Operations[T, L, S]) carryOut(ctx context.Context, c write[T]) (shown S, err error) {
	if o.Prepare == nil {
		return o.store(ctx, c)
	}
	prepared := func(ctx context.Context) error {
		err := o.admitted(ctx, c)
		if err == nil {
			err = o.Prepare(ctx, c.Change)
		}
		if err == nil {
			shown, err = o.store(ctx, c)
		}
		return err
	}
	if o.Turn == nil {
		err = prepared(ctx)
	} else if err = o.admitted(ctx, c); err == nil {
		err = o.Turn(ctx, c.Change, prepared)
	}
	return shown, err
}

// admitted returns the errors that can be known before the unit of work.
func (o Operations[T, L, S]) admitted(ctx context.Context, c write[T]) error {
	return o.Store.View(ctx, c.Scope, func(r store.Reader) error {
		err := c.draft(ctx, r)
		if err == nil && c.Op != store.Deleted {
			err = free(ctx, r, o.Kind, c.New)
		}
		if err != nil {
			return o.all(ctx, r, c.Change, err)
		}
		return o.checked(ctx, r, c.Change)
	})
}

// store runs the unit of work.
func (o Operations[T, L, S]) store(ctx context.Context, c write[T]) (shown S, err error) {
	_, err = o.Store.Update(ctx, c.Scope, func(w store.Writer) error {
		for _, step := range []func(context.Context, store.Writer) error{
			func(ctx context.Context, w store.Writer) error {
				if err := c.draft(ctx, w); err != nil {
					return o.all(ctx, w, c.Change, err)
				}
				return nil
			},
			func(ctx context.Context, w store.Writer) error { return o.checked(ctx, w, c.Change) },
			o.hook(o.Before, c.Change), c.put, o.hook(o.After, c.Change),
			func(ctx context.Context, w store.Writer) (err error) {
				if c.Op != store.Deleted {
					shown, err = o.Show(ctx, w, c.New)
				}
				return err
			},
		} {
			if err := step(ctx, w); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && o.Failed != nil {
		o.Failed(context.WithoutCancel(ctx), c.Change)
	}
	return shown, err
}

// all adds the other validation errors to a failed validation, so that clients see all of
// them at once (docs/wire/portal.md#errors).
func (o Operations[T, L, S]) all(ctx context.Context, r store.Reader, c *Change[T], err error) error {
	if fault.CodeOf(err) != table.CodeInvalid && fault.KindOf(err) != fault.Conflict {
		return err
	}
	texts := fault.Messages(err)
	also := []string{}
	if taken := free(ctx, r, o.Kind, c.New); fault.KindOf(taken) == fault.Conflict {
		also = fault.Messages(taken)
	}
	if o.Validate != nil {
		more, err := o.Validate(ctx, r, c)
		if err != nil {
			return err
		}
		also = append(also, more...)
	}
	also = slices.DeleteFunc(also, func(text string) bool { return slices.Contains(texts, text) })
	if len(also) == 0 {
		return err
	}
	return fault.Several(fault.Invalid, table.CodeInvalid, append(texts, also...)).Because(err)
}

func (o Operations[T, L, S]) checked(ctx context.Context, r store.Reader, c *Change[T]) error {
	if o.Validate != nil && c.Op != store.Deleted {
		wrong, err := o.Validate(ctx, r, c)
		if err := cmp.Or(err, wrong.Err()); err != nil {
			return err
		}
	}
	if o.Check == nil {
		return nil
	}
	return o.Check(ctx, r, c)
}

func (o Operations[T, L, S]) hook(fn func(context.Context, store.Writer, *Change[T]) error, c *Change[T]) func(context.Context, store.Writer) error {
	return func(ctx context.Context, w store.Writer) error {
		if fn == nil {
			return nil
		}
		return fn(ctx, w, c)
	}
}

// Insert creates a record from a body.
func (o Operations[T, L, S]) Insert(ctx context.Context, in creation[T]) (S, error) {
	c, at := o.change(store.Created, in.place, &in.Body)
	fresh := c.New
	return o.carryOut(ctx, write[T]{c, func(ctx context.Context, r store.Reader) (err error) {
		if c.Parent, err = o.parent(ctx, r, in.place); err != nil {
			return err
		}
		c.New = fresh
		if o.Begin != nil {
			o.Begin(&c.New, c.Parent)
		}
		if err = in.Body.Apply(&c.New, true, Resolver(ctx, r)); err != nil {
			return err
		}
		if base := tableOf[T]().Base(&c.New); o.Prepare != nil && base.CID == "" {
			base.CID = drawCID(tableOf[T](), at, 0) // Prepare needs the CID, which identifies the prepared objects
		}
		return nil
	}, func(ctx context.Context, w store.Writer) (err error) {
		c.New, err = Add(ctx, w, o.Kind, at, c.New)
		return err
	}})
}

// CreateRow creates a record.
func (o Operations[T, L, S]) CreateRow(opts ...operation.Option) operation.Row {
	return operation.POST("create", "", "Create "+o.One, o.Insert, o.options(opts, operation.Status(201),
		operation.Faulting(table.CodeInvalid), operation.Example(o.request(), example(o.Sample, o.Show)))...)
}

// CreateRowAs creates a record and answers with a reduced representation.
func CreateRowAs[V any, T table.Row[T], L, S any](o Operations[T, L, S], less func(S) V, opts ...operation.Option) operation.Row {
	return operation.POST("create", "", "Create "+o.One, func(ctx context.Context, in creation[T]) (out V, err error) {
		shown, err := o.Insert(ctx, in)
		if err == nil {
			out = less(shown)
		}
		return out, err
	}, o.options(opts, operation.Status(201), operation.Faulting(table.CodeInvalid), operation.Example(o.request(), less(example(o.Sample, o.Show))))...)
}

// Revise changes a record from a body.
func (o Operations[T, L, S]) Revise(ctx context.Context, in revision[T]) (S, error) {
	c, at := o.change(store.Updated, in.place, &in.Body)
	return o.carryOut(ctx, write[T]{c, func(ctx context.Context, r store.Reader) (err error) {
		if c.Old, err = o.Lookup(ctx, r, in.address); err != nil {
			return err
		}
		if t := tableOf[T](); t.Parent != nil {
			c.Parent = t.Parent(c.Old)
		}
		if o.Load != nil {
			if err := o.Load(ctx, r, &c.Old); err != nil {
				return err
			}
		}
		body, err := in.Body.Fresh(func() (any, error) { return o.Show(ctx, r, c.Old) })
		if err != nil {
			return err
		}
		c.New = c.Old
		return body.Apply(&c.New, false, Resolver(ctx, r))
	}, func(ctx context.Context, w store.Writer) (err error) {
		c.New, err = Edit(ctx, w, o.Kind, tableOf[T]().Base(&c.Old).ID, at, func(T) (T, error) { return c.New, nil })
		return err
	}})
}

// UpdateRow changes a record: members that the body does not name stay.
func (o Operations[T, L, S]) UpdateRow(opts ...operation.Option) operation.Row {
	return operation.PUT("update", o.path(), "Change "+o.One, o.Revise, o.options(opts, Unprocessable(),
		operation.Faulting(table.CodeInvalid), operation.Example(o.request(), example(o.Sample, o.Show)))...)
}

// UpdateRowAs changes a record and answers with a reduced representation.
func UpdateRowAs[V any, T table.Row[T], L, S any](o Operations[T, L, S], less func(S) V, opts ...operation.Option) operation.Row {
	return operation.PUT("update", o.path(), "Change "+o.One, func(ctx context.Context, in revision[T]) (out V, err error) {
		shown, err := o.Revise(ctx, in)
		if err == nil {
			out = less(shown)
		}
		return out, err
	}, o.options(opts, Unprocessable(), operation.Faulting(table.CodeInvalid), operation.Example(o.request(), less(example(o.Sample, o.Show))))...)
}

// Delete removes a record.
func (o Operations[T, L, S]) Delete(ctx context.Context, in address) (Status, error) {
	return o.delete(ctx, in, false)
}

func (o Operations[T, L, S]) delete(ctx context.Context, in address, force bool) (Status, error) {
	c, at := o.change(store.Deleted, in.place, nil)
	c.Force = force
	_, err := o.carryOut(ctx, write[T]{c, func(ctx context.Context, r store.Reader) (err error) {
		c.Old, err = o.Lookup(ctx, r, in)
		return err
	}, func(ctx context.Context, w store.Writer) error {
		return Remove(ctx, w, o.Kind, tableOf[T]().Base(&c.Old).ID, at)
	}})
	return Status{"ok"}, err
}

// DeleteRow removes a record.
func (o Operations[T, L, S]) DeleteRow(opts ...operation.Option) operation.Row {
	return operation.DELETE("delete", o.path(), "Delete "+o.One, o.Delete, o.options(opts, operation.Example(nil, Status{"ok"}))...)
}

// forced is the input of a deletion that continues even if other services fail, or use the
// record.
type forced struct {
	address
	Force string `query:"force" doc:"true: the record is deleted even if other records use it, or a dashboard or identity provider refuses to end what belongs to it."`
}

// ForcedDeleteRow deletes a record that other services know: force=true deletes it whatever
// they answer.
func (o Operations[T, L, S]) ForcedDeleteRow(opts ...operation.Option) operation.Row {
	return operation.DELETE("delete", o.path(), "Delete "+o.One, func(ctx context.Context, in forced) (Status, error) {
		force, _ := strconv.ParseBool(in.Force)
		return o.delete(ctx, in.address, force)
	}, o.options(opts, operation.Example(nil, Status{"ok"}))...)
}

// request returns the body of the examples: the fields of the sample.
func (o Operations[T, L, S]) request() map[string]any {
	v, body := o.Sample, map[string]any{}
	for _, f := range tableOf[T]().Fields {
		at := f.At(&v)
		if text, ok := at.(*table.Object); ok && *text != "" {
			at = json.RawMessage(*text)
		}
		body[f.Name] = at
	}
	return body
}
