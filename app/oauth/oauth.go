// Package oauth holds the use cases around OAuth clients and their tokens, which the
// gateways store (docs/wire/oauth-clients.md).
package oauth

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/oauthclient"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Config is the configuration of a Service.
type Config struct {
	Gateways gateway.Clients
	APIs     *apis.Repository
	// Policy returns a NotFound fault for a policy that gateways do not get, or that
	// the caller may not see.
	Policy    func(ctx context.Context, r store.Reader, who operation.Principal, id string) error
	Intents   *intents.Service
	Secrets   secret.Keys
	PageSize  int
	Separator string // oauth_redirect_uri_separator
}

// Service manages OAuth clients.
type Service struct {
	Config
	save   intents.Runner[saving]
	drop   intents.Runner[removal]
	revoke intents.Runner[revocation]
}

// New returns a service, and registers its actions with the intents.
func New(c Config) *Service {
	s := &Service{Config: c}
	s.save = intents.Add(c.Intents, intents.Action[saving]{Name: "oauth.save", Plan: s.savingPlan})
	s.drop = intents.Add(c.Intents, intents.Action[removal]{Name: "oauth.delete", Plan: s.removalPlan})
	s.revoke = intents.Add(c.Intents, intents.Action[revocation]{Name: "oauth.revoke", Plan: s.revocationPlan})
	return s
}

// Codes of faults.
const (
	codeMissing = oauthclient.Kind + ".not_found"
	codeForeign = oauthclient.Kind + ".foreign"
	codePolicy  = oauthclient.Kind + ".policy"
	codeRules   = oauthclient.Kind + ".key_rules"
	codeRefused = oauthclient.Kind + ".refused"
	codeGateway = oauthclient.Kind + ".gateway"
	codeSecret  = oauthclient.Kind + ".secret"
)

var missing error = fault.New(fault.NotFound, codeMissing, "OAuth client not found")

// answered turns errors of gateways into faults.
func answered(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gateway.ErrUnknown):
		return missing
	case errors.Is(err, gateway.ErrForeign):
		return fault.New(fault.Denied, codeForeign, "You don't have access to this.")
	case errors.Is(err, gateway.ErrRefused):
		return fault.New(fault.Invalid, codeRefused, "the gateway refuses this: it may not have loaded the API yet").Because(err)
	case gateway.Away(err):
		return fault.New(fault.Internal, codeGateway, "gateways do not answer as they should").Because(err)
	}
	return err
}

// answeredOf is answered for calls that gateways accept only for an API that they have
// loaded. An inactive API is not in their feed.
func answeredOf(a apidef.API, err error) error {
	if !a.Active() && (errors.Is(err, gateway.ErrRefused) || errors.Is(err, gateway.ErrUnknown)) {
		return fault.New(fault.Invalid, codeRefused, "gateways do not have the API, since it is inactive: activate it first").Because(err)
	}
	return answered(err)
}

// caller is the principal of a call and its scope.
type caller struct {
	Scope tenant.Scope
	Who   operation.Principal
}

// api returns an API of the organisation that the caller may see. Gateways know its
// clients by its api_id, whichever ID the path has.
func (s *Service) api(ctx context.Context, c caller, id string, i access.Intent) (a apidef.API, err error) {
	err = s.APIs.Store.View(ctx, c.Scope, func(r store.Reader) error {
		found, err := s.APIs.Get(ctx, r, id, s.viewer(c, i))
		a = found.Value
		return err
	})
	return a, err
}

// viewer returns the caller as a viewer of APIs. With the permission for OAuth, it sees
// APIs of every class.
func (s *Service) viewer(c caller, i access.Intent) apidef.Viewer {
	v := s.APIs.Viewer(c.Who, apidef.Classic, i)
	v.NoAPIs, v.NoMCP = false, false
	return v
}

// checkPolicy refuses a policy that the caller may not see, or that gateways do not
// get.
func (s *Service) checkPolicy(ctx context.Context, c caller, id string) error {
	if id == "" {
		return nil
	}
	err := s.APIs.Store.View(ctx, c.Scope, func(r store.Reader) error { return s.Policy(ctx, r, c.Who, id) })
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return fault.New(fault.Invalid, codePolicy, "there is no policy %.100q that gateways know", id).At("policy_id")
	}
	return err
}

// newSecret returns a new secret in the form that gateways use: base64 text.
func (s *Service) newSecret() string {
	return base64.StdEncoding.EncodeToString([]byte(s.Secrets.NewKey()))
}

// subject returns the subject of an intent about a client.
func subject(n gateway.ClientName) intent.Subject {
	return intent.Subject{Kind: oauthclient.Kind, ID: n.API + "/" + n.ID}
}
