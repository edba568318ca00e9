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
	list, err := doc.ParseNode(references)
	if err != nil {
		return // there are none
	}
	for _, ref := range list.Items() {
		attach(def, ref, hooks)
	}
}

// refresh replaces the copy of a stored webhook in an event handler. Its switch
// stays, and so does its pause if it has one.
func refresh(handler *doc.Node, hooks Hooks) {
	meta := handler.Get("handler_meta")
	if handler.Get("handler_name").Text() != webhook.HandlerName {
		return
	}
	h, ok := stored(meta.Get("id"), hooks)
	if !ok {
		return
	}
	handler.Set("handler_meta", webhook.Handler(h, meta))
}

// attach adds an event handler for a reference of the wrapper, unless the event
// has one that calls the same webhook. References to webhooks that are gone mean
// nothing.
func attach(def, ref *doc.Node, hooks Hooks) {
	event := ref.Get("event_name").Text()
	h, ok := stored(ref.Get("hook", "id"), hooks)
	if !ok || event == "" {
		return
	}
	handlers := def.Get("event_handlers", "events", event)
	for _, other := range handlers.Items() {
		if other.Get("handler_meta", "id").Text() == h.ID {
			return
		}
	}
	if !handlers.Is(doc.TypeArray) {
		handlers = doc.NewArray()
		def.Put(handlers, "event_handlers", "events", event)
	}
	handler := doc.NewObject()
	handler.Set("handler_name", doc.NewString(webhook.HandlerName))
	handler.Set("handler_meta", webhook.Handler(h, ref))
	handlers.Append(handler)
}

func stored(id *doc.Node, hooks Hooks) (webhook.Hook, bool) {
	if id.Text() == "" {
		return webhook.Hook{}, false
	}
	return hooks(id.Text())
}
