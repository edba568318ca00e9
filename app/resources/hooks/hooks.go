// Package hooks holds the use cases of webhooks, which gateways call on events of an
// API.
package hooks

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Kind is the kind of webhooks.
var Kind = &store.Kind[webhook.Hook]{
	Name: webhook.Kind, Noun: "webhook", Load: webhook.Load, Shared: true,
	ID:  func(h webhook.Hook) string { return h.ID },
	Org: func(h webhook.Hook) tenant.ID { return h.OrgID },
	Indexes: []store.Index[webhook.Hook]{
		store.Unique("webhook_id", "webhook_id", func(h webhook.Hook) string { return store.Indexed(h.WebhookID) }),
	},
}

// Service manages webhooks. Gateways get the content of a webhook as part of the APIs
// that refer to it, so a change of a webhook announces these APIs.
type Service struct {
	crud.Tools
	// Refresh updates the copies of a webhook that APIs hold, in the unit of work that
	// changes the webhook; nil: there are no copies.
	Refresh func(ctx context.Context, w store.Writer, h webhook.Hook) error
}

// Registration returns the registration of the kind of webhooks.
func Registration() crud.Registration {
	r := resource.Registration()
	r.Operations = nil // Service lists them together with its own operations
	return r
}

// Codes of faults that come from the store.
const (
	missing = webhook.Kind + ".not_found"
	taken   = webhook.Kind + ".taken"
	trouble = "internal"
	copies  = webhook.Kind + ".copies" // of the APIs that hold copies
)

// change is one write of a webhook.
type change = crud.Change[webhook.Hook, webhook.Draft]

// resource is the resource of webhooks. They have no references.
var resource = crud.Resource[webhook.Hook, webhook.Draft]{
	Facts: crud.Facts[webhook.Hook]{Kind: Kind, Name: func(h webhook.Hook) string { return h.Name }, Past: crud.AsStored[webhook.Hook]},
	Group: operation.Group{
		Surface: operation.Management, Name: "hooks", Path: "/api/hooks", Tag: "Webhooks", Permission: access.Hooks,
		Style: operation.Style{Word: "OK", ListKey: "hooks", Faults: map[string]operation.Answer{
			operation.CodeEmptyBody: {Status: 500, Text: "Failed to read response body, body empty."},
			operation.CodeMalformed: {Status: 403, Text: "Request body malformed."},
			webhook.CodeInvalid:     {Text: "Webhook object validation failed."},
			taken:                   {Text: "Duplicate webhook_id."},
		}},
	},
	Words: crud.Words{One: "a webhook", Many: "webhooks", Created: "Webhook created", Updated: "Hook updated", Deleted: "Webhook deleted",
		Param: "hookId", ParamDoc: "Identifier of the webhook."},
	New: func(at crud.Stamp, d webhook.Draft) (webhook.Hook, error) { return webhook.New(at.ID, at.Org, d) },
	Replace: func(h webhook.Hook, d webhook.Draft, _ system.Clock) (webhook.Hook, error) {
		return h.Replace(d)
	},
	Draft: map[string]any{"name": "Expired keys", "method": "POST", "target_path": "https://hooks.example.com/expired",
		"header_map": map[string]string{"x-auth": "value"}},
	Faults: []string{webhook.CodeInvalid},
	// Clients expect Meta to be null; ID is an addition of ours.
	Receipt: func(op store.Op, h webhook.Hook) (any, string) {
		if op == store.Created {
			return nil, h.ID
		}
		return nil, ""
	},
}

// Operations lists the operations on webhooks.
func (s *Service) Operations() []operation.Operation {
	r := resource
	r.After, r.Done = s.tell, s.warn
	o := r.With(s.Tools)
	return r.Group.Rows(
		o.List(operation.Answers(map[string]operation.Answer{
			operation.CodeParameter: {Text: "Could not retrieve webhooks."}, trouble: {Text: "Failed to marshal data for APIs."}})),
		o.Insert(),
		o.Get(operation.Answers(map[string]operation.Answer{
			missing: {Status: 400, Text: "Could not retrieve webhook detail."}, trouble: {Text: "Failed to marshal data for webhook detail."}})),
		o.Edit(operation.Notes("Absent members become empty. The change applies to every API that refers to the webhook."), operation.Faulting(webhook.CodeInvalid, missing, taken, copies),
			operation.Answers(map[string]operation.Answer{missing: {Status: 400, Text: "Webhook not found."}})),
		o.Delete(operation.Notes("APIs keep their references to the deleted webhook until they are saved again."),
			operation.Answers(map[string]operation.Answer{missing: {Text: "Could not retrieve webhook detail."}})),
		o.Referrers("List the APIs that call a webhook", []store.Reference{{Kind: "api", ID: "orders", Name: "Orders", Where: "hook_references"}}),
	)
}

// tell announces the APIs that refer to a changed webhook, and updates the copies of
// the webhook.
func (s *Service) tell(ctx context.Context, w store.Writer, c *change) error {
	if c.Op == store.Created {
		return nil
	}
	if c.Op == store.Updated && s.Refresh != nil {
		if err := s.Refresh(ctx, w, c.New); err != nil {
			return err
		}
	}
	to := integrity.Target{Kind: webhook.Kind, ID: c.ID}
	users := 0
	for _, err := range w.Referrers(ctx, to) {
		if err != nil {
			return err
		}
		users++
	}
	c.Memo = users
	return notify.PostReferrers(ctx, w, s.Signals, to)
}

// warn logs that a webhook in use was deleted, which is allowed.
func (s *Service) warn(_ context.Context, c *change) {
	if users, _ := c.Memo.(int); c.Op == store.Deleted && users > 0 {
		s.Log.Warn("a webhook was deleted that is in use: references to it dangle", "id", c.ID, "org_id", string(c.Scope.Org()), "references", users)
	}
}
