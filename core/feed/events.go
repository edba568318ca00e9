package feed

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/webhook"
)

// resolve puts what webhooks say now into a definition: there is no feed of
// them, gateways know event handlers only (docs/wire/webhooks.md#event-handlers). A handler
// that names a stored webhook gets its address, method, template and headers; one that
// names nothing but a webhook that is gone is switched off;
// each reference of the wrapper adds a handler for its event. Other handlers get
// the texts that gateways take for granted.
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
			if hook, ok := hooks(id); ok { // the switch stays, and so does the pause if there is one
				h.Set("handler_meta", webhook.Handler(hook, h.Get("handler_meta")))
			} else if h.Get("handler_meta", "target_path").Text() == "" { // gateways would fail at it with each event
				h.Get("handler_meta").Set("disabled", doc.NewBool(true))
			}
		}
	}
	if list, err := doc.ParseNode(references); err == nil { // else there are none
		webhook.Attach(def, list, hooks)
	}
}

// taken are members of handler_meta by handler_name that gateways take for texts without looking. One
// that is no text ends their process as it loads the APIs of all organisations, again with each start.
var taken = map[string][]string{
	"eh_log_handler":     {"prefix"},
	"eh_dynamic_handler": {"name", "path"},
	"cp_dynamic_handler": {"name"},
}
