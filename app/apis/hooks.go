package apis

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Embed puts the webhooks that an API refers to into its wrapper, whole, as clients
// read them. References to webhooks that are gone are left out (docs/wire/webhooks.md).
func (s *Repository) Embed(ctx context.Context, r store.Reader, a apidef.API) (apidef.API, error) {
	if s.Hook == nil {
		return a, nil
	}
	var failed error
	a, _ = a.Embed(func(id string) (json.RawMessage, bool) {
		if id == "" || failed != nil {
			return nil, false
		}
		text, err := s.Hook(ctx, r, id)
		switch {
		case fault.KindOf(err) == fault.NotFound:
			return nil, true
		case err != nil:
			failed = err
		}
		return text, false
	})
	return a, failed
}

// RefreshHook brings the copies of a webhook up to date that wrappers embed,
// inside the unit of work that changes it.
func (s *Repository) RefreshHook(ctx context.Context, w store.Writer, id string, hook json.RawMessage) error {
	only := func(name string) (json.RawMessage, bool) {
		if name == id {
			return hook, false
		}
		return nil, false
	}
	var users []string
	for rec, err := range w.Referrers(ctx, integrity.Target{Kind: webhook.Kind, ID: id}) {
		if err != nil {
			return err
		}
		if rec.Kind != apidef.Kind {
			continue
		}
		a, err := s.Kind.Decode(rec)
		if err != nil {
			return err
		}
		if _, changed := a.Embed(only); changed {
			users = append(users, a.APIID())
		}
	}
	now := s.Now()
	for _, api := range users {
		if _, err := s.Kind.Edit(ctx, w, api, nil, func(a apidef.API) (apidef.API, error) {
			a, _ = a.Embed(only)
			return a.Touched(now), nil
		}); err != nil {
			return err
		}
	}
	return nil
}
