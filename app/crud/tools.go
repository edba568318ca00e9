package crud

import (
	"log/slog"
	"time"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Tools is what the use cases of resources are made of.
type Tools struct {
	Store    store.Store
	NewID    system.NewID
	Now      system.Clock
	Log      *slog.Logger
	PageSize int
	// References knows who names whom; nil: only what the store indexes.
	References *References
	// Signals is what changes announce.
	Signals signal.Table
	// Kinds are those whose records a purge of an organisation removes.
	Kinds []string
}

// Stamp returns what one write in an organisation stamps its records with.
func (t Tools) Stamp(s tenant.Scope) Stamp {
	now := t.Now()
	return Stamp{ID: t.NewID(), Org: s.Org(), Now: func() time.Time { return now }}
}
