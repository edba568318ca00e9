package apps

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Examples.
var (
	exampleCommon = common{ID: 3, Status: string(request.Approved), Client: "Checkout", Catalogue: "Public Catalogue", Plan: "free_plan", User: "User#7", AuthType: request.AuthToken,
		CreatedAt: "2026-01-02 03:04", UpdatedAt: "2026-01-02 03:04"}
	exampleCredential = Credential{ID: 4, AccessRequest: "AccessRequest#3", Credential: "eyJvcmciOiI1ZjFhIiwiaWQiOiI5YyIsImgiOiJtdXJtdXI2NCJ9", CredentialHash: "1de461e9ee0777bf", Expires: "2026-02-01 03:04"}
	exampleListed     = ListedRequest{exampleCommon, "Payment API,Orders API"}
	exampleRequest    = ShownRequest{exampleListed, []Credential{exampleCredential}}
	exampleWithin     = Within{common: exampleCommon, Products: []string{"Payment API", "Orders API"}, Credentials: []Credential{exampleCredential}, ProviderID: 1, PolicyService: []string{},
		WebhookEventTypes: "order.created,order.paid", WebhookSecret: "hush", WebhookURL: "https://shop.example.com/messages"}
)

// requestNamed is an access request, as named in a path.
type requestNamed struct {
	Scope tenant.Scope
	ID    string `path:"access_request_id" doc:"Number or CID of the access request."`
}

func (s *Service) requestRows() []operation.Operation {
	o := portal.Operations[request.Request, ListedRequest, ShownRequest]{Tools: s.Tools, Resource: portal.Resource[request.Request, ListedRequest, ShownRequest]{
		Kind: Requests, Name: "portal-access-requests", Path: "/access_requests", Param: "access_request_id", One: "an access request", Many: "access requests",
		List: s.listRequest, Show: s.showRequest, Sample: sampleRequest,
		Labels: []portal.Label[ListedRequest]{
			{Name: "Client", Of: func(l ListedRequest) string { return l.Client }}, {Name: "Catalogue", Of: func(l ListedRequest) string { return l.Catalogue }},
			{Name: "Plan", Of: func(l ListedRequest) string { return l.Plan }}, {Name: "Products", Of: func(l ListedRequest) string { return l.Products }},
			{Name: "User", Of: func(l ListedRequest) string { return l.User }},
		},
	}}
	rows := []operation.Row{
		o.ListRow(), o.GetRow(operation.Example(nil, exampleRequest)),
		operation.DELETE("delete", "/{access_request_id}", "Delete an access request", s.deleteRequest, operation.Faulting(failing...),
			operation.Notes(endings), operation.Example(nil, portal.Status{Status: "ok"})),
		operation.PUT("approve", "/{access_request_id}/approve", "Approve an access request", s.approveRequest, portal.Action(), portal.Unprocessable(),
			operation.Faulting(append([]string{request.CodeState}, failing...)...),
			operation.Notes("The credential is issued first. If that fails, the steps that were carried out are undone, and the access request does not change."), operation.Example(nil, portal.Executed("Approve"))),
		operation.PUT("reject", "/{access_request_id}/reject", "Reject an access request", s.reject, portal.Action(), portal.Unprocessable(), operation.Faulting(request.CodeState),
			operation.Notes("An approved access request cannot be rejected; delete it instead."), operation.Example(nil, portal.Executed("Reject"))),
	}
	subscription := map[string]any{"WebhookURL": "https://shop.example.com/messages", "WebhookSecret": "hush", "WebhookEventTypes": []string{"order.created", "order.paid"}}
	below := portal.Group("portal-app-access-requests", "/apps/{app_id}/access-requests", "apps").Rows(
		operation.GET("list", "", "List the access requests of an app", s.listNested, operation.Lists(operation.Item{Kind: request.Kind, ID: "ID"}),
			operation.Example(nil, operation.Listing[ShownRequest]{Items: []ShownRequest{exampleRequest}, Total: 1, Page: 1, PerPage: portal.DefaultPerPage})),
		operation.GET("get", "/{access_request_id}", "Fetch an access request of an app", s.getNested, operation.Example(nil, exampleRequest)),
		operation.DELETE("delete", "/{access_request_id}", "Delete an access request of an app", s.deleteNested, portal.Unprocessable(), operation.Faulting(failing...),
			operation.Notes(endings), operation.Example(nil, portal.Status{Status: "ok"})),
		operation.PUT("subscribe", "/{access_request_id}/webhook", "Set the webhook to which gateways send the messages of an access request", s.subscribe, portal.Unprocessable(), operation.Redact("WebhookSecret"),
			operation.Faulting(table.CodeInvalid, CodeSubscribe), operation.Notes("Only for approved access requests. Members that are absent in the body do not change. With an empty `WebhookURL` nothing is sent."),
			operation.Example(subscription, exampleWithin)),
	)
	return append(o.Group().Rows(append(rows, s.related()...)...), below...)
}

const endings = "The credentials of the access request are revoked first. A credential that other access requests use as well loses only the products of this one."

func (s *Service) request(ctx context.Context, in requestNamed) (req request.Request, err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		req, err = portal.Find(ctx, r, Requests, in.ID)
		return err
	})
	return req, err
}

func (s *Service) deleteRequest(ctx context.Context, in requestNamed) (portal.Status, error) {
	req, err := s.request(ctx, in)
	if err == nil {
		err = s.remove(ctx, in.Scope, removal{App: req.AppID, Request: req.ID})
	}
	return portal.Status{Status: "ok"}, err
}

func (s *Service) approveRequest(ctx context.Context, in requestNamed) (portal.Done, error) {
	req, err := s.request(ctx, in)
	if err == nil {
		err = s.Approve(ctx, in.Scope, req.ID)
	}
	return portal.Executed("Approve"), err
}

func (s *Service) reject(ctx context.Context, in requestNamed) (portal.Done, error) {
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		req, err := portal.Find(ctx, w, Requests, in.ID)
		if err != nil {
			return err
		}
		_, err = portal.Edit(ctx, w, Requests, req.ID, s.Stamp(s.Scope), func(r request.Request) (_ request.Request, err error) {
			r.Status, err = r.Status.On(request.Reject)
			return r, err
		})
		return err
	})
	return portal.Executed("Reject"), err
}

// nested is an access request of an app, as named in a path.
type nested struct {
	named
	Request string `path:"access_request_id" doc:"Number or CID of the access request."`
}

type listing struct {
	named
	portal.Page `params:""`
}

func (s *Service) listNested(ctx context.Context, in listing) (out operation.Listing[ShownRequest], err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := portal.Find(ctx, r, Kind, in.App)
		if err != nil {
			return err
		}
		all, err := requestsOf(ctx, r, a.ID)
		if err != nil {
			return err
		}
		out = portal.Excerpt(all, in.Page, func(q request.Request) (one ShownRequest) {
			if err == nil {
				one, err = s.showRequest(ctx, r, q)
			}
			return one
		})
		return err
	})
	return out, err
}

func (s *Service) getNested(ctx context.Context, in nested) (out ShownRequest, err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		_, req, err := s.below(ctx, r, in.named, in.Request)
		if err == nil {
			out, err = s.showRequest(ctx, r, req)
		}
		return err
	})
	return out, err
}

func (s *Service) deleteNested(ctx context.Context, in nested) (portal.Status, error) {
	var req request.Request
	err := s.Store.View(ctx, in.Scope, func(r store.Reader) (err error) {
		_, req, err = s.below(ctx, r, in.named, in.Request)
		return err
	})
	if err == nil {
		err = s.remove(ctx, in.Scope, removal{App: req.AppID, Request: req.ID})
	}
	return portal.Status{Status: "ok"}, err
}
