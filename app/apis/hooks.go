package apis

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/registry/apidef"
	"github.com/gatehouse-io/gatehouse/core/registry/webhook"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// RefreshHook brings the copies of a webhook up to date that wrappers embed,
// inside the unit of work that changes it (contract dashboard.md 18).
func (l *Library) RefreshHook(ctx context.Context, w store.Writer, id string, hook json.RawMessage) error {
	var users []string
	for rec, err := range w.Referrers(ctx, integrity.Target{Kind: webhook.Kind, ID: id}) {
		if err != nil {
			return err
		}
		if rec.Kind != apidef.Kind {
			continue
		}
		a, err := l.kind.Decode(rec)
		if err != nil {
			return err
		}
		if _, embeds := a.WithHook(id, hook, a.Updated()); embeds {
			users = append(users, a.APIID())
		}
	}
	now := l.Now()
	for _, api := range users {
		if _, err := l.kind.Edit(ctx, w, api, nil, func(a apidef.API) (apidef.API, error) {
			a, _ = a.WithHook(id, hook, now)
			return a, nil
		}); err != nil {
			return err
		}
	}
	return nil
}
