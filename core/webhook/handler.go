package webhook

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// HandlerName is the handler_name of an event handler that calls a webhook.
const HandlerName = "eh_web_hook_handler"

// Handler returns the handler_meta that makes a gateway call the webhook
// (docs/wire/webhooks.md#event-handlers). Every member has the type that the gateway needs,
// since a wrong type makes a whole feed invalid. use is a reference to the webhook or the
// previous handler_meta: disabled is taken from it, and its event_timeout, if positive,
// replaces that of the webhook.
func Handler(h Hook, use *doc.Node) *doc.Node {
	headers, _ := h.Headers.AppendJSON(nil) // an object of texts can always be encoded
	table, err := doc.ParseNode(headers)
	if err != nil {
		table = doc.NewObject()
	}
	meta := doc.NewObject()
	meta.Set("id", doc.NewString(h.ID))
	meta.Set("name", doc.NewString(h.Name))
	meta.Set("disabled", doc.NewBool(use.Get("disabled").True()))
	meta.Set("method", doc.NewString(h.Method))
	meta.Set("target_path", doc.NewString(h.TargetPath))
	meta.Set("template_path", doc.NewString(h.TemplatePath))
	meta.Set("header_map", table)
	timeout := h.EventTimeout
	if own := use.Get("event_timeout").Int(); own > 0 {
		timeout = own
	}
	meta.Set("event_timeout", doc.NewInt(timeout))
	return meta
}

// Attach adds event handlers to a definition: one for each item of the array hook_references
// of a wrapper, unless its event already has a handler for the same webhook. If a reference
// has no ID, the webhook embedded in it is used. References to webhooks that were deleted, or
// cannot be called, are ignored (docs/wire/webhooks.md#event-handlers).
func Attach(def, references *doc.Node, stored func(id string) (Hook, bool)) {
	for _, ref := range references.Items() {
		event := ref.Get("event_name").Text()
		h, ok := meant(ref.Get("hook"), stored)
		if event == "" || !ok {
			continue
		}
		handlers := def.Get("event_handlers", "events", event)
		if !handlers.Is(doc.TypeArray) {
			handlers = doc.NewArray()
			def.Put(handlers, "event_handlers", "events", event)
		}
		if slices.ContainsFunc(handlers.Items(), func(other *doc.Node) bool {
			meta := other.Get("handler_meta")
			return meta.Get("id").Text() == h.ID && (h.ID != "" || meta.Get("target_path").Text() == h.TargetPath && meta.Get("method").Text() == h.Method)
		}) {
			continue
		}
		handler := doc.NewObject()
		handler.Set("handler_name", doc.NewString(HandlerName))
		handler.Set("handler_meta", Handler(h, ref))
		handlers.Append(handler)
	}
}

// meant returns the webhook of a reference: the stored webhook with its ID, or the embedded
// one if it has no ID. It returns false if the stored one was deleted, or the embedded one is
// invalid.
func meant(hook *doc.Node, stored func(id string) (Hook, bool)) (Hook, bool) {
	if id := hook.Get("id").Text(); id != "" {
		return stored(id)
	}
	var d Draft
	if d.UnmarshalJSON(hook.JSON()) != nil {
		return Hook{}, false
	}
	h, err := New("", "", d)
	return h, err == nil
}

// headers decodes an object with only texts as members.
type headers doc.Object

// UnmarshalJSON implements json.Unmarshaler.
func (h *headers) UnmarshalJSON(text []byte) error {
	if !doc.IsObject(text) {
		return &json.UnmarshalTypeError{Value: described(text), Type: reflect.TypeFor[map[string]string]()}
	}
	o, err := doc.ParseObject(bytes.Clone(text))
	if err != nil {
		return err
	}
	for name, raw := range o.All() {
		if raw[0] != '"' {
			return &json.UnmarshalTypeError{Value: described(raw), Type: reflect.TypeFor[string](), Field: name}
		}
	}
	*h = headers(o)
	return nil
}

// described returns the name that encoding/json has for the type of a JSON text.
func described(text json.RawMessage) string {
	n, err := doc.ParseNode(text)
	if err != nil {
		return "text"
	}
	return n.Type().String()
}

// members describes the members of a webhook in requests and responses.
func members() map[string]any {
	plain := map[string]any{"type": "string"}
	return map[string]any{
		"webhook_id":    map[string]any{"type": "string", "description": "Identifier that the client chooses, unique in the organisation."},
		"name":          map[string]any{"type": "string", "description": "For people."},
		"method":        map[string]any{"type": "string", "enum": Methods, "description": "HTTP method with which gateways call the webhook."},
		"target_path":   map[string]any{"type": "string", "format": "uri", "description": "Absolute URL that gateways call."},
		"template_path": map[string]any{"type": "string", "description": "Template file on the gateway. Empty: the gateway's default template."},
		"header_map":    map[string]any{"type": "object", "additionalProperties": plain, "description": "Headers that gateways send."},
		"event_timeout": map[string]any{"type": "integer", "description": "Seconds for which an identical call is not repeated."},
		"api_model":     map[string]any{"type": "object"},
	}
}

// Schema describes the request body for the API description.
func (Draft) Schema() map[string]any {
	return map[string]any{"type": "object", "required": []string{"method", "target_path"}, "properties": doc.InOrder(members(), draftMembers()...)}
}

// Schema describes the record for the API description.
func (Hook) Schema() map[string]any {
	all, required := members(), []string{"id", "org_id"}
	required = append(required, draftMembers()...)
	all["id"], all["org_id"] = map[string]any{"type": "string"}, map[string]any{"type": "string"}
	return map[string]any{"type": "object", "required": required, "properties": doc.InOrder(all, required...)}
}

// draftMembers returns the names of the members that clients may set, in the order in which
// they are written.
func draftMembers() (names []string) {
	for _, f := range (&Draft{}).fields() {
		names = append(names, f.name)
	}
	return names
}
