// Package cache tells gateways to drop what they cache for an API: responses, and the
// keys of its token issuers.
package cache

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Service announces that caches must be dropped.
type Service struct{ APIs *apis.Repository }

// Operations lists the operations on caches.
func (s *Service) Operations() []operation.Operation {
	group := operation.Group{Surface: operation.Management, Name: "cache", Path: "/api/cache", Tag: "APIs", Permission: access.APIs, Style: rows.Style("apis")}
	keys := group
	keys.Permission = access.IsAdmin
	return append(group.Rows(
		operation.DELETE("delete", "/{apiId}", "Drop the cached responses of an API at all gateways", s.Clear, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned),
			rows.Absent(404, "API not found"), operation.Example(nil, Status{"ok", "cache invalidated"}))),
		keys.Rows(
			operation.DELETE("jwks.delete", "/jwks/{apiId}", "Drop the cached keys of an API's token issuers at all gateways", s.ClearKeys, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned),
				rows.AbsentOr(404, "API not found", map[string]operation.Answer{apis.CodeNotOwned: {Status: 403, Text: "Update not allowed, API not owned by user", Form: operation.FailureStatus}}),
				operation.Example(nil, Status{"OK", "success"}),
				operation.Notes("Use this when an issuer has rotated its keys. Gateways fetch the keys again for the next token. Only for admins.")))...)
}

// Status is the response of operations that gateways carry out.
type Status struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// Clear announces that cached responses must be dropped.
func (s *Service) Clear(ctx context.Context, in rows.ByID) (Status, error) {
	return Status{"ok", "cache invalidated"}, s.announce(ctx, in, signal.DeleteAPICache)
}

// ClearKeys announces that cached keys must be dropped.
func (s *Service) ClearKeys(ctx context.Context, in rows.ByID) (Status, error) {
	return Status{"OK", "success"}, s.announce(ctx, in, signal.InvalidateJWKSCacheForAPI)
}

// announce posts a signal about an API that the caller may see.
func (s *Service) announce(ctx context.Context, in rows.ByID, command signal.Command) error {
	_, err := s.APIs.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		a, err := s.APIs.Get(ctx, w, in.ID, s.APIs.Viewer(in.Who, apidef.Classic, access.Delete))
		if err != nil {
			return err
		}
		return notify.Post(ctx, w, signal.Signal{Command: command, Payload: a.Value.APIID()})
	})
	return err
}
