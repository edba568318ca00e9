package apps

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// approval is the data of the saga of an approval.
type approval struct {
	Request table.ID
	// AuthType and DCREnabled are those of the products when the approval began; AuthType "":
	// those of the request.
	AuthType   string `json:",omitempty"`
	DCREnabled bool   `json:",omitempty"`
	Method     string
	Was        request.Status // when the approval began
	Reuse      bool           // an existing credential gets the products as well
	Grant      *issuers.Grant // nil: nothing is issued
}

// Approve approves an access request; credentials are made first.
func (s *Service) Approve(ctx context.Context, scope tenant.Scope, id table.ID) error {
	var d *approval
	var app table.ID
	err := s.Store.View(ctx, scope, func(r store.Reader) (err error) {
		d, app, err = s.approvable(ctx, r, id)
		return err
	})
	if err != nil {
		return err
	}
	return s.settled(ctx, scope, app, s.approving.Run(ctx, scope, about(app), d))
}

// approvable returns the approval of a request, or why the request cannot be approved.
func (s *Service) approvable(ctx context.Context, r store.Reader, id table.ID) (*approval, table.ID, error) {
	req, err := portal.Find(ctx, r, Requests, id.String())
	if err != nil {
		return nil, 0, err
	}
	if _, err := req.Status.On(request.Approve); err != nil {
		return nil, 0, err
	}
	if req, err = renewed(ctx, r, req); err != nil {
		return nil, 0, err
	}
	d := &approval{Request: req.ID, AuthType: req.AuthType, DCREnabled: req.DCREnabled, Method: methodOf(req), Was: req.Status}
	a, err := portal.Find(ctx, r, Kind, req.AppID.String())
	if err != nil {
		return nil, 0, err
	}
	if d.Method == issuers.Nothing { // nothing is issued, for what there is
		_, err = s.grant(ctx, r, a, req.PlanID, req.ProductIDs)
		return d, req.AppID, err
	}
	issuer, err := s.issuer(d.Method, req.AuthType)
	if err != nil {
		return nil, 0, err
	}
	act := issuers.Issue
	if d.Grant, err = s.grant(ctx, r, a, req.PlanID, req.ProductIDs); err != nil {
		return nil, 0, err
	}
	var c credential.Credential // the zero Credential when the request names none, or the credential was deleted
	if req.CredentialID != 0 {
		if c, err = portal.Find(ctx, r, Credentials, req.CredentialID.String()); err != nil && fault.KindOf(err) != fault.NotFound {
			return nil, 0, err
		}
	}
	if c.ID != 0 { // it gets the products of the request as well
		if wrong := c.Reusable(req, s.Now()); len(wrong) > 0 {
			return nil, 0, wrong.Err()
		}
		act, d.Reuse = issuers.Change, true
		plan := d.Grant.Plan
		if d.Grant, err = s.held(ctx, r, c, true); err != nil {
			return nil, 0, err
		}
		if d.Grant.Before, d.Grant.Grows = d.Grant.Products, true; c.Moves(req) {
			d.Grant.Plan, d.Grant.Earlier = plan, d.Grant.Plan
		} else if more, err := opened(ctx, r, req.ProductIDs, false); err != nil {
			return nil, 0, err
		} else {
			d.Grant.Products = slices.Concat(d.Grant.Products, more)
		}
	}
	d.Grant.Request, d.Grant.ClientType, d.Grant.Certificate = req.ID, req.ClientTypeID, issuers.Certificate{PEM: req.Certificate, Name: req.CertificateName}
	return d, req.AppID, issuer.Prepare(ctx, r, act, d.Grant)
}

// renewed returns the request with the current authentication of its products.
func renewed(ctx context.Context, r store.Reader, req request.Request) (request.Request, error) {
	list, err := existing(ctx, r, req.ProductIDs)
	if err != nil {
		return req, err
	}
	p, err := portal.Find(ctx, r, plans.Kind, req.PlanID.String())
	switch {
	case fault.KindOf(err) == fault.NotFound: // code that needs the plan reports this
		p.ProviderID = req.ProviderID
	case err != nil:
		return req, err
	}
	req, wrong := req.Renewed(p, list)
	return req, wrong.Err()
}

// approve returns the plan of an approval. Credentials that were made are undone if the
// request is not stored as approved.
func (s *Service) approve(org tenant.ID, d *approval) intents.Plan {
	// Refuse the request if another approval or a rejection has changed it meanwhile.
	look := intents.Step{Name: "look at the request", Do: func(ctx context.Context) error {
		scope, err := tenant.Of(org)
		if err != nil {
			return err
		}
		return s.Store.View(ctx, scope, func(r store.Reader) error {
			req, err := portal.Find(ctx, r, Requests, d.Request.String())
			if err == nil {
				_, err = d.next(req)
			}
			return err
		})
	}}
	steps, act := []intents.Step{look}, issuers.Issue
	if d.Reuse {
		act = issuers.Change
	}
	if d.Grant != nil {
		steps = append(steps, s.Issuers[d.Method].Steps(org, act, d.Grant)...)
	}
	p := intents.Plan{Steps: steps, Back: true, Close: func(ctx context.Context, w store.Writer) error { return s.approved(ctx, w, d) }}
	if d.Reuse {
		same := unchanged(d.Grant)
		p.Open = func(ctx context.Context, r store.Reader) error { return gone("the credential", same(ctx, r)) }
	}
	return p
}

// next returns the status of the request after approval. It refuses a request that was
// rejected since the approval began.
func (d *approval) next(req request.Request) (request.Status, error) {
	if d.Was != "" && d.Was != req.Status {
		return "", fault.New(fault.Invalid, request.CodeState, "access request was %s meanwhile", req.Status)
	}
	return req.Status.On(request.Approve)
}

// approved stores the credential first and then the request, so that the event of the request
// comes later.
func (s *Service) approved(ctx context.Context, w store.Writer, d *approval) error {
	req, err := portal.Find(ctx, w, Requests, d.Request.String())
	if err != nil {
		return err
	}
	if req.Status, err = d.next(req); err != nil {
		return err
	}
	if d.AuthType != "" {
		req.AuthType, req.DCREnabled = d.AuthType, d.DCREnabled
	}
	at := s.Stamp(s.Scope)
	if g := d.Grant; g != nil {
		if err := typed(ctx, w, g); err != nil {
			return err
		}
		if d.Reuse {
			_, err = portal.Edit(ctx, w, Credentials, g.Credential, at, func(c credential.Credential) (credential.Credential, error) {
				return s.filled(c.With(req), g.Values)
			})
			err = gone("the credential", err)
		} else {
			var c credential.Credential
			if c, err = s.filled(credential.Credential{
				AppID: req.AppID, RequestID: req.ID, PlanID: req.PlanID, ProviderID: req.ProviderID, Products: req.ProductIDs, Method: d.Method, AuthType: req.AuthType,
			}, g.Values); err == nil {
				_, err = portal.Add(ctx, w, Credentials, at, c)
			}
		}
		if err != nil {
			return err
		}
	}
	_, err = portal.Edit(ctx, w, Requests, req.ID, at, func(old request.Request) (request.Request, error) {
		old.Status, old.AuthType, old.DCREnabled = req.Status, req.AuthType, req.DCREnabled
		return old, nil
	})
	return err
}

// typed refuses a client whose client type was deleted during its registration.
func typed(ctx context.Context, r store.Reader, g *issuers.Grant) error {
	if g.ClientType == 0 {
		return nil
	}
	t, err := portal.Glance[table.Base](ctx, r, idp.TypeKind, g.ClientType)
	if err == nil && t.ID == 0 {
		err = fault.New(fault.Invalid, CodeGone, "the client type does not exist any more")
	}
	return err
}
