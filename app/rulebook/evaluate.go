package rulebook

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

const exampleRules = "package dashboard_users\n\ndeny[\"Ask the platform team\"] {\n\tinput.request.method == \"DELETE\"\n}\n"

var (
	exampleCoverage = rules.Coverage{Lines: 2, Ran: 2, Covered: []rules.Lines{{From: 3, To: 4}}, Missed: []rules.Lines{}}

	exampleTrial = map[string]any{
		"method": "DELETE", "path": "/api/apis/oas/orders", "user": map[string]any{"user_permissions": map[string]string{"apis": "write"}},
		"open_policy": map[string]string{"rules": exampleRules}, "trace": true,
	}
	exampleFinding = Finding{
		Verdict: Denied, Reasons: []string{"Ask the platform team"}, Message: "access denied: Ask the platform team", Rules: FromRequest, InForce: true,
		Operation: Called{"oas.delete", access.APIs, access.Delete}, Trace: []rules.Step{{Op: "Enter", Row: 3, Text: `deny["Ask the platform team"] { …`}}, Coverage: &exampleCoverage,
	}
)

// trial is the description of a request.
type trial struct {
	policyBody
	Method string          `json:"method" doc:"HTTP method of the request, such as PUT."`
	Path   string          `json:"path" doc:"Path of the request, with /api and the query."`
	Body   json.RawMessage `json:"body,omitempty" doc:"Body of the request, which the rules get unchanged."`
	User   *described      `json:"user,omitempty" doc:"User who sends the request: an id of a user of the organisation, or a described user. Default: the caller."`
	Traced bool            `json:"trace,omitempty" doc:"true: the response includes the steps of the evaluation."`
}

// described is a user of the organisation, or an invented one.
type described struct {
	ID          string     `json:"id,omitempty" doc:"Identifier of the user."`
	Permissions access.Map `json:"user_permissions,omitempty" doc:"Level of each permission. If present, the user is taken as described and is not looked up."`
	Active      *bool      `json:"active,omitempty" doc:"Whether the described user is active. Default: true."`
	Email       string     `json:"email_address,omitempty" doc:"E-mail address of the described user."`
	GroupID     string     `json:"group_id,omitempty" doc:"User group of the described user."`
	GroupName   string     `json:"group_name,omitempty" doc:"Name of the user group of the described user."`
}

// Verdicts of a trial.
const (
	Allowed   = "allow"
	Denied    = "deny"
	Undecided = "none" // the request would fail
)

// Sources of the rules of a trial.
const (
	FromRequest      = "request"
	FromOrganisation = "organisation"
	FromService      = "service"
)

// Called is the operation of a request.
type Called struct {
	ID         string            `json:"id" doc:"ID of the operation."`
	Permission access.Permission `json:"permission" doc:"Permission that the operation needs."`
	Intent     access.Intent     `json:"intent" doc:"Kind of access: read, write or delete."`
}

// Finding is the result of a trial.
type Finding struct {
	Verdict   string          `json:"verdict" doc:"allow, deny or none. none: the rules gave no verdict, and the request would fail."`
	Reasons   []string        `json:"reasons" doc:"Reasons why the request would be refused."`
	Message   string          `json:"message,omitempty" doc:"Message that the caller would get."`
	Failure   string          `json:"failure,omitempty" doc:"Error that prevented a verdict."`
	Patch     json.RawMessage `json:"patch,omitempty" doc:"Merge patch that would be applied to the body."`
	Rules     string          `json:"rules" doc:"Source of the rules that were tried: request, organisation or service."`
	InForce   bool            `json:"in_force" doc:"true: rules decide about requests. false: permission maps decide."`
	Operation Called          `json:"operation" doc:"Operation that the request would call."`
	Trace     []rules.Step    `json:"trace,omitempty" doc:"First steps of the evaluation, without values."`
	TraceCut  bool            `json:"trace_cut,omitempty" doc:"true: the evaluation had more steps."`
	Coverage  *rules.Coverage `json:"coverage,omitempty" doc:"Lines of the rules that were evaluated."`
}

type evaluateIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	Body  trial `body:""`
}

// Evaluate evaluates rules on a described request, which is not carried out.
func (s *Service) Evaluate(ctx context.Context, in evaluateIn) (Finding, error) {
	w, err := s.open(in.Scope)
	if err != nil {
		return Finding{}, err
	}
	// The call that the body describes.
	b := in.Body
	at, err := url.Parse(b.Path)
	if err != nil || !strings.HasPrefix(b.Path, "/") || at.Host != "" {
		return Finding{}, fault.New(fault.Invalid, codeCall, "path must be a path with /api, such as /api/apis").At("path")
	}
	method := strings.ToUpper(cmp.Or(b.Method, "GET"))
	o, values := s.Find(method, at.Path)
	if o == nil || o.Surface != operation.Management || o.Public {
		return Finding{}, fault.New(fault.Invalid, codeCall, "no operation that rules decide about is called by %s %s", method, at.Path).At("path")
	}
	who, err := s.caller(ctx, in)
	if err != nil {
		return Finding{}, err
	}
	c := &operation.Call{Spec: &o.Spec, Principal: who, Scope: in.Scope, Method: method, RawPath: at.EscapedPath(), Path: values}
	c.Query, c.Garbled = operation.ReadQuery(at.RawQuery)
	if len(b.Body) > 0 && !slices.Equal(b.Body, json.RawMessage("null")) {
		c.Body = o.Canonical(b.Body)
	}
	k, whose, err := s.candidate(ctx, w, in.Scope, in.Body.policyBody)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{Rules: whose, InForce: s.Decides, Operation: Called{c.Spec.ID, c.Spec.Permission, c.Spec.Intent}}
	t, err := k.Try(ctx, c, in.Body.Traced)
	if err != nil {
		return Finding{}, unusable(err)
	}
	covered := k.Coverage()
	f.Coverage = &covered
	return f.of(t, in.Body.Traced), nil
}

// candidate returns the rules for a trial, those in the request or those in force, and
// their source.
func (s *Service) candidate(ctx context.Context, w rules.Workshop, scope tenant.Scope, sent policyBody) (rules.Candidate, string, error) {
	text, own := sent.text()
	whose := FromRequest
	if !own {
		stored, tag, err := s.inForce(ctx, scope)
		if err != nil {
			return nil, "", err
		}
		text, whose = stored, FromOrganisation
		if tag == "" {
			whose = FromService
		}
	}
	k, err := w.Read(ctx, scope.Org(), text)
	return k, whose, unusable(err)
}

// of sets the result of the rules.
func (f Finding) of(t rules.Trial, traced bool) Finding {
	f.Verdict, f.Reasons, f.Failure, f.Patch = Allowed, append([]string{}, t.Denials...), t.Failure, t.Patch
	switch {
	case t.Failure != "":
		f.Verdict = Undecided
	case len(t.Denials) > 0:
		f.Verdict, f.Message, f.Patch = Denied, "access denied: "+strings.Join(t.Denials, "; "), nil
	}
	if traced {
		f.Trace, f.TraceCut = t.Trace, t.Cut
	}
	return f
}

// caller returns the principal in a description. It cannot be one of another
// organisation.
func (s *Service) caller(ctx context.Context, in evaluateIn) (operation.Principal, error) {
	u := in.Body.User
	if u == nil {
		return in.Who, nil
	}
	if !in.Who.Permissions.Admin() { // callers whom only rules admit must not learn what other users may do
		return operation.Principal{}, fault.New(fault.Denied, codeUser, "access denied: only an admin can try rules as another user").At("user")
	}
	if u.Permissions == nil {
		if u.ID == "" {
			return operation.Principal{}, fault.New(fault.Invalid, codeUser, "user needs an id or user_permissions").At("user")
		}
		p, err := s.Identity.Someone(ctx, in.Scope, u.ID)
		if fault.KindOf(err) == fault.NotFound {
			err = fault.New(fault.NotFound, codeNoUser, "no user of the organisation has this id").At("user.id")
		}
		return p, err
	}
	if group, ok := u.Permissions.Valid(); !ok {
		return operation.Principal{}, fault.New(fault.Invalid, codeUser, "the level of %q must be read, write, admin or deny", group).At("user.user_permissions")
	}
	return operation.Principal{
		ID: u.ID, OrgID: in.Scope.Org(), GroupID: u.GroupID, GroupName: u.GroupName, Email: u.Email,
		Active: u.Active == nil || *u.Active, Permissions: u.Permissions,
	}, nil
}
