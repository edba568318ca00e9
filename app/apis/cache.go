package apis

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/registry/apidef"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Cache tells gateways to drop answers they keep (contract dashboard.md 9.4).
type Cache struct{ *Library }

// Operations lists what can be done about caches.
func (s Cache) Operations() []operation.Operation {
	return operation.Group{Surface: operation.Management, Name: "cache", Path: "/api/cache", Tag: "APIs", Permission: access.APIs, Style: style("apis")}.Rows(
		operation.DELETE("delete", "/{apiId}", "Drop the cached answers of an API at all gateways", s.Clear, operation.Faulting(codeMissing, codeNotOwned),
			absent(404, "API not found"), operation.Example(nil, Status{"ok", "cache invalidated"})))
}

// Status is the answer of operations that gateways carry out.
type Status struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// Clear announces that cached answers are out of date.
func (s Cache) Clear(ctx context.Context, in byID) (Status, error) {
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		a, err := s.get(ctx, w, in.ID, s.viewerOf(apidef.Classic, in.Who, access.Delete))
		if err != nil {
			return err
		}
		return notify.Post(ctx, w, signal.Signal{Command: signal.DeleteAPICache, Payload: a.Value.APIID()})
	})
	return Status{"ok", "cache invalidated"}, err
}
