package apps

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Operations returns the rows; none when there is no portal.
func (s *Service) Operations() []operation.Operation {
	if s.Scope.IsZero() {
		return nil
	}
	out := s.appRows()
	out = append(out, s.requestRows()...)
	out = append(out, s.credentialRows()...)
	out = append(out, s.customRows()...)
	out = append(out, s.ownRows()...)
	out = append(out, s.sagaRows()...)
	return append(out, s.doctorRows()...)
}

// named is a record and its app, as named in a path.
type named struct {
	Scope tenant.Scope
	App   string `path:"app_id" doc:"Number or CID of the app."`
}

// failing are the faults of operations that write elsewhere.
var failing = []string{table.CodeInvalid, CodeBusy, CodeOpen, "portal_access.refused", CodeGone, CodeMethod, CodeChanged, credential.CodeRedirects}

// CodeMany is the fault code for exceeding the number of apps or access requests.
const CodeMany = "portal_access.many"

// Bounds.
const (
	maxApps     = 1000 // of a user
	maxRequests = 1000 // of an app
)

func (s *Service) appRows() []operation.Operation {
	o := portal.Operations[application.App, Listed, Shown]{Tools: s.Tools, Resource: portal.Resource[application.App, Listed, Shown]{
		Kind: Kind, Name: "portal-apps", Path: "/apps", Param: "app_id", One: "an app", Many: "apps",
		List: list, Show: s.show, Sample: sampleApp,
		Hooks: portal.Hooks[application.App]{Prepare: s.follow, Before: settle},
	}}
	body := map[string]any{"PlanID": 1, "ProductIDs": []int{1, 2}}
	return o.Group().Rows(
		o.ListRow(operation.Notes("Newest first. Gateways read this list page by page to find subscriptions to messages.")),
		o.CreateRow(operation.Faulting(table.CodeInvalid, CodeMany), operation.Notes("`Visibility` is lowered to the widest value that the owner may share.")),
		o.GetRow(operation.Notes("The response has the access requests of the app, their credentials and their subscriptions, including secrets.")),
		o.UpdateRow(operation.Faulting(append([]string{CodeMany}, failing...)...), operation.Notes("If `RedirectURLs` changes, the clients of the app are updated at identity providers and gateways before the app is stored.")),
		operation.DELETE("delete", "/{app_id}", "Delete an app", s.delete, operation.Faulting(failing...),
			operation.Notes("The credentials of the app are revoked first, at the dashboards, identity providers or gateways that issued them. Then its access requests and the app are deleted."), operation.Example(nil, portal.Status{Status: "ok"})),
		operation.PUT("provision", "/{app_id}/provision", "Request access for an app", s.provision, portal.Action(), portal.Unprocessable(),
			operation.Faulting(append([]string{CodeMany, CodeQuota, CodePending, request.CodeState}, failing...)...),
			operation.Notes("Creates an access request. It is approved at once if the plan has automatic approval."), operation.Example(body, portal.Executed("Provision"))),
	)
}

// settle sets the visibility of an app to one that its owner may give it, and refuses an app
// over the limit. A change with an empty visibility keeps the old one, so that it does not
// share the app with more people.
func settle(ctx context.Context, w store.Writer, c *portal.Change[application.App]) error {
	if c.Op == store.Deleted {
		return nil
	}
	if c.Op == store.Updated && c.New.Visibility == "" {
		c.New.Visibility = c.Old.Visibility
	}
	if c.Op == store.Created || c.New.UserID != c.Old.UserID {
		n, err := w.Count(ctx, store.Query{Kind: application.Kind, Index: byOwner, Value: c.New.UserID.Key()})
		if err != nil {
			return err
		}
		if n >= maxApps {
			return fault.New(fault.Invalid, CodeMany, "the user has too many apps (the maximum is %d)", maxApps)
		}
	}
	owner, err := portal.Find(ctx, w, people.Users, c.New.UserID.String())
	if fault.KindOf(err) == fault.NotFound {
		return nil // a deleted owner shares nothing
	}
	if err != nil {
		return err
	}
	home, err := homeOf(ctx, w, owner.OrganisationID)
	c.New = c.New.Settled(owner, home)
	return err
}

// homeOf returns the default team of an organisation.
func homeOf(ctx context.Context, r store.Reader, id table.ID) (table.ID, error) {
	if id == 0 {
		return 0, nil
	}
	for t, err := range portal.All(ctx, r, people.Teams, id) {
		if err != nil || t.Default {
			return t.ID, err
		}
	}
	return 0, nil
}

// deletion is an app to delete.
type deletion struct {
	named
	insisting `params:""`
}

// insisting says whether records are deleted even if revocation elsewhere fails.
type insisting struct {
	Force string `query:"force" doc:"true: the records are deleted even if credentials cannot be revoked."`
}

func (i insisting) force() bool { return i.Force == "true" || i.Force == "1" }

func (s *Service) delete(ctx context.Context, in deletion) (portal.Status, error) {
	var a application.App
	err := s.Store.View(ctx, in.Scope, func(r store.Reader) (err error) {
		a, err = portal.Find(ctx, r, Kind, in.App)
		return err
	})
	if err == nil {
		err = s.remove(ctx, in.Scope, removal{App: a.ID, Force: in.force()})
	}
	return portal.Status{Status: "ok"}, err
}

// below returns an access request if it belongs to the app.
func (s *Service) below(ctx context.Context, r store.Reader, in named, id string) (a application.App, req request.Request, err error) {
	if a, err = portal.Find(ctx, r, Kind, in.App); err != nil {
		return a, req, err
	}
	req, err = portal.Find(ctx, r, Requests, id)
	if err == nil && req.AppID != a.ID {
		err = Requests.Absent()
	}
	return a, req, err
}
