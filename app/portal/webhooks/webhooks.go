// Package webhooks sends the portal's events to other services: the resources, and the
// delivery (docs/wire/portal-webhooks.md).
package webhooks

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/webhook"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Settings configure how webhooks are called. Without a fetcher none are called.
type Settings struct {
	Deliveries delivery.Settings
	Secret     string // signing secret; "": no signature
}

// longest is the default maximum duration of an attempt.
const longest = 30 * time.Second

// Config is the configuration of a Service.
type Config struct {
	Settings
	Keys  secret.Keys
	Scope tenant.Scope // of the portal; the zero Scope: there is none
}

// Service has the operations on webhooks.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service {
	c.Deliveries.Timeout = cmp.Or(c.Deliveries.Timeout, longest)
	return &Service{c}
}

// byEvent is the index of webhooks by event.
const byEvent = "event"

// Kinds of records.
var (
	Kind = portal.KindOf(store.Index[webhook.Webhook]{Name: byEvent, Values: func(w webhook.Webhook) (out []string) {
		for _, name := range w.Listens() {
			out = append(out, topic(w.Portal, name))
		}
		return out
	}})
	HeaderKind = portal.KindOf[webhook.Header]()
)

func topic(org tenant.ID, event string) string { return event + " " + string(org) }

// Codes of faults.
const (
	CodeMany   = "portal_webhook.many"
	CodeSealed = "portal_webhook.sealed"
)

// Resource defines webhooks as a resource.
func (s *Service) Resource() portal.Resource[webhook.Webhook, Listed, Shown] {
	limit := int64(s.Deliveries.Timeout / time.Second)
	return portal.Resource[webhook.Webhook, Listed, Shown]{
		Kind: Kind, Name: "portal-webhooks", Path: "/webhooks", Param: "webhook_id", One: "a webhook", Many: "webhooks",
		List: s.list,
		Show: func(ctx context.Context, r store.Reader, w webhook.Webhook) (Shown, error) {
			l, err := s.list(ctx, r, w) // runs after the hooks, so that the headers of a new webhook are included
			return Shown{l, table.Stamp(w.CreatedAt), table.Stamp(w.UpdatedAt)}, err
		},
		Sample: webhook.Webhook{Name: "CRM", URL: "https://crm.example.com/portal", Method: "POST", Timeout: 5, Events: []string{"UserRegistered"}, Headers: webhook.Headers{}},
		Begin:  func(w *webhook.Webhook, _ table.ID) { w.Longest = limit },
		Load: func(_ context.Context, _ store.Reader, w *webhook.Webhook) error {
			w.Longest = max(limit, w.Timeout) // an old value stays, even if it exceeds the current limit
			return nil
		},
		Hooks: portal.Hooks[webhook.Webhook]{After: s.after, Before: portal.AtMost[webhook.Webhook](webhook.Kind, webhook.MaxWebhooks,
			fault.New(fault.Invalid, CodeMany, "there are too many webhooks (the maximum is %d)", webhook.MaxWebhooks))},
		Rows: func(o portal.Operations[webhook.Webhook, Listed, Shown]) []operation.Row {
			hidden := operation.Redact("Headers")
			return append([]operation.Row{o.ListRow(), o.CreateRow(hidden, operation.Faulting(table.CodeInvalid, CodeMany)), o.GetRow(), o.UpdateRow(hidden), o.DeleteRow()},
				(&console{s, o.Tools}).rows()...)
		},
	}
}

// after stores the headers in the request for a new webhook, and deletes those of a
// deleted one.
func (s *Service) after(ctx context.Context, w store.Writer, c *portal.Change[webhook.Webhook]) error {
	switch c.Op {
	case store.Created:
		for _, h := range c.New.Headers {
			h.WebhookID = c.New.ID
			sealed, err := s.sealed(h)
			if err != nil {
				return err
			}
			if _, err := portal.Add(ctx, w, HeaderKind, c.At, sealed); err != nil {
				return err
			}
		}
	case store.Deleted:
		gone, err := headersOf(ctx, w, c.Old.ID)
		if err != nil {
			return err
		}
		for _, h := range gone {
			if err := portal.Remove(ctx, w, HeaderKind, h.ID, c.At); err != nil {
				return err
			}
		}
	}
	return nil
}

// headersOf returns the headers of a webhook in order of number.
func headersOf(ctx context.Context, r store.Reader, id table.ID) ([]webhook.Header, error) {
	return store.Collect(portal.All(ctx, r, HeaderKind, id))
}

// HeaderResource defines headers as a resource.
func (s *Service) HeaderResource() portal.Resource[webhook.Header, ListedHeader, ShownHeader] {
	return portal.Resource[webhook.Header, ListedHeader, ShownHeader]{
		Kind: HeaderKind, Name: "portal-webhook-headers", Path: "/webhooks/{webhook_id}/headers", Param: "header_id", One: "a webhook header", Many: "webhook headers",
		Above: &portal.Above{Kind: webhook.Kind, Param: "webhook_id"},
		List:  s.listHeader,
		Show: func(ctx context.Context, r store.Reader, h webhook.Header) (ShownHeader, error) {
			l, err := s.listHeader(ctx, r, h)
			return ShownHeader{l, h.WebhookID.String()}, err
		},
		Sample: webhook.Header{Name: "X-Tenant", Value: "acme", WebhookID: 7},
		Begin:  func(h *webhook.Header, parent table.ID) { h.WebhookID = parent },
		Search: func(h webhook.Header, keyword string) bool { return strings.Contains(strings.ToLower(h.Name), keyword) }, // values are sealed, and cannot be searched
		Sealed: func(h *webhook.Header) *string { return &h.Sealed },
		Hooks:  portal.Hooks[webhook.Header]{Before: s.seal},
		Rows: func(o portal.Operations[webhook.Header, ListedHeader, ShownHeader]) []operation.Row {
			hidden := operation.Redact("Value")
			return []operation.Row{
				o.ListRow(absent(400)),
				o.CreateRow(hidden, portal.Unprocessable(), operation.Faulting(table.CodeInvalid, CodeMany)),
				o.GetRow(),
				portal.UpdateRowAs(o, func(h ShownHeader) ChangedHeader { return ChangedHeader{h.Name, h.Value} }, hidden, absent(404)),
				o.DeleteRow(),
			}
		},
	}
}

// absent sets the status for a missing record.
func absent(status int) operation.Option {
	return operation.Answers(map[string]operation.Answer{"not_found": {Status: status, Text: "record not found"}})
}

// seal seals the value of a header in a request, and refuses a header over the limit.
func (s *Service) seal(ctx context.Context, w store.Writer, c *portal.Change[webhook.Header]) (err error) {
	switch {
	case c.Op == store.Deleted:
		return nil
	case c.Op == store.Created:
		there, err := headersOf(ctx, w, c.New.WebhookID)
		if err != nil {
			return err
		}
		if len(there) >= webhook.MaxHeaders {
			return fault.New(fault.Invalid, CodeMany, "there are too many headers (the maximum is %d)", webhook.MaxHeaders)
		}
	case !c.Sent.Has("Value"):
		return nil
	}
	c.New, err = s.sealed(c.New)
	return err
}

// sealed returns a header with its value sealed.
func (s *Service) sealed(h webhook.Header) (_ webhook.Header, err error) {
	if h.Sealed = ""; h.Value != "" {
		h.Sealed, err = s.Keys.Seal(h.Value)
	}
	return h, err
}

// value returns the plain value of a header.
func (s *Service) value(h webhook.Header) (string, error) {
	if h.Sealed == "" {
		return h.Value, nil // no value, or the value of an example
	}
	plain, _, err := s.Keys.Open(h.Sealed)
	if err != nil {
		err = fault.New(fault.Unavailable, CodeSealed, "the value of the header %s cannot be opened: configure the encryption key, or send the value again", h.Name).Because(err)
	}
	return plain, err
}
