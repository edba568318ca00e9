package outbound

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// GatewayAPI is the control API of a gateway (docs/wire/gateway-nodes.md#control-api).
type GatewayAPI struct {
	URL    string // without a path; "" means that none is configured
	Secret string
}

// Debug runs a request through a definition that no gateway has loaded.
type Debug struct {
	Fetcher fetch.Fetcher
	Gateway GatewayAPI
}

// Codes of the faults of a trial.
const (
	codeTrial     = "debug.invalid"
	codeNoGateway = "debug.unavailable"
)

// Operations lists the only operation.
func (d *Debug) Operations() []operation.Operation {
	return operation.Group{
		Surface: operation.Management, Name: "debug", Path: "/api/debug", Tag: "Proxy", Permission: access.APIs,
		Style: operation.Style{Word: "OK"},
	}.Rows(operation.POST("run", "", "Send a test request through an API definition at a gateway", d.Run, operation.Faulting(codeTrial, codeNoGateway),
		operation.Redact("request", "spec", "oas"),
		operation.Notes("The gateway of tyk_api_config runs the request and reports the result. Nothing is stored."),
		operation.Example(map[string]any{"request": map[string]any{"method": "GET", "path": "/"}, "spec": map[string]any{"name": "Trial", "proxy": map[string]any{"listen_path": "/", "target_url": "http://orders.internal/"}}},
			map[string]any{"message": "ok", "response": "====== Request ======\n…", "logs": ""})))
}

type runIn struct {
	Scope tenant.Scope
	Body  doc.Object `body:""`
}

// Run sends a trial to the gateway and returns the response.
func (d *Debug) Run(ctx context.Context, in runIn) (json.RawMessage, error) {
	if d.Gateway.URL == "" {
		return nil, fault.New(fault.Unavailable, codeNoGateway, "no gateway is configured to run requests at: set tyk_api_config")
	}
	body, err := ownTrial(in.Body, in.Scope.Org()).AppendJSON(nil)
	if err != nil {
		return nil, err
	}
	answer, err := d.Fetcher.Fetch(ctx, fetch.Request{
		Method: "POST", URL: d.Gateway.URL + "/tyk/debug", Body: body, Trusted: true,
		Header: map[string]string{"X-Tyk-Authorization": d.Gateway.Secret, "Content-Type": "application/json"},
	})
	switch {
	case err != nil:
		return nil, fault.New(fault.Unavailable, codeNoGateway, "the gateway did not answer").Because(err)
	case answer.Status == http.StatusBadRequest:
		var said struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(answer.Body, &said) != nil || said.Message == "" {
			said.Message = "the gateway cannot run this request"
		}
		return nil, fault.New(fault.Invalid, codeTrial, "%s", said.Message)
	case answer.Status != http.StatusOK || doc.Check(answer.Body, maxDepth) != nil:
		return nil, fault.New(fault.Unavailable, codeNoGateway, "the gateway could not run the request")
	}
	return answer.Body, nil
}

// ownTrial sets the organisation of the definition to that of the caller. It handles
// every letter case of the member names, because gateways ignore case.
func ownTrial(body doc.Object, org tenant.ID) doc.Object {
	e := body.Edit()
	for name, raw := range body.All() {
		if !strings.EqualFold(name, "spec") || !doc.IsObject(raw) {
			continue
		}
		spec, err := doc.ParseNode(raw)
		if err != nil {
			continue
		}
		for _, member := range spec.Names() {
			if strings.EqualFold(member, "org_id") {
				spec.Delete(member)
			}
		}
		spec.Set("org_id", doc.NewString(string(org)))
		e.Set(name, spec.JSON())
	}
	return e.Object()
}
