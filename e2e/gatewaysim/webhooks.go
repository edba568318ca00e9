package gatewaysim

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Webhook is a call that a gateway would make for an event.
type Webhook struct {
	ID, Name string // informative
	Method   string
	Target   string
	Header   map[string]string
	Timeout  time.Duration // during which an identical call is not repeated
}

// handler is one event handler of a definition (docs/wire/webhooks.md#event-handlers).
type handler struct {
	Name string          `json:"handler_name"`
	Meta json.RawMessage `json:"handler_meta"`
}

type webhookMeta struct {
	ID, Name string
	Disabled bool
	Method   string
	Target   string            `json:"target_path"`
	Header   map[string]string `json:"header_map"`
	Timeout  int64             `json:"event_timeout"` // seconds
}

// Webhooks returns the calls for an event, such as AuthFailure, of a loaded API: its
// enabled webhooks with a target, in the order of the definition. Other handlers are
// left out.
func (g *Gateway) Webhooks(apiID, event string) []Webhook {
	var calls []Webhook
	a := g.view().apis.byID[apiID]
	if a == nil {
		return nil
	}
	for _, h := range a.EventHandlers.Events[event] {
		var m webhookMeta
		if h.Name != "eh_web_hook_handler" || json.Unmarshal(h.Meta, &m) != nil || m.Disabled || m.Target == "" {
			continue
		}
		calls = append(calls, Webhook{m.ID, m.Name, hookMethod(m.Method), m.Target, maps.Clone(m.Header), time.Duration(m.Timeout) * time.Second})
	}
	return calls
}

// hookMethod parses a method in any case; an invalid one becomes GET.
func hookMethod(text string) string {
	known := []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodPatch, http.MethodDelete}
	if method := strings.ToUpper(text); slices.Contains(known, method) {
		return method
	}
	return http.MethodGet
}
