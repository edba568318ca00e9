package apidef

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/webhook"
)

// policyKind is the kind of the policies for tokens. It is repeated here because the package
// of policies imports this one.
const policyKind = "policy"

// Refs returns the references of the API: to webhooks for events, and to policies for tokens.
// All of them may dangle (docs/wire/policies.md#reads-and-writes,
// docs/wire/webhooks.md#event-handlers).
func (a API) Refs() []integrity.Ref {
	o, err := doc.LoadObject(a.definition)
	if err != nil {
		return nil
	}
	r := &refs{have: map[integrity.Target]bool{}}
	for event, list := range child(child(o, "event_handlers"), "events").All() {
		var handlers []struct {
			Name string `json:"handler_name"`
			Meta struct {
				ID string `json:"id"`
			} `json:"handler_meta"`
		}
		_ = json.Unmarshal(list, &handlers) // a value of another type refers to nothing
		for _, h := range handlers {
			if h.Name == webhook.HandlerName {
				r.add(webhook.Kind, h.Meta.ID, "api_definition.event_handlers.events."+event)
			}
		}
	}
	var wrapped []struct {
		Hook struct {
			ID string `json:"id"`
		} `json:"hook"`
	}
	_ = json.Unmarshal(a.HookReferences(), &wrapped) // as above
	for _, ref := range wrapped {
		r.add(webhook.Kind, ref.Hook.ID, "hook_references")
	}
	for _, id := range texts(o, "jwt_default_policies") {
		r.add(policyKind, id, "api_definition.jwt_default_policies")
	}
	r.scopes("api_definition.jwt_scope_to_policy_mapping", child(o, "jwt_scope_to_policy_mapping"))
	for name, raw := range child(o, "scopes").All() {
		if scheme, err := doc.LoadObject(raw); doc.IsObject(raw) && err == nil {
			r.scopes("api_definition.scopes."+name+".scope_to_policy", child(scheme, "scope_to_policy"))
		}
	}
	return r.list
}

// refs collects references without duplicates.
type refs struct {
	list []integrity.Ref
	have map[integrity.Target]bool
}

func (r *refs) add(kind, id, field string) {
	ref := integrity.Ref{Target: integrity.Target{Kind: kind, ID: id}, Field: field, OnDelete: integrity.Tolerate}
	if id != "" && !r.have[ref.Target] {
		r.list, r.have[ref.Target] = append(r.list, ref), true
	}
}

func (r *refs) scopes(field string, mapping doc.Object) {
	for scope := range mapping.All() {
		r.add(policyKind, text(mapping, scope), field+"."+scope)
	}
}

// Embed returns a with the current webhooks in its hook_references, and whether anything has
// changed. hook returns a webhook, or nil to leave a reference unchanged; gone says that the
// webhook is deleted, and then its references are deleted too.
func (a API) Embed(hook func(id string) (text json.RawMessage, gone bool)) (API, bool) {
	list, err := doc.ParseNode(a.HookReferences())
	if err != nil {
		return a, false
	}
	changed, left := false, doc.NewArray()
	for _, ref := range list.Items() {
		text, gone := hook(ref.Get("hook", "id").Text())
		if gone {
			changed = true
			continue
		}
		left.Append(ref)
		if text == nil {
			continue
		}
		if now, err := doc.ParseNode(text); err == nil && !now.Equal(ref.Get("hook")) {
			ref.Set("hook", now)
			changed = true
		}
	}
	if changed {
		a.wrapper, a.stored = a.wrapper.With("hook_references", left.JSON()), nil
	}
	return a, changed
}

// Abridged reports whether the API holds only the identifier of a webhook that it refers to.
func (a API) Abridged() bool {
	list, err := doc.ParseNode(a.HookReferences())
	return err == nil && slices.ContainsFunc(list.Items(), func(ref *doc.Node) bool {
		return ref.Get("hook", "id").Text() != "" && ref.Get("hook").Len() == 1
	})
}

// Touched returns a with now as the time of its last change.
func (a API) Touched(now time.Time) API {
	a.updated, a.quiet = now, false
	return a
}
