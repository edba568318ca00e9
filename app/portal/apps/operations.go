package apps

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Saga is an operation in several steps, as administrators see it.
type Saga struct {
	ID            string `json:"ID"`
	Operation     string `json:"Operation" doc:"Name of the operation."`
	Subject       string `json:"Subject" doc:"Record that the operation changes."`
	State         string `json:"State" doc:"open, undoing, failed or undo_failed. When ended: done, undone or abandoned."`
	ByUser        string `json:"ByUser" doc:"User who started the operation."`
	Attempts      int    `json:"Attempts" doc:"Number of failed attempts."`
	Error         string `json:"Error" doc:"Why the last attempt failed."`
	CreatedAt     string `json:"CreatedAt"`
	NextAttemptAt string `json:"NextAttemptAt"`
	EndedAt       string `json:"EndedAt"`
}

var exampleSaga = Saga{"5f1a0c5d8e3b2a1f00000009", "portal-apps.revoke", "portal-app 2", string(intent.Open), "portal-user-1", 3,
	"delete a key: the dashboard does not answer as it should: 503", "2026-01-02T03:04:05Z", "2026-01-02T03:04:12Z", ""}

func saga(v intents.View) Saga {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	return Saga{v.ID, v.Action, v.Subject.Kind + " " + v.Subject.ID, string(v.State), v.Actor, v.Attempts, v.Error, at(v.Created), at(v.Next), at(v.Ended)}
}

// sagaNamed is a saga, as named in a path.
type sagaNamed struct {
	Scope tenant.Scope
	ID    string `path:"operation_id" doc:"Identifier of the operation."`
}

type sagaListing struct {
	Scope       tenant.Scope
	portal.Page `params:""`
}

func (s *Service) sagaRows() []operation.Operation {
	over := operation.Faulting(intent.CodeClosed, intent.CodeBusy)
	return portal.Group("portal-operations", "/operations", "operations").Rows(
		operation.GET("list", "", "List unfinished operations with several steps", s.sagas, operation.Lists(operation.Item{ID: "ID"}),
			operation.Notes("Newest first. The list has approvals, rotations and deletions of which a step has failed. The portal retries them by itself."),
			operation.Example(nil, operation.Listing[Saga]{Items: []Saga{exampleSaga}, Total: 1, Page: 1, PerPage: portal.DefaultPerPage})),
		operation.GET("get", "/{operation_id}", "Fetch an operation with several steps", func(ctx context.Context, in sagaNamed) (Saga, error) {
			v, err := s.Intents.Get(ctx, intents.GetIn{Scope: in.Scope, ID: in.ID})
			return saga(v.Value), err
		}, operation.Notes("The latest ended operations can be fetched as well."), operation.Example(nil, exampleSaga)),
		operation.PUT("retry", "/{operation_id}/retry", "Retry an operation", func(ctx context.Context, in sagaNamed) (portal.Done, error) {
			_, err := s.Intents.Retry(ctx, intents.TouchIn{Scope: in.Scope, ID: in.ID})
			return portal.Executed("Retry"), err
		}, over, portal.Action(), portal.Unprocessable(), operation.Example(nil, portal.Executed("Retry"))),
		operation.DELETE("abandon", "/{operation_id}", "Abandon an operation", func(ctx context.Context, in sagaNamed) (portal.Status, error) {
			_, err := s.Intents.Abandon(ctx, intents.TouchIn{Scope: in.Scope, ID: in.ID})
			return portal.Status{Status: "ok"}, err
		}, over,
			operation.Notes("No further attempt is made. Steps that were carried out are not undone; `portal doctor` finds what they leave behind."), operation.Example(nil, portal.Status{Status: "ok"})),
	)
}

func (s *Service) sagas(ctx context.Context, in sagaListing) (out operation.Listing[Saga], err error) {
	page, err := s.Intents.List(ctx, intents.ListIn{Scope: in.Scope, Paging: operation.Paging{P: "0"}})
	if err != nil {
		return out, err
	}
	return portal.Cut(in.Page, func(from, to int) ([]Saga, int, error) {
		list := []Saga{}
		for v := range slices.Values(page.Items[min(from, len(page.Items)):min(to, len(page.Items))]) {
			list = append(list, saga(v))
		}
		return list, len(page.Items), nil
	})
}
