// Package governance responds to clients that want to check APIs against rulesets.
package governance

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// codeOff is the code of the only response.
const codeOff = "governance.off"

const off = "Governance is not part of this server: APIs are not evaluated with rulesets"

// Service refuses every call: to clients, 403 means a server without governance, and
// 404 one that is too old or a wrong path (docs/wire/governance.md).
type Service struct{}

// Operations lists the operations of servers with governance.
func (s Service) Operations() []operation.Operation {
	group := operation.Group{
		Surface: operation.Management, Tag: "Governance", Name: "rulesets", Path: "/api/rulesets", Permission: access.Governance,
		Style: operation.Style{Word: "success"},
	}
	opts := []operation.Option{
		operation.Refuses(403), operation.Faulting(codeOff),
		operation.Notes("The response is always 403 for any body. Nothing is stored."),
		operation.Example(nil, map[string]any{"Status": "Error", "Message": off, "Meta": nil}),
	}
	rulesets := group.Rows(
		operation.GET("list", "", "List rulesets", s.refuse, opts...),
		operation.POST("create", "", "Create a ruleset", s.refuse, opts...),
		operation.GET("get", "/{id}", "Fetch a ruleset", s.refuseOne, opts...),
		operation.PUT("replace", "/{id}", "Replace a ruleset", s.refuseOne, opts...),
		operation.DELETE("delete", "/{id}", "Delete a ruleset", s.refuseOne, opts...),
	)
	group.Permission, group.Name, group.Path = access.APIs, "evaluations", "/api/evaluations"
	reads := append([]operation.Option{operation.Reads()}, opts...)
	evaluations := group.Rows(
		operation.POST("saved", "/sandbox", "Evaluate stored APIs with rulesets", s.refuse, reads...),
		operation.POST("document", "/sandbox/oas", "Evaluate a document with rulesets", s.refuse, reads...),
	)
	group.Name, group.Path = "governance", "/api/governance"
	results := group.Rows(
		operation.GET("violations", "/evaluation-details/{apiID}", "List the ruleset violations of an API", s.refuseAPI, opts...),
		operation.GET("compliance", "/apis/{apiID}/compliance", "Fetch the ruleset compliance of an API", s.refuseAPI, opts...),
	)
	return append(append(rulesets, evaluations...), results...)
}

type rulesetIn struct {
	ID string `path:"id" doc:"Identifier of the ruleset."`
}

type apiIn struct {
	ID string `path:"apiID" doc:"Identifier of the API."`
}

func (Service) refuse(context.Context, struct{}) (operation.Receipt, error) {
	return operation.Receipt{}, fault.New(fault.Denied, codeOff, off)
}

func (s Service) refuseOne(ctx context.Context, _ rulesetIn) (operation.Receipt, error) {
	return s.refuse(ctx, struct{}{})
}

func (s Service) refuseAPI(ctx context.Context, _ apiIn) (operation.Receipt, error) {
	return s.refuse(ctx, struct{}{})
}
