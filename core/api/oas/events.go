package oas

import (
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/webhook"
)

// handler is a kind of event handler that the extension knows.
type handler struct {
	kind, classic string
	rows          []row
	section       *section
	named         string // the member from which a fill takes name
	id            bool   // its settings have an ID
}

var handlers = []handler{
	{kind: "webhook", classic: "eh_web_hook_handler", rows: webhookRows, section: compile(webhookRows), id: true},
	{kind: "custom", classic: "eh_dynamic_handler", rows: scriptRows, section: compile(scriptRows), named: "functionName", id: true},
	{kind: "log", classic: "eh_log_handler", rows: logRows, section: compile(logRows), named: "logPrefix"},
}

// handlerRows are the settings of event handlers of all kinds.
var handlerRows = slices.Concat(webhookRows, scriptRows, logRows)

// extractServer converts the event handlers: rule event. Stored handlers of the kinds known
// here are removed, others stay (docs/wire/conversion.md#event-handlers).
func extractServer(ext, c *doc.Node) {
	events := doc.NewObject()
	for name, list := range c.Get("event_handlers", "events").Members() {
		kept := slices.DeleteFunc(list.Items(), func(h *doc.Node) bool {
			return handlerOf(func(k handler) bool { return k.classic == h.Get("handler_name").Text() }) != nil
		})
		if len(kept) > 0 {
			events.Set(name, doc.NewArray(kept...))
		}
	}
	for _, h := range ext.Get("server", "eventHandlers").Items() {
		kind := handlerOf(func(k handler) bool { return k.kind == h.Get("type").Text() })
		if kind == nil {
			continue
		}
		trigger := h.Get("trigger").Text()
		if !events.Get(trigger).Is(doc.TypeArray) {
			events.Set(trigger, doc.NewArray())
		}
		events.Get(trigger).Append(kind.toClassic(h))
	}
	assign(c, events, "event_handlers", "events")
}

func handlerOf(match func(handler) bool) *handler {
	if i := slices.IndexFunc(handlers, match); i >= 0 {
		return &handlers[i]
	}
	return nil
}

func (k *handler) toClassic(h *doc.Node) *doc.Node {
	meta := doc.NewObject()
	meta.Set("disabled", doc.NewBool(!h.Get("enabled").True()))
	if k.id {
		meta.Set("id", doc.NewString(h.Get("id").Text()))
	}
	if k.named == "" {
		meta.Set("name", doc.NewString(h.Get("name").Text()))
	}
	k.section.extract(h, meta)
	entry := doc.NewObject()
	entry.Set("handler_name", doc.NewString(k.classic))
	entry.Set("handler_meta", meta)
	return entry
}

// IsEvent reports whether documents may have event handlers for an event.
func IsEvent(name string) bool {
	return slices.Contains(strings.Split(strings.TrimPrefix(enumerations["EventTrigger"], "="), "|"), name)
}

// FillHandlers writes only the event handlers of a classic definition into a document that has
// the extension.
func FillHandlers(document, classic *doc.Node) { fillServer(document.Get(ExtensionKey), classic) }

func fillServer(ext, c *doc.Node) {
	var out []*doc.Node
	old := ext.Get("server", "eventHandlers").Items()
	events := c.Get("event_handlers", "events")
	var triggers []string // in the order of the document, then the others
	for _, h := range old {
		if t := h.Get("trigger").Text(); events.Get(t) != nil && !slices.Contains(triggers, t) {
			triggers = append(triggers, t)
		}
	}
	for _, t := range sortedNames(events) {
		if !slices.Contains(triggers, t) {
			triggers = append(triggers, t)
		}
	}
	for _, trigger := range triggers {
		for _, entry := range events.Get(trigger).Items() {
			kind := handlerOf(func(k handler) bool { return k.classic == entry.Get("handler_name").Text() })
			if kind != nil && entry.Get("handler_meta").Is(doc.TypeObject) && kind.wellTyped(entry.Get("handler_meta")) {
				// The document's handler that is equal to the entry is copied and leaves the list.
				var equal *doc.Node
				if i := slices.IndexFunc(old, func(h *doc.Node) bool {
					return h.Get("trigger").Text() == trigger && h.Get("type").Text() == kind.kind && kind.toClassic(h).Equal(entry)
				}); i >= 0 {
					equal, old[i] = old[i].Clone(), nil
				}
				out = append(out, kind.toExtension(trigger, entry, equal))
			}
		}
	}
	if len(out) == 0 {
		ext.Delete("server", "eventHandlers")
		return
	}
	assign(ext, doc.NewArray(out...), "server", "eventHandlers")
}

// wellTyped reports whether all settings have the right type; otherwise the handler is
// skipped.
func (k *handler) wellTyped(meta *doc.Node) bool {
	full := maps.Collect(k.toClassic(nil).Get("handler_meta").Members())
	for name, v := range meta.Members() {
		want := full[name]
		if want == nil {
			continue
		}
		if !v.Is(want.Type(), doc.TypeNull) {
			return false
		}
		for _, item := range v.Members() { // of an object: only texts
			if !item.Is(doc.TypeString, doc.TypeNull) {
				return false
			}
		}
	}
	return true
}

func (k *handler) toExtension(trigger string, entry, h *doc.Node) *doc.Node {
	if h == nil {
		h = doc.NewObject()
	}
	meta := entry.Get("handler_meta")
	assign(h, doc.NewBool(!meta.Get("disabled").True()), "enabled")
	assign(h, doc.NewString(trigger), "trigger")
	assign(h, doc.NewString(k.kind), "type")
	id := ""
	if k.id {
		id = meta.Get("id").Text()
	}
	assignOrDrop(h, doc.NewString(id), "id")
	k.section.fill(h, meta)
	if k.named == "" {
		assignOrDrop(h, doc.NewString(meta.Get("name").Text()), "name")
		return h
	}
	assign(h, doc.NewString(h.Get(k.named).Text()), "name") // also when empty: gateways refuse a handler without the member
	return h
}

// keep restores the previous value of a member, or deletes it. A handler without a pause of
// its own uses the pause of the webhook when gateways load it, so the member must stay absent.
func keep(now, before *doc.Node, name string) {
	if had := before.Get(name); had.Is(doc.Absent) {
		now.Delete(name)
	} else {
		now.Set(name, had)
	}
}

// RefreshWebhook updates the event handlers for a webhook in a definition and in its document,
// which may be nil. It reports whether anything has changed. Switches and pauses of handlers
// stay (docs/wire/webhooks.md#event-handlers).
func RefreshWebhook(definition, document *doc.Node, h webhook.Hook) (changed bool) {
	for _, list := range definition.Get("event_handlers", "events").Members() {
		for _, entry := range list.Items() {
			meta := entry.Get("handler_meta")
			if entry.Get("handler_name").Text() != webhook.HandlerName || meta.Get("id").Text() != h.ID {
				continue
			}
			now := webhook.Handler(h, meta)
			keep(now, meta, "event_timeout")
			changed = changed || !now.Equal(meta)
			entry.Set("handler_meta", now)
		}
	}
	kind := handlerOf(func(k handler) bool { return k.classic == webhook.HandlerName })
	for _, entry := range document.Get("x-tyk-api-gateway", "server", "eventHandlers").Items() {
		if entry.Get("type").Text() != kind.kind || entry.Get("id").Text() != h.ID {
			continue
		}
		before, classic := entry.Clone(), kind.toClassic(entry)
		classic.Set("handler_meta", webhook.Handler(h, classic.Get("handler_meta")))
		kind.toExtension(entry.Get("trigger").Text(), classic, entry)
		keep(entry, before, "cooldownPeriod")
		changed = changed || !entry.Equal(before)
	}
	return changed
}
