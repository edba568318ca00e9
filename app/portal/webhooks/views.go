package webhooks

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/portal/webhook"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Listed is a webhook in lists. Numbers are texts here.
type Listed struct {
	ID      string         `json:"ID"`
	Name    string         `json:"Name"`
	URL     string         `json:"URL"`
	Method  string         `json:"Method"`
	Timeout int64          `json:"Timeout"`
	Headers []ListedHeader `json:"Headers"`
	Events  []string       `json:"Events"`
}

// Shown is the full representation of a webhook.
type Shown struct {
	Listed
	CreatedAt string `json:"CreatedAt"`
	UpdatedAt string `json:"UpdatedAt"`
}

// ListedHeader is a header in lists.
type ListedHeader struct {
	ID    string `json:"ID"`
	Name  string `json:"Name"`
	Value string `json:"Value"`
}

// ShownHeader is the full representation of a header.
type ShownHeader struct {
	ListedHeader
	WebhookID string `json:"WebhookID"`
}

// ChangedHeader is the answer to a change of a header.
type ChangedHeader struct {
	Name  string `json:"Name"`
	Value string `json:"Value"`
}

func (s *Service) list(ctx context.Context, r store.Reader, w webhook.Webhook) (out Listed, err error) {
	out = Listed{w.ID.String(), w.Name, w.URL, w.Method, w.Timeout, []ListedHeader{}, append([]string{}, w.Events...)}
	list, err := headersOf(ctx, r, w.ID)
	if err != nil {
		return out, err
	}
	for _, h := range slices.Backward(list) { // in the order of header lists: the newest first
		shown, err := s.listHeader(ctx, r, h)
		if err != nil {
			return out, err
		}
		out.Headers = append(out.Headers, shown)
	}
	return out, nil
}

func (s *Service) listHeader(_ context.Context, _ store.Reader, h webhook.Header) (ListedHeader, error) {
	value, err := s.value(h)
	return ListedHeader{h.ID.String(), h.Name, value}, err
}
