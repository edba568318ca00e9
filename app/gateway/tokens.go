package gateway

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Tokens has the operations of the super-admin on the OAuth tokens that gateways store.
type Tokens struct{ Store store.Store }

// Codes of the faults of a purge.
const (
	codeNoScope = "oauth.scope.missing"
	codeScope   = "oauth.scope.unknown"
)

// lapsed is the only set of tokens that can be purged.
const lapsed = "lapsed"

// Operations lists the purge.
func (t *Tokens) Operations() []operation.Operation {
	return operation.Group{Surface: operation.Admin, Name: "admin.oauth", Path: "/admin/oauth", Tag: "System", Style: operation.Style{Word: "OK"}}.Rows(
		operation.DELETE("tokens.purge", "/tokens", "Purge expired OAuth tokens at gateways", t.Purge,
			operation.Faulting(codeNoScope, codeScope), operation.Answers(map[string]operation.Answer{codeNoScope: {Status: 422}}),
			operation.Notes("Gateways store the tokens. They are told to purge those that have expired; nothing is stored here."),
			operation.Example(nil, map[string]any{"Status": "OK", "Message": "success", "Meta": nil})))
}

type purgeIn struct {
	Scope string `query:"scope" required:"true" oneof:"lapsed" doc:"Which tokens are purged."`
}

// Purge tells gateways to delete lapsed tokens.
func (t *Tokens) Purge(ctx context.Context, in purgeIn) (operation.Receipt, error) {
	switch in.Scope {
	case lapsed:
	case "":
		return operation.Receipt{}, fault.New(fault.Invalid, codeNoScope, "scope parameter is required").At("scope")
	default:
		return operation.Receipt{}, fault.New(fault.Invalid, codeScope, "unknown scope").At("scope")
	}
	_, err := t.Store.Update(ctx, tenant.Everyone("purge lapsed tokens"), func(w store.Writer) error {
		return notify.Post(ctx, w, signal.Signal{Command: signal.OAuthPurgeLapsedTokens})
	})
	return operation.Receipt{Message: "success"}, err
}
