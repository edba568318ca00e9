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
			refresh(h, hooks)
		}
	}
	if list, err := doc.ParseNode(references); err == nil { // else there are none
		webhook.Attach(def, list, hooks)
	}
}

// refresh replaces the copy of a stored webhook in an event handler. Its switch
// stays, and so does its pause if it has one.
func refresh(handler *doc.Node, hooks Hooks) {
	meta := handler.Get("handler_meta")
	if handler.Get("handler_name").Text() != webhook.HandlerName {
		return
	}
	id := meta.Get("id").Text()
	if id == "" {
		return
	}
	if h, ok := hooks(id); ok {
		handler.Set("handler_meta", webhook.Handler(h, meta))
	}
}
