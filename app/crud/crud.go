// Package crud carries the use cases of resources that have no rules beyond
// their own validity: list, create, get, replace, delete.
package crud

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Resource is a plain resource T that clients describe with a draft D.
type Resource[T, D any] struct {
	Kind     *store.Kind[T]
	Store    store.Store
	NewID    system.NewID
	PageSize int
	New      func(id string, org tenant.ID, d D) (T, error)
	Replace  func(T, D) (T, error)
	// References says in a dry run which references would lead nowhere; nil: only
	// those that the store indexes.
	References *References
}

// ByID addresses one resource.
type ByID struct {
	Scope tenant.Scope
	ID    string `path:"id" doc:"Identifier of the resource."`
	Match operation.Match
}

// All addresses a page of the organisation's resources.
type All struct {
	Scope tenant.Scope
	operation.Paging
}

// Create carries a draft.
type Create[D any] struct {
	Scope tenant.Scope
	Draft D `body:""`
}

// Update carries a draft for one resource.
type Update[D any] struct {
	ByID
	Draft D `body:""`
}

// Words are what a family of plain resources says in its answers.
type Words struct {
	Noun                      string // in summaries: "webhook"
	Created, Updated, Deleted string // messages of receipts
}

// Rows are the five operations every plain resource has. draft and example are
// a request body and a resource for the API description.
func (r Resource[T, D]) Rows(w Words, draft, example any) []operation.Row {
	dry := operation.Rehearsable(r.References.Onlooker)
	missing, taken := r.Kind.Name+".not_found", r.Kind.Name+".taken"
	done := func(message string) any { return map[string]any{"Status": "OK", "Message": message, "Meta": nil} }
	return []operation.Row{
		operation.GET("list", "", "List "+w.Noun+"s", r.List, operation.Example(nil, []any{example})),
		operation.POST("create", "", "Create a "+w.Noun, r.create(w.Created), operation.Faulting(taken), operation.Example(draft, done(w.Created))),
		operation.GET("get", "/{id}", "Fetch a "+w.Noun, r.Get, operation.Faulting(missing), operation.Example(nil, example)),
		operation.PUT("replace", "/{id}", "Replace a "+w.Noun, r.replace(w.Updated), operation.Faulting(missing, taken), dry, operation.Example(draft, done(w.Updated))),
		operation.DELETE("delete", "/{id}", "Delete a "+w.Noun, r.delete(w.Deleted), operation.Faulting(missing), dry, operation.Example(nil, done(w.Deleted))),
	}
}

// List returns a page of resources.
func (r Resource[T, D]) List(ctx context.Context, in All) (out operation.Page[T], err error) {
	err = r.Store.View(ctx, in.Scope, func(rd store.Reader) error {
		out, err = operation.List(ctx, r.Kind, rd, in.Paging, r.PageSize)
		return err
	})
	return out, err
}

// Get returns one resource.
func (r Resource[T, D]) Get(ctx context.Context, in ByID) (operation.Entity[T], error) {
	var v store.Stored[T]
	err := r.Store.View(ctx, in.Scope, func(rd store.Reader) (err error) {
		v, err = r.Kind.Get(ctx, rd, in.ID)
		return err
	})
	return operation.Entity[T]{Value: v.Value, Tag: operation.Tag(v.Serial)}, err
}

func (r Resource[T, D]) create(message string) func(context.Context, Create[D]) (operation.Receipt, error) {
	return func(ctx context.Context, in Create[D]) (operation.Receipt, error) {
		v, err := r.New(r.NewID(), in.Scope.Org(), in.Draft)
		if err != nil {
			return operation.Receipt{}, err
		}
		at, err := store.Write(ctx, r.Store, in.Scope, func(w store.Writer) (store.Serial, error) { return r.Kind.Create(ctx, w, v) })
		return operation.Receipt{Message: message, Meta: r.Kind.ID(v), Tag: operation.Tag(at)}, err
	}
}

func (r Resource[T, D]) replace(message string) func(context.Context, Update[D]) (operation.Receipt, error) {
	return func(ctx context.Context, in Update[D]) (operation.Receipt, error) {
		at, err := store.Write(ctx, r.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
			v, err := r.Kind.Revise(ctx, w, in.ID, in.Match.Check, func(v T) (T, error) { return r.Replace(v, in.Draft) })
			return v.Serial, err
		})
		return operation.Receipt{Message: message, Tag: operation.Tag(at)}, err
	}
}

func (r Resource[T, D]) delete(message string) func(context.Context, ByID) (operation.Receipt, error) {
	return func(ctx context.Context, in ByID) (operation.Receipt, error) {
		_, err := r.Store.Update(ctx, in.Scope, func(w store.Writer) error {
			_, err := r.Kind.Delete(ctx, w, in.ID, in.Match.Check)
			return err
		})
		return operation.Receipt{Message: message}, err
	}
}
