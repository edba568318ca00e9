package crud

import (
	"log/slog"

	"github.com/gatehouse-io/gatehouse/core/signal"
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
