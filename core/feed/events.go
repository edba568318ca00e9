package feed

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/webhook"
)

// resolve puts what webhooks say now into a definition: there is no feed of
// them, gateways know event handlers only (docs/wire/webhooks.md#event-handlers). A handler
// that names a stored webhook gets its address, method, template and headers;
// each reference of the wrapper adds a handler for its event.
func resolve(def *doc.Node, references []byte, hooks Hooks) {
	for _, handlers := range def.Get("event_handlers", "events").Members() {
		for _, h := range handlers.Items() {
			id := h.Get("handler_meta", "id").Text()
			if id == "" || h.Get("handler_name").Text() != webhook.HandlerName {
				continue
			}
			if hook, ok := hooks(id); ok { // the switch stays, and so does the pause if there is one
				h.Set("handler_meta", webhook.Handler(hook, h.Get("handler_meta")))
			}
		}
	}
	if list, err := doc.ParseNode(references); err == nil { // else there are none
		webhook.Attach(def, list, hooks)
	}
}
