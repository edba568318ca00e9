package oauth

import (
	"context"
	"crypto/subtle"
	"net/url"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/oauthclient"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Bounds of requests, in bytes and in number of names.
const (
	maxRules = 256 << 10
	maxNamed = 200
	maxToken = 4 << 10
)

// Authorization is the request of a login page after a person has agreed.
type Authorization struct {
	ResponseType string `json:"response_type" doc:"code or token."`
	Client       string `json:"client_id"`
	RedirectURI  string `json:"redirect_uri"`
	KeyRules     string `json:"key_rules,omitempty" doc:"Session of the token as a JSON string, for clients without a policy."`
}

// Fill implements operation.Form.
func (a *Authorization) Fill(fields url.Values) {
	a.ResponseType, a.Client = fields.Get("response_type"), fields.Get("client_id")
	a.RedirectURI, a.KeyRules = fields.Get("redirect_uri"), fields.Get("key_rules")
}

type authorizeIn struct {
	ofAPI
	Body Authorization `body:""`
}

// Authorize gets a code or a token for a client from a gateway.
func (s *Service) Authorize(ctx context.Context, in authorizeIn) (*doc.Node, error) {
	a, err := s.api(ctx, in.caller(), in.API, access.Write)
	if err != nil {
		return nil, err
	}
	b := in.Body
	if b.ResponseType != "code" && b.ResponseType != "token" {
		return nil, fault.New(fault.Invalid, oauthclient.CodeInvalid, "response_type must be code or token").At("response_type")
	}
	if !oauthclient.ValidID(b.Client) {
		return nil, missing
	}
	org, name := in.Scope.Org(), gateway.ClientName{API: a.APIID(), ID: b.Client}
	client, err := s.Gateways.Client(ctx, org, name)
	if err != nil {
		return nil, answered(err)
	}
	if !slices.Contains(oauthclient.Redirects(client.RedirectURI, s.Separator), b.RedirectURI) {
		return nil, fault.New(fault.Invalid, oauthclient.CodeInvalid, "redirect_uri is not one of the client's").At("redirect_uri")
	}
	rules, err := s.rules(ctx, in.caller(), b.KeyRules, client.Policy != "")
	if err != nil {
		return nil, err
	}
	out, err := s.Gateways.Authorize(ctx, org, gateway.Authorization{
		Client: name, Domain: a.Domain(), ListenPath: a.ListenPath(), ResponseType: b.ResponseType, RedirectURI: b.RedirectURI, KeyRules: rules,
	})
	return out, answeredOf(a, err)
}

// rules parses the session of a token. The session may name only APIs and policies that
// the caller sees.
func (s *Service) rules(ctx context.Context, c caller, text string, optional bool) (*doc.Node, error) {
	wrong := func(format string, args ...any) error {
		return fault.New(fault.Invalid, codeRules, format, args...).At("key_rules")
	}
	if text == "" && optional {
		return nil, nil
	}
	if len(text) > maxRules {
		return nil, wrong("key_rules may have %d KiB", maxRules>>10)
	}
	session, err := doc.ParseNode([]byte(text))
	if err != nil || !session.Is(doc.TypeObject) {
		return nil, wrong("the client has no policy: key_rules must be the session of the token, a JSON object")
	}
	if problems := key.Table.Check(session); len(problems) > 0 {
		return nil, wrong("key_rules: %s", problems[0].String())
	}
	apis, policies := key.APIs(session), key.Policies(session)
	switch {
	case len(apis)+len(policies) == 0 && !optional:
		return nil, wrong("the client has no policy: key_rules needs access_rights or apply_policies")
	case len(apis)+len(policies) > maxNamed:
		return nil, wrong("key_rules may name %d APIs and policies", maxNamed)
	}
	for _, id := range policies {
		if err := s.checkPolicy(ctx, c, id); err != nil {
			return nil, err
		}
	}
	err = s.APIs.Store.View(ctx, c.Scope, func(r store.Reader) error {
		for _, id := range apis {
			if _, err := s.APIs.Get(ctx, r, id, s.viewer(c, access.Read)); err != nil {
				return wrong("key_rules names the API %.100q, which you cannot see", id)
			}
		}
		return nil
	})
	session.Set("org_id", doc.NewString(string(c.Scope.Org())))
	return session, err
}

// Revocation says which token of a client is revoked.
type Revocation struct {
	Token  string `json:"token,omitempty"`
	Hint   string `json:"token_type_hint,omitempty" doc:"access_token or refresh_token."`
	Secret string `json:"client_secret,omitempty" doc:"Secret of the client, to revoke all its tokens."`
}

// Fill implements operation.Form.
func (r *Revocation) Fill(fields url.Values) {
	r.Token, r.Hint, r.Secret = fields.Get("token"), fields.Get("token_type_hint"), fields.Get("client_secret")
}

type revokeIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	ID    string     `path:"clientId" doc:"ID of the client."`
	Body  Revocation `body:""`
}

// Message is a response of the authorisation server.
type Message struct {
	Message string `json:"message"`
}

// Revoke revokes one token of a client.
func (s *Service) Revoke(ctx context.Context, in revokeIn) (Message, error) {
	if _, err := s.ofClient(ctx, in); err != nil {
		return Message{}, err
	}
	switch {
	case in.Body.Token == "" || len(in.Body.Token) > maxToken:
		return Message{}, fault.New(fault.Invalid, oauthclient.CodeInvalid, "token must be the token that is revoked").At("token")
	case !slices.Contains([]string{"", "access_token", "refresh_token"}, in.Body.Hint):
		return Message{}, fault.New(fault.Invalid, oauthclient.CodeInvalid, "token_type_hint must be access_token or refresh_token").At("token_type_hint")
	}
	return s.revoked(ctx, in, "token revoked successfully", revocation{Client: in.ID, Token: in.Body.Token, Hint: in.Body.Hint})
}

// RevokeAll revokes all tokens of a client.
func (s *Service) RevokeAll(ctx context.Context, in revokeIn) (Message, error) {
	clients, err := s.ofClient(ctx, in)
	if err != nil {
		return Message{}, err
	}
	// Gateways accept any secret, so the secret of the caller is checked here.
	if !slices.ContainsFunc(clients, func(c gateway.Client) bool {
		return c.Secret != "" && subtle.ConstantTimeCompare([]byte(c.Secret), []byte(in.Body.Secret)) == 1
	}) {
		return Message{}, fault.New(fault.Denied, codeSecret, "client_secret is not the secret of the client").At("client_secret")
	}
	return s.revoked(ctx, in, "tokens revoked successfully", revocation{Client: in.ID, Secret: in.Body.Secret})
}

// ofClient returns the clients with an ID, one for each API that has one: a revocation
// concerns all of them. It returns an error if the caller sees one of these APIs and
// may not change it.
func (s *Service) ofClient(ctx context.Context, in revokeIn) ([]gateway.Client, error) {
	if !oauthclient.ValidID(in.ID) {
		return nil, missing
	}
	org := in.Scope.Org()
	apis, err := s.Gateways.ClientAPIs(ctx, org, in.ID)
	if err != nil {
		return nil, answered(err)
	}
	var found []gateway.Client
	for _, api := range apis {
		a, err := s.api(ctx, caller{in.Scope, in.Who}, api, access.Write)
		if err != nil && fault.KindOf(err) == fault.NotFound {
			continue // left over from a deleted API, or of an API of another organisation
		}
		if err != nil {
			return nil, err
		}
		c, err := s.Gateways.Client(ctx, org, gateway.ClientName{API: a.APIID(), ID: in.ID})
		if err != nil {
			return nil, answered(err)
		}
		found = append(found, c)
	}
	if len(found) == 0 {
		return nil, missing
	}
	return found, nil
}

func (s *Service) revoked(ctx context.Context, in revokeIn, text string, r revocation) (Message, error) {
	return Message{text}, answered(s.revoke.Run(ctx, in.Scope, subject(gateway.ClientName{ID: in.ID}), &r))
}
