package apis

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Embed copies the webhooks that an API refers to into its wrapper, in the form that
// clients read. It leaves out references to deleted webhooks (docs/wire/webhooks.md).
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

// Adopt creates the webhooks in the wrapper of an imported API that do not exist yet,
// because its references would dangle otherwise. It skips invalid webhooks, which Embed
// handles.
func (s *Repository) Adopt(ctx context.Context, w store.Writer, org tenant.ID, wrapper doc.Object) error {
	text, ok := wrapper.Get("hook_references")
	if !ok || s.AddHook == nil {
		return nil
	}
	var list []struct {
		Hook json.RawMessage `json:"hook"`
	}
	if json.Unmarshal(text, &list) != nil { // another check reports it
		return nil
	}
	for _, ref := range list {
		var named struct {
			ID string `json:"id"`
		}
		var d webhook.Draft
		if json.Unmarshal(ref.Hook, &named) != nil || !shape.IsObjectID(named.ID) || json.Unmarshal(ref.Hook, &d) != nil {
			continue
		}
		if _, err := s.Hook(ctx, w, named.ID); fault.KindOf(err) != fault.NotFound {
			continue
		}
		h, err := webhook.New(named.ID, org, d)
		if err != nil {
			continue
		}
		if err := s.AddHook(ctx, w, h); err != nil && fault.KindOf(err) != fault.Conflict { // Conflict: another organisation has the ID
			return err
		}
	}
	return nil
}

// maxCopies bounds the copies of one webhook in bytes: one unit of work makes them, and
// each may replace a mere ID.
const maxCopies = 64 << 20

// RefreshHook updates the copies of a webhook in the APIs that refer to it: those in
// wrappers, and those in event handlers of definitions and documents. It runs in the
// unit of work that changes the webhook.
func (s *Repository) RefreshHook(ctx context.Context, w store.Writer, h webhook.Hook) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	now := s.Now()
	var users []string
	copies := 0
	for rec, err := range w.Referrers(ctx, integrity.Target{Kind: webhook.Kind, ID: h.ID}) {
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
		for _, part := range [][]byte{a.Definition(), a.Document(), a.HookReferences()} {
			copies += bytes.Count(part, []byte(h.ID))
		}
		if copies*len(text) > maxCopies {
			return fault.New(fault.Invalid, "webhook.copies", "the APIs that call the webhook would hold more than %d MiB of it: make it smaller, or call it in fewer places", maxCopies>>20)
		}
		_, changed, err := refreshed(a, h, text, now)
		if err != nil {
			return err
		}
		if changed {
			users = append(users, a.APIID())
		}
	}
	for _, api := range users {
		if _, err := s.Kind.Edit(ctx, w, api, nil, func(a apidef.API) (apidef.API, error) {
			a, _, err := refreshed(a, h, text, now)
			return a, err
		}); err != nil && fault.KindOf(err) != fault.Conflict { // an API that could not be stored with today's rules stays as it is
			return err
		}
	}
	return nil
}

// refreshed returns an API with the current version of a webhook; text is its encoded
// form. It reports whether the API has changed.
func refreshed(a apidef.API, h webhook.Hook, text json.RawMessage, now time.Time) (apidef.API, bool, error) {
	a, changed := a.Embed(func(name string) (json.RawMessage, bool) {
		if name == h.ID {
			return text, false
		}
		return nil, false
	})
	if !bytes.Contains(a.Definition(), []byte(h.ID)) { // no handler has the webhook: large definitions are not parsed
		return a.Touched(now), changed, nil
	}
	definition, document, err := a.Texts()
	if err != nil {
		return a, false, err
	}
	if !oas.RefreshWebhook(definition, document, h) {
		return a.Touched(now), changed, nil
	}
	b, err := a.Rewrite(apidef.Draft{Definition: definition, Document: document}, now)
	if err != nil { // stored under older rules; gateways get the current webhook anyway
		return a.Touched(now), changed, nil
	}
	return b, true, nil
}
