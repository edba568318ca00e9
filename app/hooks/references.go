package hooks

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Source is what is known about webhooks: they name nothing.
func Source() crud.Source {
	return crud.SourceOf(Kind, func(h webhook.Hook) string { return h.Name }, nil, nil)
}

// exampleReferences is for the API description.
var exampleReferences = []store.Reference{{Kind: "api", ID: "orders", Name: "Orders", Where: "hook_references"}}

// ListReferences returns the APIs that call a webhook.
func (s *Service) ListReferences(ctx context.Context, in byID) ([]store.Reference, error) {
	return s.References.Of(ctx, s.Store, in.Scope, crud.Viewer{Who: in.Who, Door: access.Hooks}, func(r store.Reader) (crud.Target, error) { return crud.TargetOf(ctx, Kind, r, in.ID) })
}
