package store

import (
	"context"
	"iter"

	"github.com/gatehouse-io/gatehouse/core/integrity"
)

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
