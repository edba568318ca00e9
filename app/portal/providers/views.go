package providers

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Listed is a provider in lists, without secrets.
type Listed struct {
	ID           table.ID `json:"ID"`
	Name         string   `json:"Name"`
	Status       string   `json:"Status,omitempty"`
	Type         string   `json:"Type"`
	LastSyncedAt string   `json:"LastSyncedAt"`
	LastSynced   string   `json:"LastSynced"`
}

// Shown is the full representation of a provider for admins.
type Shown struct {
	Listed
	Configuration Configuration `json:"Configuration"`
	CreatedAt     string        `json:"CreatedAt"`
	UpdatedAt     string        `json:"UpdatedAt"`
}

// Configuration is the settings of a provider, as JSON text.
type Configuration struct {
	ID       table.ID `json:"ID"`
	MetaData string   `json:"MetaData"`
}

func (s *Service) list(ctx context.Context, r store.Reader, p provider.Provider) (Listed, error) {
	state, err := states.Get(ctx, r, p.ID.Key())
	if fault.KindOf(err) == fault.NotFound {
		state.Value.Status, err = provider.Unknown, nil
	}
	ago := provider.Ago(state.Value.SyncedAt, s.Now())
	return Listed{ID: p.ID, Name: p.Name, Status: state.Value.Status, Type: p.Type, LastSyncedAt: ago, LastSynced: ago}, err
}

func (s *Service) show(ctx context.Context, r store.Reader, p provider.Provider) (Shown, error) {
	listed, err := s.list(ctx, r, p)
	if err != nil {
		return Shown{}, err
	}
	p, err = s.opened(p)
	return Shown{listed, Configuration{p.ID, p.Settings.MetaData()}, table.Stamp(p.CreatedAt), table.Stamp(p.UpdatedAt)}, err
}
