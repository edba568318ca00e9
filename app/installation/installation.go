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
		operation.GET("control", "/control", "Show whether the gateways that store keys, OAuth clients and certificates respond", s.Control,
			operation.Notes("The response describes the last call to each gateway; no new call is made. Without tyk_api_config.Host there are no such gateways, and the service keeps everything in its own store."),
			operation.Example(nil, State{Gateways: []Gateway{{URL: "http://gateway-1:8080", Asked: true, Answers: true, Since: time.Unix(1767323045, 0).UTC(), Breaker: gateway.BreakerClosed}}}))),
		admins.Rows(operation.POST("reload", "/reload", "Reload all gateways", s.Reload, operation.Faulting(codeGateway),
			operation.Answers(map[string]operation.Answer{codeGateway: {Status: 500, Text: "Could not reload gateways"}}),
			operation.Notes("Gateways reload within two seconds or so; the response does not wait for them."),
			operation.Example(nil, map[string]any{"Status": "OK", "Message": "Gateways are told to reload", "Meta": nil})))...)
	return append(ops, s.orgKeys()...)
}

// State is the state of the gateways.
type State struct {
	Gateways []Gateway `json:"gateways"`
	Own      bool      `json:"own_store" doc:"true: no gateway is configured, and the service stores keys, OAuth clients and certificates itself."`
}

// Gateway is the state of one gateway.
type Gateway struct {
	URL     string          `json:"url"`
	Asked   bool            `json:"asked" doc:"true: the service has called the gateway since its start."`
	Answers bool            `json:"answers" doc:"true: the gateway sent a valid response to the last call."`
	Since   time.Time       `json:"since,omitzero" doc:"Since when answers has its value."`
	Breaker gateway.Breaker `json:"breaker" doc:"State of the circuit breaker. closed: the service calls the gateway. open: calls failed repeatedly, and the service pauses. trying: the next call tests whether the gateway responds again."`
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
