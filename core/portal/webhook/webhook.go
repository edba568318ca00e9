// Package webhook models the external addresses to which the developer portal sends events,
// and the headers of these requests (docs/wire/portal-webhooks.md).
package webhook

import (
	"net/url"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	hook "github.com/gatehouse-io/gatehouse/core/webhook"
)

// Kinds of records.
const (
	Kind       = "portal-webhook"
	HeaderKind = "portal-webhook-header"
)

// Bounds.
const (
	MaxWebhooks = 200 // of a portal
	MaxHeaders  = 32  // of a webhook
	maxURL      = 2_000
	maxValue    = 4_096
)

// DefaultTimeout is how many seconds a receiver has to respond unless its webhook has another
// timeout.
const DefaultTimeout = 10

// Methods are the allowed methods.
var Methods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// Webhook is an address to which events are sent.
type Webhook struct {
	table.Base
	Name    string
	URL     string
	Method  string
	Timeout int64 // seconds; 0: DefaultTimeout
	Events  []string
	Headers Headers `json:"-"` // of a new webhook: headers are stored as records of their own
	// Longest is the maximum of Timeout in this installation, in seconds.
	Longest int64 `json:"-"`
}

// Table implements table.Row.
func (Webhook) Table() *table.Table[Webhook] { return webhooks }

var webhooks = &table.Table[Webhook]{
	Kind: Kind, Noun: "webhook",
	Base: func(w *Webhook) *table.Base { return &w.Base },
	Fields: []table.Field[Webhook]{
		{Name: "Name", At: func(w *Webhook) any { return &w.Name }, Required: true, Max: 255},
		{Name: "URL", At: func(w *Webhook) any { return &w.URL }, Required: true, Max: maxURL, Valid: func(w Webhook) bool {
			u, err := url.Parse(w.URL)
			return err == nil && u.User == nil && hook.Reachable(w.URL)
		},
			Doc: "Absolute http or https address, without user and password."},
		{Name: "Method", At: func(w *Webhook) any { return &w.Method }, Required: true, Enum: Methods},
		{Name: "Timeout", At: func(w *Webhook) any { return &w.Timeout }, Valid: func(w Webhook) bool { return w.Timeout >= 0 && w.Timeout <= w.Longest },
			Doc: "Timeout of an attempt in seconds; 0 means 10."},
		{Name: "Events", At: func(w *Webhook) any { return &w.Events }, Doc: "Events for which the webhook is called.", Valid: func(w Webhook) bool {
			return !slices.ContainsFunc(w.Events, func(name string) bool { _, known := event.Find(name); return !known })
		}},
		{Name: "Headers", At: func(w *Webhook) any { return &w.Headers }, Fixed: true, Doc: "Headers of a new webhook. Later they are changed by the operations for webhook headers."},
	},
	Check: func(w Webhook, wrong *table.Problems) { w.Headers.check(wrong) },
}

// Seconds returns how long an attempt may take.
func (w Webhook) Seconds() int64 {
	if w.Timeout == 0 {
		return DefaultTimeout
	}
	return w.Timeout
}

// Listens returns the events that are sent to the webhook, each once.
func (w Webhook) Listens() []string {
	out := slices.Clone(w.Events)
	slices.Sort(out)
	return slices.Compact(out)
}
