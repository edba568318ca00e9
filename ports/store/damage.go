package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// ErrDamaged means that stored data cannot be read: a record with a broken document, or the
// database itself.
var ErrDamaged = errors.New("store: damaged")

// Damage identifies a record that cannot be read, and says why.
type Damage struct {
	Org    tenant.ID
	Kind   string
	ID     string
	Reason string // contains no data of the record
}

// Inspector is a store that remembers which records it could not read.
type Inspector interface {
	// Damaged returns the damaged records that were found and still exist: the first thousand,
	// because there may be many.
	Damaged(ctx context.Context) ([]Damage, error)
}

// damaged returns the fault of a record that cannot be read.
func (k *Kind[T]) damaged(r Record, why error) error {
	return fault.New(fault.Internal, k.Name+".damaged", "%s '%s' is damaged and cannot be read: delete it, or restore a backup", noun(k.Noun, k.Name), r.ID).
		Because(fmt.Errorf("%w: %w", ErrDamaged, why))
}

// Raw returns the record with the given alias or ID without decoding its document, for callers
// that delete damaged records.
func (k *Kind[T]) Raw(ctx context.Context, r Reader, name string) (Record, error) {
	rec, err := k.find(ctx, r, name)
	return rec, k.explain(err, name)
}

// Key returns the value of one of the record's indexes, or "".
func (r Record) Key(index string) string {
	for _, k := range r.Keys {
		if k.Index == index {
			return k.Value
		}
	}
	return ""
}
