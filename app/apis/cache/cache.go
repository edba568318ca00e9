package apis

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Cache tells gateways to drop what they keep of an API: its answers, and the keys of
// its token issuers.
type Cache struct{ *Library }

// Operations lists what can be done about caches.
func (s Cache) Operations() []operation.Operation {
	group := operation.Group{Surface: operation.Management, Name: "cache", Path: "/api/cache", Tag: "APIs", Permission: access.APIs, Style: style("apis")}
	keys := group
	keys.Permission = access.IsAdmin
	return append(group.Rows(
		operation.DELETE("delete", "/{apiId}", "Drop the cached answers of an API at all gateways", s.Clear, operation.Faulting(codeMissing, codeNotOwned),
			absent(404, "API not found"), operation.Example(nil, Status{"ok", "cache invalidated"}))),
		keys.Rows(
			operation.DELETE("jwks.delete", "/jwks/{apiId}", "Drop the cached keys of an API's token issuers at all gateways", s.ClearKeys, operation.Faulting(codeMissing, codeNotOwned),
				answers(operation.Answer{Status: 404, Text: "API not found"}, map[string]operation.Answer{codeNotOwned: {Status: 403, Text: "Update not allowed, API not owned by user"}}),
				operation.Example(nil, Status{"OK", "success"}),
				operation.Notes("For admins. Gateways fetch the keys again with the next token; use it when an issuer has rotated its keys.")))...)
}

// Status is the answer of operations that gateways carry out.
type Status struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// Clear announces that cached answers are out of date.
func (s Cache) Clear(ctx context.Context, in byID) (Status, error) {
	return Status{"ok", "cache invalidated"}, s.announce(ctx, in, signal.DeleteAPICache)
}

// ClearKeys announces that cached keys are out of date.
func (s Cache) ClearKeys(ctx context.Context, in byID) (Status, error) {
	return Status{"OK", "success"}, s.announce(ctx, in, signal.InvalidateJWKSCacheForAPI)
}

// announce tells gateways something about an API that the caller may see.
func (s Cache) announce(ctx context.Context, in byID, command signal.Command) error {
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		a, err := s.get(ctx, w, in.ID, s.viewerOf(apidef.Classic, in.Who, access.Delete))
		if err != nil {
			return err
		}
		return notify.Post(ctx, w, signal.Signal{Command: command, Payload: a.Value.APIID()})
	})
	return err
}
