package crud

import (
	"log/slog"
	"time"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Tools has the dependencies of the use cases of resources.
type Tools struct {
	Store    store.Store
	NewID    system.NewID
	Now      system.Clock
	Log      *slog.Logger
	PageSize int
	// References finds references between records; nil: only those that the store
	// indexes.
	References *References
	// Signals maps changes to the signals that they announce.
	Signals signal.Table
	// Kinds are the kinds whose records a purge of an organisation removes.
	Kinds []string
}

// Stamp returns the stamp of a new record in an organisation.
func (t Tools) Stamp(s tenant.Scope) Stamp {
	now := t.Now()
	return Stamp{ID: t.NewID(), Org: s.Org(), Now: func() time.Time { return now }}
}
