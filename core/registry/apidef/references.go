package apidef

import (
	"encoding/json"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/registry/webhook"
)

// policyKind is the kind of the policies that tokens get; the package of
// policies knows APIs, not the other way round.
const policyKind = "policy"

// Refs returns what the API refers to: webhooks that events call, and policies
// that tokens get. All of them may dangle (contract dashboard.md 8.4, 18).
func (a API) Refs() []integrity.Ref {
	o, err := doc.LoadObject(a.definition)
	if err != nil {
		return nil
	}
	r := &refs{have: map[integrity.Target]bool{}}
	for event, list := range child(child(o, "event_handlers"), "events").All() {
		r.handlers("api_definition.event_handlers.events."+event, list)
	}
	r.references(a.HookReferences())
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

// refs collects references, one of each.
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

// handlers adds the stored webhooks that the handlers of an event call.
func (r *refs) handlers(field string, list []byte) {
	var all []struct {
		Name string `json:"handler_name"`
		Meta struct {
			ID string `json:"id"`
		} `json:"handler_meta"`
	}
	_ = json.Unmarshal(list, &all) // what is no handler refers to nothing
	for _, h := range all {
		if h.Name == webhook.HandlerName {
			r.add(webhook.Kind, h.Meta.ID, field)
		}
	}
}

// references adds the webhooks of the wrapper.
func (r *refs) references(list []byte) {
	var all []struct {
		Hook struct {
			ID string `json:"id"`
		} `json:"hook"`
	}
	_ = json.Unmarshal(list, &all) // as above
	for _, ref := range all {
		r.add(webhook.Kind, ref.Hook.ID, "hook_references")
	}
}

// WithHook returns a with the copy of a webhook in its hook_references brought up
// to date, and whether there was one (contract dashboard.md 18). Who gets the
// webhook from a is not touched by that.
func (a API) WithHook(id string, hook json.RawMessage, now time.Time) (API, bool) {
	list, err := doc.ParseNode(a.HookReferences())
	if err != nil {
		return a, false
	}
	copied, err := doc.ParseNode(hook)
	if err != nil {
		return a, false
	}
	found := false
	for _, ref := range list.Items() {
		if ref.Get("hook", "id").Text() == id {
			ref.Set("hook", copied)
			found = true
		}
	}
	if !found {
		return a, false
	}
	a.wrapper = a.wrapper.With("hook_references", list.JSON())
	a.updated, a.quiet = now, false
	return a, true
}
