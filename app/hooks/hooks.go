// Package hooks holds the use cases of webhooks: what gateways call when
// something happens to an API (contract dashboard.md 18).
package hooks

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Kind keeps webhooks.
var Kind = &store.Kind[webhook.Hook]{
	Name: webhook.Kind, Noun: "webhook", Load: webhook.Load, Shared: true,
	ID:  func(h webhook.Hook) string { return h.ID },
	Org: func(h webhook.Hook) tenant.ID { return h.OrgID },
	Indexes: []store.Index[webhook.Hook]{
		store.Unique("webhook_id", "webhook_id", func(h webhook.Hook) string { return store.Indexed(h.WebhookID) }),
	},
}

// Service keeps webhooks. Gateways get what they say as part of the APIs that
// refer to them, so that a change announces those.
type Service struct {
	Store    store.Store
	NewID    system.NewID
	Log      *slog.Logger
	PageSize int
	// Refresh brings copies of a webhook up to date that others embed, inside the
	// unit of work that changes it; nil: there are none.
	Refresh func(ctx context.Context, w store.Writer, id string, hook json.RawMessage) error
	// Signals is what changes of those who name a webhook announce.
	Signals signal.Table
	// References knows who names a webhook; nil: only what the store indexes.
	References *crud.References
}

// Examples for the API description.
var (
	exampleDraft = map[string]any{"name": "Expired keys", "method": "POST", "target_path": "https://hooks.example.com/expired",
		"header_map": map[string]string{"x-auth": "value"}}
	exampleHook = map[string]any{"id": "5f1a0c5d8e3b2a1f00000005", "org_id": "5f1a0c5d8e3b2a1f00000001", "webhook_id": "",
		"name": "Expired keys", "method": "POST", "target_path": "https://hooks.example.com/expired", "template_path": "",
		"header_map": map[string]string{"x-auth": "value"}, "event_timeout": 0, "api_model": map[string]any{}}
)

// Codes of faults that come from the store.
const (
	missing = webhook.Kind + ".not_found"
	taken   = webhook.Kind + ".taken"
	trouble = "internal"
)

func done(message string) any {
	return map[string]any{"Status": "OK", "Message": message, "Meta": nil}
}

// Operations lists what clients can do with webhooks.
func (s *Service) Operations() []operation.Operation {
	dry := operation.Rehearsable(s.References.Onlooker)
	return operation.Group{
		Surface: operation.Management, Name: "hooks", Path: "/api/hooks", Tag: "Webhooks", Permission: access.Hooks,
		Style: operation.Style{Word: "OK", ListKey: "hooks", Faults: map[string]operation.Answer{
			operation.CodeEmptyBody: {Status: 500, Text: "Failed to read response body, body empty."},
			operation.CodeMalformed: {Status: 403, Text: "Request body malformed."},
			webhook.CodeInvalid:     {Text: "Webhook object validation failed."},
			taken:                   {Text: "Duplicate webhook_id."},
		}},
	}.Rows(
		operation.GET("list", "", "List webhooks", s.List, operation.Example(nil, map[string]any{"hooks": []any{exampleHook}, "pages": 1}),
			operation.Answers(map[string]operation.Answer{
				operation.CodeParameter: {Text: "Could not retrieve webhooks."}, trouble: {Text: "Failed to marshal data for APIs."}})),
		operation.POST("create", "", "Create a webhook", s.Create, operation.Faulting(webhook.CodeInvalid, taken),
			operation.Example(exampleDraft, map[string]any{"Status": "OK", "Message": "Webhook created", "Meta": nil, "ID": "5f1a0c5d8e3b2a1f00000005"})),
		operation.GET("get", "/{hookId}", "Fetch a webhook", s.Get, operation.Faulting(missing), operation.Example(nil, exampleHook),
			operation.Answers(map[string]operation.Answer{
				missing: {Status: 400, Text: "Could not retrieve webhook detail."}, trouble: {Text: "Failed to marshal data for webhook detail."}})),
		operation.PUT("replace", "/{hookId}", "Replace a webhook", s.Replace, dry, operation.Faulting(webhook.CodeInvalid, missing, taken),
			operation.Notes("Absent members become empty. The change reaches every API that refers to the webhook."),
			operation.Example(exampleDraft, done("Hook updated")),
			operation.Answers(map[string]operation.Answer{missing: {Status: 400, Text: "Webhook not found."}})),
		operation.DELETE("delete", "/{hookId}", "Delete a webhook", s.Delete, dry, operation.Faulting(missing),
			operation.Notes("References to it dangle until the APIs that hold them are saved again."),
			operation.Example(nil, done("Webhook deleted")),
			operation.Answers(map[string]operation.Answer{missing: {Text: "Could not retrieve webhook detail."}})),
		operation.GET("references", "/{hookId}/references", "List the APIs that call a webhook", s.ListReferences, operation.Faulting(missing),
			operation.Example(nil, exampleReferences)),
	)
}

type listIn struct {
	Scope tenant.Scope
	operation.Paging
}

// List returns a page of the organisation's webhooks, oldest first.
func (s *Service) List(ctx context.Context, in listIn) (out operation.Page[webhook.Hook], err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		out, err = operation.List(ctx, Kind, r, in.Paging, s.PageSize)
		return err
	})
	return out, err
}

type createIn struct {
	Scope tenant.Scope
	Draft webhook.Draft `body:""`
}

// Create makes a webhook. Meta is null, as clients know it; ID is ours.
func (s *Service) Create(ctx context.Context, in createIn) (operation.Receipt, error) {
	h, err := webhook.New(s.NewID(), in.Scope.Org(), in.Draft)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := store.Write(ctx, s.Store, in.Scope, func(w store.Writer) (store.Serial, error) { return Kind.Create(ctx, w, h) })
	return operation.Receipt{Message: "Webhook created", ID: h.ID, Tag: operation.Tag(at)}, err
}

type byID struct {
	Scope tenant.Scope
	Who   operation.Principal
	ID    string `path:"hookId" doc:"Identifier of the webhook."`
}

type writeByID struct {
	byID
	Match operation.Match
}

// Get returns one webhook.
func (s *Service) Get(ctx context.Context, in byID) (operation.Entity[webhook.Hook], error) {
	var h store.Stored[webhook.Hook]
	err := s.Store.View(ctx, in.Scope, func(r store.Reader) (err error) {
		h, err = Kind.Get(ctx, r, in.ID)
		return err
	})
	return operation.Entity[webhook.Hook]{Value: h.Value, Tag: operation.Tag(h.Serial)}, err
}

type replaceIn struct {
	writeByID
	Draft webhook.Draft `body:""`
}

// Replace replaces what the client may choose.
func (s *Service) Replace(ctx context.Context, in replaceIn) (operation.Receipt, error) {
	at, err := store.Write(ctx, s.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		h, err := Kind.Revise(ctx, w, in.ID, in.Match.Check, func(h webhook.Hook) (webhook.Hook, error) { return h.Replace(in.Draft) })
		if err != nil {
			return 0, err
		}
		if err := s.refresh(ctx, w, h.Value); err != nil {
			return 0, err
		}
		return h.Serial, notify.PostReferrers(ctx, w, s.Signals, integrity.Target{Kind: webhook.Kind, ID: h.Value.ID})
	})
	return operation.Receipt{Message: "Hook updated", Tag: operation.Tag(at)}, err
}

func (s *Service) refresh(ctx context.Context, w store.Writer, h webhook.Hook) error {
	if s.Refresh == nil {
		return nil
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return s.Refresh(ctx, w, h.ID, text)
}

// Delete removes a webhook, also one in use.
func (s *Service) Delete(ctx context.Context, in writeByID) (operation.Receipt, error) {
	users := 0
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) (err error) {
		if users, err = referrers(ctx, w, in.ID); err != nil {
			return err
		}
		if _, err := Kind.Delete(ctx, w, in.ID, in.Match.Check); err != nil {
			return err
		}
		return notify.PostReferrers(ctx, w, s.Signals, integrity.Target{Kind: webhook.Kind, ID: in.ID})
	})
	if err == nil && users > 0 {
		s.Log.Warn("a webhook was deleted that is in use: references to it dangle", "id", in.ID, "org_id", string(in.Scope.Org()), "references", users)
	}
	return operation.Receipt{Message: "Webhook deleted"}, err
}

// referrers counts the records that refer to a webhook.
func referrers(ctx context.Context, r store.Reader, id string) (n int, err error) {
	for _, err := range r.Referrers(ctx, integrity.Target{Kind: webhook.Kind, ID: id}) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}
