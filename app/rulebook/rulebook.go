// Package rulebook holds the use cases around the rules of an organisation: reading and
// replacing them, trying them out, and defining additional permissions for them
// (docs/wire/rules.md).
package rulebook

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/fault"
	domain "github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// Codes of the faults of this package.
const (
	codeClosed = "rules.closed" // the API is switched off
	codeRules  = domain.CodeRules
	codeBusy   = domain.CodeRulesBusy
	codeOrg    = "rules.organisation" // a caller without organisation
	codeCall   = "rules.call"         // a description that describes no call
	codeUser   = "rules.user"         // a description that describes no user
	codeNoUser = "user.not_found"
	codeTrail  = "audit.off"
	codeLast   = "rules.last" // a number of writes that is out of range
)

// Config is the configuration of the use cases.
type Config struct {
	Identity *identity.Service
	// Workshop returns what checks and tries rules; nil: the API of rules is switched
	// off. It is called when it is needed, because it depends on all operations.
	Workshop func() rules.Workshop
	// Find returns the operation of a request, or nil.
	Find func(method, path string) (o *operation.Operation, values map[string]string)
	// Decides says that rules decide about calls, and not only permission maps.
	Decides bool
	// Trail calls a function with the audit records of an organisation, the newest
	// first, until it returns false.
	Trail func(context.Context, tenant.Scope, func(audit.Record) bool) error
}

// Service holds the use cases.
type Service struct {
	Config
	replays    chan struct{} // has one element for each running replay
	replayTime time.Duration
}

// New returns the service.
func New(c Config) *Service {
	return &Service{Config: c, replays: make(chan struct{}, maxReplays), replayTime: replayTime}
}

// Operations implements operation.Service.
func (s *Service) Operations() []operation.Operation {
	policy := policyBody{OpenPolicy: &policyText{Rules: new(exampleRules)}}
	custom := customBody{Custom: map[string]string{"billing": "See what is billed"}}
	noOrg := operation.Answer{Status: 500, Text: "Failed to identify organisation."}
	unreadable := operation.Answer{Status: 500, Text: "Failed to unmarshal response body."}
	style := func(faults map[string]operation.Answer) operation.Style {
		faults[codeOrg] = noOrg
		return operation.Style{Word: "OK", Faults: faults}
	}
	closed := operation.Switched(func(_ context.Context, c *operation.Call) error {
		_, err := s.open(c.Scope)
		return err
	})
	opa := operation.Group{
		Surface: operation.Management, Name: "rules", Path: "/api/org/opa", Tag: "Rules", Permission: access.IsAdmin,
		Style: style(map[string]operation.Answer{}),
	}.Rows(
		operation.GET("get", "", "Read the rules that apply to the organisation", s.Rules, operation.Faulting(codeClosed, codeOrg),
			operation.Example(nil, operation.Entity[policyBody]{Value: policy}),
			operation.Notes("If the organisation has no rules of its own, those of the service apply.")),
		operation.PUT("replace", "", "Replace the rules of the organisation", s.SetRules, closed, operation.Faulting(codeClosed, codeOrg, codeRules, codeBusy),
			operation.Answers(map[string]operation.Answer{
				codeRules: {Text: "Invalid OPA rules."}, operation.CodeMalformed: unreadable, operation.CodeEmptyBody: unreadable,
			}),
			operation.Limits(maxBody, deadline), operation.Redact("rules"), operation.Rehearsable(nil), operation.Example(policy, operation.Receipt{Message: rulesStored}),
			operation.Notes("An empty text removes the rules; those of the service apply again. Invalid rules are refused, and the stored rules do not change; rules.evaluate shows the errors.")),
		operation.POST("evaluate", "/evaluate", "Evaluate rules for a described request", s.Evaluate, closed,
			operation.Faulting(codeClosed, codeOrg, codeRules, codeBusy, codeCall, codeUser, codeNoUser), operation.Limits(maxBody, deadline), operation.Redact("rules"),
			operation.Example(exampleTrial, exampleFinding),
			operation.Notes("The described request is not carried out. Rules see its body unchanged. Without open_policy, the rules in force are tried. Without user, the caller is the user.")),
		operation.POST("replay", "/replay", "Evaluate rules for the writes in the audit trail", s.Replay, closed,
			operation.Faulting(codeClosed, codeOrg, codeRules, codeBusy, codeUser, codeLast, codeTrail),
			operation.Limits(maxBody, deadline), operation.Redact("rules"), operation.Example(exampleReplayed, exampleReplay),
			operation.Notes("The response lists the newest successful writes that the rules would have refused. Nothing is changed. Without open_policy, the rules in force are tried. The audit trail has no bodies and no headers. Rules see only the members that a request changed, and `certain` is false where they may have read more. Users and data that rules look up are in their present state.")),
	)
	permissions := operation.Group{
		Surface: operation.Management, Name: "permissions", Path: "/api/org/permissions", Tag: "Rules", Permission: access.IsAdmin,
		Style: style(map[string]operation.Answer{}),
	}.Rows(
		operation.GET("get", "", "Read the additional permissions of the organisation", s.Custom, operation.AnyUser(),
			operation.Example(nil, operation.Entity[customBody]{Value: custom}),
			operation.Notes("Only rules use additional permissions. An organisation that has not stored any, and a user without an organisation, have those of security.additional_permissions.")),
		operation.PUT("replace", "", "Replace the additional permissions of the organisation", s.SetCustom, operation.Faulting(access.CodeCustom, codeOrg),
			operation.Answers(map[string]operation.Answer{
				operation.CodeMalformed: unreadable, operation.CodeEmptyBody: {Status: 400, Text: "Failed to read response body."},
			}),
			operation.Limits(maxBody, 0), operation.Rehearsable(nil), operation.Example(custom, operation.Receipt{Message: customStored}),
			operation.Notes("The whole map is replaced. Users keep their entries for permissions that are removed.")),
	)
	return append(opa, permissions...)
}

// Bounds of requests: the size allows the largest rules with a body to try them on, the
// time compiling and evaluating.
const (
	maxBody  = 4 << 20
	deadline = 10 * time.Second
)

const (
	rulesStored  = "OPA rules has been updated on org level."
	customStored = "Additional Permissions updated in org level."
)

// policyBody is the form of rules in requests and responses. Older versions had a
// member enabled, which is ignored.
type policyBody struct {
	OpenPolicy *policyText `json:"open_policy" doc:"Rules of the organisation."`
}

type policyText struct {
	Rules *string `json:"rules" doc:"Rego text in the package dashboard_users. Empty: the organisation has no rules of its own."`
}

// text returns the rules in a body. ok is false if it has none.
func (b policyBody) text() (string, bool) {
	if b.OpenPolicy == nil || b.OpenPolicy.Rules == nil {
		return "", false
	}
	return *b.OpenPolicy.Rules, true
}

type readIn struct {
	Scope tenant.Scope
}

// Rules returns the rules that decide about calls in the caller's organisation.
func (s *Service) Rules(ctx context.Context, in readIn) (operation.Entity[policyBody], error) {
	text, tag, err := s.inForce(ctx, in.Scope)
	return operation.Entity[policyBody]{Value: policyBody{OpenPolicy: &policyText{Rules: &text}}, Tag: tag}, err
}

// inForce returns the rules of an organisation and their entity tag, or those of the
// service, which have no tag.
func (s *Service) inForce(ctx context.Context, scope tenant.Scope) (text, tag string, err error) {
	w, err := s.open(scope)
	if err != nil {
		return "", "", err
	}
	o, err := s.Identity.Organisation(ctx, scope.Org())
	if err != nil {
		return "", "", err
	}
	if own := o.Value.OpenPolicy.Rules; own != "" {
		return own, operation.Tag(o.Serial), nil
	}
	return w.Shared(), "", nil
}

// open returns the workshop. It refuses callers if the API is switched off, and callers
// without organisation.
func (s *Service) open(scope tenant.Scope) (rules.Workshop, error) {
	w := s.Workshop()
	if w == nil {
		return nil, fault.New(fault.Denied, codeClosed, "access denied: the API of rules is switched off. security.open_policy.enable_api switches it on.")
	}
	return w, belongs(scope)
}

func belongs(scope tenant.Scope) error {
	if scope.Org() == "" {
		return fault.New(fault.Invalid, codeOrg, "a user without organisation has no rules")
	}
	return nil
}

type setRulesIn struct {
	Scope tenant.Scope
	Match operation.Match
	Body  policyBody `body:""`
}

// SetRules replaces the rules of the caller's organisation if they are usable.
func (s *Service) SetRules(ctx context.Context, in setRulesIn) (operation.Receipt, error) {
	w, err := s.open(in.Scope)
	if err != nil {
		return operation.Receipt{}, err
	}
	text, ok := in.Body.text()
	if !ok {
		return operation.Receipt{}, fault.New(fault.Invalid, codeRules, "open_policy.rules must be a text; an empty one removes the rules").At("open_policy.rules")
	}
	if err := Usable(ctx, w, in.Scope.Org(), text); err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.Identity.Choose(ctx, in.Scope, in.Match.Check, func(o domain.Organisation) (domain.Organisation, error) {
		o.OpenPolicy.Rules = text
		return o, nil
	})
	return operation.Receipt{Message: rulesStored, Tag: operation.Tag(at)}, err
}

// Usable refuses a text that cannot be the rules of an organisation; all operations
// that store rules use it. An empty text means no rules. Without a checker, every text
// is accepted.
func Usable(ctx context.Context, c rules.Checker, org tenant.ID, text string) error {
	if c == nil || text == "" {
		return nil
	}
	return unusable(c.Check(ctx, org, text))
}

// mostTold bounds the message about a text in bytes: it quotes the wrong places.
const mostTold = 4000

// unusable turns an error of a checker into a fault.
func unusable(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rules.ErrText):
		text := err.Error()
		if len(text) > mostTold {
			text = strings.ToValidUTF8(text[:mostTold], "") + " …"
		}
		return fault.New(fault.Invalid, codeRules, "Invalid OPA rules: %s", text).At("open_policy.rules") // without Because(err): err quotes the text, and would be logged
	}
	return fault.New(fault.Unavailable, codeBusy, "the rules take too long, or too many are tried at the moment: try again, or make them simpler").Because(err)
}

type customBody struct {
	Custom map[string]string `json:"additional_permissions" doc:"Label of each additional permission, by its name."`
}

// Custom returns the additional permissions of the caller's organisation, or those of
// the service for a user without organisation.
func (s *Service) Custom(ctx context.Context, in readIn) (operation.Entity[customBody], error) {
	if in.Scope.Org() == "" {
		return operation.Entity[customBody]{Value: customBody{s.Identity.Custom(domain.Organisation{AdditionalPermissions: map[string]string{}})}}, nil
	}
	o, err := s.Identity.Organisation(ctx, in.Scope.Org())
	if err != nil {
		return operation.Entity[customBody]{}, err
	}
	return operation.EntityOf(customBody{s.Identity.Custom(o.Value)}, o.Serial), nil
}

type setCustomIn struct {
	Scope tenant.Scope
	Match operation.Match
	Body  customBody `body:""`
}

// SetCustom replaces the additional permissions of the caller's organisation.
func (s *Service) SetCustom(ctx context.Context, in setCustomIn) (operation.Receipt, error) {
	if err := belongs(in.Scope); err != nil {
		return operation.Receipt{}, err
	}
	custom := in.Body.Custom
	if custom == nil {
		return operation.Receipt{}, fault.New(fault.Invalid, access.CodeCustom, "additional_permissions must be an object of names and labels; an empty one removes all").At("additional_permissions")
	}
	if err := access.CheckCustom(custom); err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.Identity.Choose(ctx, in.Scope, in.Match.Check, func(o domain.Organisation) (domain.Organisation, error) {
		o.AdditionalPermissions, o.NoAdditional = custom, len(custom) == 0
		return o, nil
	})
	return operation.Receipt{Message: customStored, Tag: operation.Tag(at)}, err
}
