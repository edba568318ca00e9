package apps

import (
	"context"
	"fmt"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of the faults of access requests.
const (
	CodeQuota   = "portal_access.quota"   // the user has reached the plan's limit
	CodePending = "portal_access.pending" // the request was made, but could not be approved
)

type provisioning struct {
	named
	Body table.Body[request.Order] `body:""`
}

// provision makes an access request, and approves it if its plan says so.
func (s *Service) provision(ctx context.Context, in provisioning) (portal.Done, error) {
	var req request.Request
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) (err error) {
		a, err := portal.Find(ctx, w, Kind, in.App)
		if err == nil {
			req, err = s.requested(ctx, w, asking{app: a, by: a.UserID}, in.Body, portal.Resolver(ctx, w))
		}
		return err
	})
	if err == nil && req.ProvisionImmediately {
		var waits bool
		if waits, err = s.approveAtOnce(ctx, in.Scope, req.ID); waits && fault.KindOf(err) == fault.Invalid {
			err = fault.New(fault.Invalid, CodePending, "access request %d is pending: %s", req.ID, message(err)).Because(err)
		}
	}
	return portal.Executed("Provision"), err
}

// asking is the app for which a user requests access.
type asking struct {
	app    application.App
	by     table.ID
	ticket string // of the call; "": none
	asks   string // what the call says
}

// requested stores a user's access request for an app. resolve restricts which records it may
// name.
func (s *Service) requested(ctx context.Context, w store.Writer, of asking, body table.Body[request.Order], resolve table.Resolve) (req request.Request, err error) {
	a, by := of.app, of.by
	n, err := w.Count(ctx, store.Query{Kind: request.Kind, Index: byApp, Sorted: true, Prefix: below(a.ID)})
	if err != nil {
		return req, err
	}
	if n >= maxRequests {
		return req, fault.New(fault.Invalid, CodeMany, "the app has too many access requests (the maximum is %d)", maxRequests)
	}
	// Clients of the API send a client type with every order: it is checked only if the
	// products use client registration.
	var order request.Order
	untyped := request.Untyped(body)
	wrong := untyped.Apply(&order, true, resolve)
	var list []productOf
	for _, id := range order.ProductIDs {
		v, err := portal.Find(ctx, w, products.Kind, id.String())
		if err != nil {
			return req, err
		}
		list = append(list, v)
	}
	if request.Register(list) {
		wrong = body.Apply(&order, true, resolve)
	}
	if wrong != nil {
		return req, wrong
	}
	p, err := portal.Find(ctx, w, plans.Kind, order.PlanID.String())
	if err != nil {
		return req, err
	}
	if req, err = s.ordered(ctx, w, a, order, p, list); err != nil {
		return req, err
	}
	if err := s.allow(ctx, w, p, by); err != nil {
		return req, err
	}
	if by != req.UserID {
		req.AskedBy = by
	}
	req.Ticket, req.TicketFor = of.ticket, of.asks
	return portal.Add(ctx, w, Requests, s.Stamp(s.Scope), req)
}

// ordered returns the request for an order, or why it cannot be carried out.
func (s *Service) ordered(ctx context.Context, r store.Reader, a application.App, o request.Order, p planOf, list []productOf) (req request.Request, err error) {
	if err := o.Checked(p, list).Err(); err != nil {
		return req, err
	}
	req = o.Of(a.ID, a.UserID, p, list)
	if req.Certificate != "" {
		known, err := credential.ReadCertificate(req.Certificate)
		if err == nil {
			err = known.Ended(s.Now())
		}
		if err != nil {
			return req, err
		}
		req.Certificate = known.PEM
	}
	if method := methodOf(req); method != issuers.Nothing {
		if _, err := s.issuer(method, req.AuthType); err != nil {
			return req, err
		}
	}
	if o.CredentialID == 0 {
		return req, nil
	}
	c, err := portal.Find(ctx, r, Credentials, o.CredentialID.String())
	if err == nil {
		err = c.Reusable(req, s.Now()).Err()
	}
	if err == nil {
		err = alone(ctx, r, req)
	}
	if err == nil && req.AuthType == request.MultiAuth && c.Managed != (list[0].Mode() == product.Managed) {
		err = table.Problems{"CredentialID has certificates of other people"}.Err()
	}
	return req, err
}

// alone refuses a request for a credential that another pending request is going to change.
// If two requests add the same product only one can be approved, and two that are approved at
// once would change the credential at the same moment.
func alone(ctx context.Context, r store.Reader, req request.Request) error {
	all, err := requestsOf(ctx, r, req.AppID)
	if err != nil {
		return err
	}
	for _, other := range all {
		switch {
		case other.Status != request.Pending || other.CredentialID != req.CredentialID:
		case req.Repeats(other):
			return table.Problems{fmt.Sprintf("CredentialID: access request %s asks for the product already", other.ID)}.Err()
		case hastens(other):
			return fault.New(fault.Invalid, CodeBusy, "access request %s for the credential is being approved: try again in a moment", other.ID)
		}
	}
	return nil
}

// allow counts a request against the plan's limit for a user.
func (s *Service) allow(ctx context.Context, w store.Writer, p planOf, user table.ID) error {
	if p.PlanQuota == 0 {
		return nil
	}
	now := request.Allowance{Portal: w.Scope().Org(), Plan: p.ID, User: user}
	v, err := allowances.Get(ctx, w, now.Key())
	fresh := fault.KindOf(err) == fault.NotFound
	switch {
	case err == nil:
		now = v.Value
	case !fresh:
		return err
	}
	now, ok := now.Take(s.Now(), p.PlanQuota, p.PlanQuotaRenewalRate)
	if !ok {
		return fault.New(fault.Invalid, CodeQuota, "Plan access quota exceeded")
	}
	if fresh {
		return allowances.Insert(ctx, w, now)
	}
	_, err = allowances.Edit(ctx, w, now.Key(), nil, func(request.Allowance) (request.Allowance, error) { return now, nil })
	return err
}

// addressed refuses a request for a client with user login, if the app has no redirect
// address. No administrator could approve it, and only the users of the app know the address.
func addressed(ctx context.Context, r store.Reader, a application.App, req request.Request) error {
	if methodOf(req) != issuers.Registration || req.CredentialID != 0 || len(a.Redirects()) > 0 {
		return nil
	}
	t, err := portal.Find(ctx, r, portal.KindOf[idp.ClientType](), req.ClientTypeID.String())
	if err != nil {
		return err
	}
	p, err := portal.Find(ctx, r, portal.KindOf[idp.Provider](), t.ProviderID.String())
	if err != nil {
		return err
	}
	return t.Addressed(p.Type, a.Redirects())
}
