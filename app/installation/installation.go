// Package installation holds the use cases around all gateways together: whether they
// respond, a reload of everything, and the limits of organisations that gateways store
// (docs/wire/gateway-control.md#operations).
package installation

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Service controls all gateways together. Make one with New.
type Service struct {
	gateways gateway.Installation
	pageSize int
	put      intents.Runner[limits]
	drop     intents.Runner[removal]
}

// New returns a service, and registers its actions with the intents.
func New(g gateway.Installation, in *intents.Service, pageSize int) *Service {
	s := &Service{gateways: g, pageSize: pageSize}
	s.put = intents.Add(in, intents.Action[limits]{Name: "orgkeys.put", Plan: s.putting})
	s.drop = intents.Add(in, intents.Action[removal]{Name: "orgkeys.delete", Plan: s.dropping})
	return s
}

// codeGateway is the code of the fault when no gateway responds.
const codeGateway = kind + ".gateway"

// Operations lists the operations on all gateways together.
func (s *Service) Operations() []operation.Operation {
	group := operation.Group{Surface: operation.Management, Name: "gateway", Path: "/api/gateway", Tag: "Gateways", Permission: access.System, Style: operation.Style{Word: "OK"}}
	admins := group
	admins.Permission = access.IsAdmin
	ops := append(group.Rows(
		operation.GET("control", "/control", "Whether the gateways answer that the service asks for keys, OAuth clients and certificates", s.Control,
			operation.Notes("By the last call that each of them got; no call is made. Without tyk_api_config.Host there are none: the service keeps all in its own store."),
			operation.Example(nil, State{Gateways: []Gateway{{URL: "http://gateway-1:8080", Asked: true, Answers: true, Since: time.Unix(1767323045, 0).UTC(), Breaker: gateway.BreakerClosed}}}))),
		admins.Rows(operation.POST("reload", "/reload", "Have all gateways load everything anew", s.Reload, operation.Faulting(codeGateway),
			operation.Answers(map[string]operation.Answer{codeGateway: {Status: 500, Text: "Could not reload gateways"}}),
			operation.Notes("Gateways do so within a second or two; the answer does not wait for it."),
			operation.Example(nil, map[string]any{"Status": "OK", "Message": "Gateways are told to reload", "Meta": nil})))...)
	return append(ops, s.orgKeys()...)
}

// State is the state of the gateways.
type State struct {
	Gateways []Gateway `json:"gateways"`
	Own      bool      `json:"own_store" doc:"No gateway is configured: keys, OAuth clients and certificates are kept by the service itself."`
}

// Gateway is the state of one gateway.
type Gateway struct {
	URL     string          `json:"url"`
	Asked   bool            `json:"asked" doc:"It has got a call since the start of the service."`
	Answers bool            `json:"answers" doc:"Its last call was answered as gateways answer."`
	Since   time.Time       `json:"since,omitzero" doc:"When that became so."`
	Breaker gateway.Breaker `json:"breaker" doc:"closed: calls go to it; open: it failed again and again, and is left alone for a moment; trying: the next call tries whether it answers again."`
	Trouble string          `json:"trouble,omitempty" doc:"Why the last call failed."`
}

// Control returns the state of the gateways.
func (s *Service) Control(context.Context, struct{}) (State, error) {
	out := State{Gateways: []Gateway{}}
	for _, g := range s.gateways.Status() {
		out.Gateways = append(out.Gateways, Gateway(g))
	}
	out.Own = len(out.Gateways) == 0
	return out, nil
}

// Reload makes all gateways reload everything.
func (s *Service) Reload(ctx context.Context, _ struct{}) (operation.Receipt, error) {
	if err := s.gateways.Reload(ctx); err != nil {
		return operation.Receipt{}, away(err)
	}
	return operation.Receipt{Message: "Gateways are told to reload"}, nil
}

// away returns the fault when no gateway responds. The log has the cause.
func away(err error) error {
	return fault.New(fault.Internal, codeGateway, "gateways do not answer as they should").Because(err)
}
