package feed

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/webhook"
)

// resolve copies the current webhooks into a definition: there is no feed of webhooks,
// gateways know only event handlers (docs/wire/webhooks.md#event-handlers). A handler for a
// stored webhook gets its URL, method, template and headers. A handler with only the ID of a
// deleted webhook is switched off. Each reference of the wrapper adds a handler for its event.
// Other handlers get the texts that gateways require.
func resolve(def *doc.Node, references []byte, hooks Hooks) {
	for _, handlers := range def.Get("event_handlers", "events").Members() {
		for _, h := range handlers.Items() {
			name := h.Get("handler_name").Text()
			for _, m := range taken[name] {
				if h.Get("handler_meta", m).Is(doc.TypeString) {
					continue
				}
				if !h.Get("handler_meta").Is(doc.TypeObject) {
					h.Set("handler_meta", doc.NewObject())
				}
				h.Get("handler_meta").Set(m, doc.NewString(""))
			}
			id := h.Get("handler_meta", "id").Text()
			if id == "" || name != webhook.HandlerName {
				continue
			}
			if hook, ok := hooks(id); ok { // the handler keeps its switch, and its pause if there is one
				h.Set("handler_meta", webhook.Handler(hook, h.Get("handler_meta")))
			} else if h.Get("handler_meta", "target_path").Text() == "" { // gateways would fail at every event
				h.Get("handler_meta").Set("disabled", doc.NewBool(true))
			}
		}
	}
	if list, err := doc.ParseNode(references); err == nil { // otherwise there are no references
		webhook.Attach(def, list, hooks)
	}
}

// taken are the members of handler_meta that gateways convert to texts without a check, by
// handler_name. A member of another type makes their process panic when it loads the APIs of
// all organisations, at each start again.
var taken = map[string][]string{
	"eh_log_handler":     {"prefix"},
	"eh_dynamic_handler": {"name", "path"},
	"cp_dynamic_handler": {"name"},
}
