package reports

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Urgency says how urgent a notification is.
type Urgency string

// The urgencies of notifications.
const (
	Critical Urgency = "critical"
	Warning  Urgency = "warning"
)

// Notification is a message to the users of an organisation about a matter that needs
// attention (docs/wire/organisation-notifications.md).
type Notification struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created_at"`
	OrgID   tenant.ID `json:"org_id"`
	Hash    string    `json:"hash"` // the same for the same matter, so that clients show it once
	Kind    Urgency   `json:"kind" oneof:"critical,warning"`
	Topic   string    `json:"topic" oneof:"certificate.expiry,governance.compliance"`
	Title   string    `json:"title"`
	Message string    `json:"message"`
	Data    any       `json:"data"` // depends on the topic
}

// Source provides the notifications of one kind of matter.
type Source interface {
	// Notifications returns the notifications for the organisation now. With refresh,
	// the source must not use its cache.
	Notifications(ctx context.Context, s tenant.Scope, refresh bool) ([]Notification, error)
}

// Notifications merges the notifications of its sources. Without a source there are
// none.
type Notifications struct{ Sources []Source }

// Operations lists the only read.
func (n *Notifications) Operations() []operation.Operation {
	example := Notification{ID: "b52f491a-2946-408b-9330-2736db85705b", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), OrgID: "5f1a0c5d8e3b2a1f00000001",
		Hash: "17090217262863020087", Kind: Warning, Topic: "certificate.expiry", Title: "Certificate will expire soon",
		Message: "A certificate will expire in less than 18 days", Data: map[string]any{"cert_id": "5f1a", "expiry_date": "2026-01-20T00:00:00Z", "days_remaining": 17}}
	return operation.Group{
		Surface: operation.Management, Name: "notifications", Path: "/api/org/notifications", Tag: "Organisation notifications", Permission: access.AnyUser, OneOrganisation: true,
		Style: operation.Style{Word: "OK"},
	}.Rows(operation.GET("list", "", "List notifications of the organisation", n.List, operation.Lists(operation.Item{Name: "title"}),
		operation.Answers(map[string]operation.Answer{"internal": {Text: "Could not retrieve notifications."}}), operation.Example(nil, []Notification{example})))
}

type notificationsIn struct {
	Scope   tenant.Scope
	Refresh string `query:"refresh" doc:"true: the service checks again instead of using cached results."`
}

// List returns the notifications of the organisation, the latest first, without
// duplicates.
func (n *Notifications) List(ctx context.Context, in notificationsIn) ([]Notification, error) {
	out, seen := []Notification{}, map[string]bool{}
	for _, s := range n.Sources {
		more, err := s.Notifications(ctx, in.Scope, in.Refresh == "true")
		if err != nil {
			return nil, err
		}
		for _, m := range more {
			if in.Scope.Admits(m.OrgID) && !seen[m.Hash] {
				seen[m.Hash] = true
				out = append(out, m)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Notification) int { return b.Created.Compare(a.Created) })
	return out, nil
}
