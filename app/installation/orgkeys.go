package installation

import (
	"context"
	"errors"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// kind is the name of the keys of organisations in faults and intents.
const kind = "orgkey"

// Codes of faults.
const (
	codeMissing = kind + ".not_found"
	codeOrg     = kind + ".org_id"
	codeMoved   = kind + ".moved"
	codeType    = kind + ".type"
	codeRefused = kind + ".refused"
)

// Bounds of a session with the limits of an organisation, and of the ID of an
// organisation.
const (
	maxBody = 64 << 10 // bytes
	maxOrg  = 255      // characters
)

var (
	exampleSession = map[string]any{"org_id": "5f1a0c5d8e3b2a1f00000001", "rate": 1000, "per": 1, "quota_max": 1000000, "quota_renewal_rate": 3600}
	exampleKey     = map[string]any{"api_model": map[string]any{}, "key_id": "5f1a0c5d8e3b2a1f00000001", "data": exampleSession, "key_hash": ""}
)

// refusals sets the texts of an operation for sessions that cannot be stored.
func refusals(text string, trouble string) operation.Option {
	out := map[string]operation.Answer{codeGateway: {Status: 500, Text: trouble}}
	for _, code := range []string{codeOrg, codeType, codeRefused} {
		out[code] = operation.Answer{Status: 403, Text: text}
	}
	out[operation.CodeMalformed] = operation.Answer{Status: 403, Text: strings.Replace(text, "{message}", "the body is malformed", 1)}
	out[codeMissing] = operation.Answer{Status: 404, Text: "Org key doesn't exist"}
	out[codeMoved] = operation.Answer{Status: 500, Text: "Updating orgID of org key is not allowed"}
	return operation.Answers(out)
}

// orgKeys lists the operations of the super-admin on the limits of organisations.
func (s *Service) orgKeys() []operation.Operation {
	const notSaved, notUpdated = "Failed to save new session object to Tyk: {message}", "Failed to update session object to Tyk"
	style := operation.Style{Word: "OK", Faults: map[string]operation.Answer{
		operation.CodeEmptyBody: {Status: 500, Text: "Failed to read response body, body empty"},
		codeMissing:             {Status: 404, Text: "Could not get Org key details"},
	}}
	trouble := func(text string) operation.Option {
		return operation.Answers(map[string]operation.Answer{codeGateway: {Status: 500, Text: text}})
	}
	hidden := operation.Redact("basic_auth_data", "hmac_string", "jwt_data", "oauth_keys")
	return operation.Group{Surface: operation.Admin, Name: "admin.orgkeys", Path: "/admin/org/keys", Tag: "Gateways", Style: style}.Rows(
		operation.GET("list", "", "List the organisations that have limits", s.List, operation.Faulting(codeGateway), trouble("Failed to unmarshal keys data from Tyk API"),
			operation.Example(nil, map[string]any{"data": map[string]any{"keys": []any{"5f1a0c5d8e3b2a1f00000001"}}, "pages": 1})),
		operation.POST("create", "", "Set the limits of an organisation", s.Create, operation.Faulting(codeOrg, codeType, codeRefused, codeGateway), refusals(notSaved, notSaved),
			operation.Limits(maxBody, 0), hidden, operation.Notes("The body is a session object; its org_id names the organisation. Existing limits are replaced. Gateways check these limits first, for all keys of the organisation together."),
			operation.Example(exampleSession, exampleKey)),
		operation.GET("get", "/{keyId}", "Get the limits of an organisation", s.Get, operation.Faulting(codeMissing, codeGateway), trouble("Failed to unmarshal key data from Tyk API"),
			operation.Example(nil, exampleKey)),
		operation.PUT("replace", "/{keyId}", "Replace the limits of an organisation", s.Replace, operation.Faulting(codeMissing, codeMoved, codeType, codeRefused, codeGateway),
			refusals(notUpdated, notUpdated), operation.Limits(maxBody, 0), hidden,
			operation.Example(exampleSession, map[string]any{"Status": "OK", "Message": "Key updated", "Meta": nil})),
		operation.DELETE("delete", "/{keyId}", "Remove the limits of an organisation", s.Delete, operation.Faulting(codeMissing, codeGateway),
			operation.Answers(map[string]operation.Answer{codeMissing: {Status: 500, Text: "Could not delete key"}, codeGateway: {Status: 500, Text: "Could not delete key"}}),
			operation.Example(nil, map[string]any{"Status": "OK", "Message": "Key deleted successfully", "Meta": nil})),
	)
}

// KeyData is the key of an organisation in the form of responses.
type KeyData struct {
	Model   struct{} `json:"api_model"`
	ID      string   `json:"key_id" doc:"Identifier of the organisation."`
	Session Session  `json:"data"`
	Hash    string   `json:"key_hash" doc:"Always empty."`
}

// keyData returns the key of an organisation without its password, which no response
// has.
func keyData(org string, session *doc.Node) KeyData {
	session = session.Clone()
	session.Delete("basic_auth_data", "password")
	return KeyData{ID: org, Session: Session{session}}
}

// Keys is a page of organisations.
type Keys struct {
	Data struct {
		Keys []string `json:"keys"`
	} `json:"data"`
	Pages int `json:"pages"`
}

// List returns the organisations that have limits.
func (s *Service) List(ctx context.Context, in operation.Paging) (out Keys, err error) {
	orgs, err := s.gateways.OrgKeys(ctx)
	if err != nil {
		return out, away(err)
	}
	page, err := operation.Slice(orgs, in, s.pageSize)
	out.Pages, out.Data.Keys = page.Pages, make([]string, len(page.Items))
	for i, org := range page.Items {
		out.Data.Keys[i] = string(org)
	}
	return out, err
}

// ByOrg is the input of operations on the limits of an organisation.
type ByOrg struct {
	Org string `path:"keyId" doc:"Identifier of the organisation."`
}

// Get returns the limits of an organisation.
func (s *Service) Get(ctx context.Context, in ByOrg) (KeyData, error) {
	session, err := s.gateways.OrgKey(ctx, tenant.ID(in.Org))
	if err != nil {
		return KeyData{}, answered(err)
	}
	return keyData(in.Org, session), nil
}

// answered turns errors of gateways into faults.
func answered(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gateway.ErrUnknown):
		return fault.New(fault.NotFound, codeMissing, "the organisation has no limits")
	case errors.Is(err, gateway.ErrRefused):
		return fault.New(fault.Invalid, codeRefused, "gateways refuse the session").Because(err)
	case gateway.Away(err):
		return away(err)
	}
	return err
}

// CreateIn is a session that names its organisation.
type CreateIn struct {
	Body Session `body:""`
}

// Create sets the limits of an organisation.
func (s *Service) Create(ctx context.Context, in CreateIn) (KeyData, error) {
	if err := in.Body.typed(); err != nil {
		return KeyData{}, err
	}
	org := in.Body.node.Get("org_id").Text()
	if strings.TrimSpace(org) == "" {
		return KeyData{}, fault.New(fault.Invalid, codeOrg, "org_id is required: it says for which organisation the limits are").At("org_id")
	}
	if !label.InPath(org, maxOrg) {
		return KeyData{}, fault.New(fault.Invalid, codeOrg, "org_id: expected an organisation: at most %d characters, none of them a slash or a control character", maxOrg).At("org_id")
	}
	if err := s.store(ctx, tenant.ID(org), in.Body.node); err != nil {
		return KeyData{}, err
	}
	return keyData(org, in.Body.node), nil
}

// ReplaceIn is a session for an organisation.
type ReplaceIn struct {
	ByOrg
	Body Session `body:""`
}

// Replace replaces the limits of an organisation that has limits.
func (s *Service) Replace(ctx context.Context, in ReplaceIn) (operation.Receipt, error) {
	if err := in.Body.typed(); err != nil {
		return operation.Receipt{}, err
	}
	if _, err := s.gateways.OrgKey(ctx, tenant.ID(in.Org)); err != nil {
		return operation.Receipt{}, answered(err)
	}
	if org := in.Body.node.Get("org_id").Text(); org != "" && org != in.Org {
		return operation.Receipt{}, fault.New(fault.Invalid, codeMoved, "the limits of an organisation stay its own").At("org_id")
	}
	return operation.Receipt{Message: "Key updated"}, s.store(ctx, tenant.ID(in.Org), in.Body.node)
}

// limits is the intent to store the limits of an organisation.
type limits struct {
	Session *doc.Node `json:"session"`
}

func (s *Service) store(ctx context.Context, org tenant.ID, session *doc.Node) error {
	scope, err := tenant.Of(org)
	if err != nil {
		return err
	}
	return answered(s.put.Run(ctx, scope, intent.Subject{Kind: kind, ID: string(org)}, &limits{session}))
}

func (s *Service) putting(org tenant.ID, l *limits) intents.Plan {
	return intents.Plan{Did: store.Updated, Steps: []intents.Step{{Name: "put", Do: func(ctx context.Context) error { return s.gateways.PutOrgKey(ctx, org, l.Session) }}}}
}

// removal is the intent to delete the limits of an organisation. It has no data.
type removal struct{}

// Delete removes the limits of an organisation.
func (s *Service) Delete(ctx context.Context, in ByOrg) (operation.Receipt, error) {
	if !label.InPath(in.Org, maxOrg) { // no organisation with such an ID has limits, and not every store accepts such an ID
		return operation.Receipt{}, answered(gateway.ErrUnknown)
	}
	scope, err := tenant.Of(tenant.ID(in.Org))
	if err != nil {
		return operation.Receipt{}, err
	}
	err = s.drop.Run(ctx, scope, intent.Subject{Kind: kind, ID: in.Org}, &removal{})
	return operation.Receipt{Message: "Key deleted successfully"}, answered(err)
}

func (s *Service) dropping(org tenant.ID, _ *removal) intents.Plan {
	return intents.Plan{Did: store.Deleted, Steps: []intents.Step{{Name: "delete", Do: func(ctx context.Context) error {
		err := s.gateways.DeleteOrgKey(ctx, org)
		if errors.Is(err, gateway.ErrUnknown) && intents.Repeated(ctx) {
			return nil
		}
		return err
	}}}}
}
