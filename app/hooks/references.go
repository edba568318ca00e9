package hooks

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Registration is what webhooks bring: they name nothing.
func Registration() crud.Registration {
	return crud.Facts[webhook.Hook]{
		Kind: Kind, Name: func(v webhook.Hook) string { return v.Name },
		Sample: func(at crud.Stamp) (webhook.Hook, error) {
			return webhook.New(at.ID, at.Org, webhook.Draft{Name: "Expired keys", Method: "POST", TargetPath: "https://hooks.example.com/expired"})
		},
	}.Registration()
}

// exampleReferences is for the API description.
var exampleReferences = []store.Reference{{Kind: "api", ID: "orders", Name: "Orders", Where: "hook_references"}}

// ListReferences returns the APIs that call a webhook.
func (s *Service) ListReferences(ctx context.Context, in byID) ([]store.Reference, error) {
	return s.References.Of(ctx, s.Store, in.Scope, crud.Viewer{Who: in.Who, Door: access.Hooks}, func(r store.Reader) (crud.Target, error) { return crud.TargetOf(ctx, Kind, r, in.ID) })
}
