package apps

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// removal is the data of the saga of a deletion: of an app with everything below it, one of
// its access requests, one credential, or one product of a credential.
type removal struct {
	App        table.ID
	Request    table.ID `json:",omitzero"`
	Credential table.ID `json:",omitzero"`
	Product    table.ID `json:",omitzero"` // the product that the credential loses; 0: the credential is deleted
	// Force deletes the records even if credentials cannot be revoked.
	Force bool `json:",omitempty"`
	// Patience is how long a forced deletion waits for the revocation of one credential
	// elsewhere; 0: forcedPatience.
	Patience time.Duration `json:",omitempty"`
}

// remove revokes credentials and deletes the records.
func (s *Service) remove(ctx context.Context, scope tenant.Scope, d removal) error {
	return s.settled(ctx, scope, d.App, s.removeNow(ctx, scope, d))
}

// removeNow is remove, with the unchanged error of the saga.
func (s *Service) removeNow(ctx context.Context, scope tenant.Scope, d removal) error {
	// Lock the texts of keys: others may choose them only after the keys are revoked.
	var also []intent.Subject
	err := s.Store.View(ctx, scope, func(r store.Reader) error {
		also = nil
		all, err := concerned(ctx, r, &d)
		for _, c := range all {
			if err != nil || c.Custom == nil || c.Method != issuers.Tokens {
				continue
			}
			if v, failed := s.opened(c); failed == nil { // if it cannot be opened, its revocation fails
				also = append(also, s.keyID(c.ProviderID, v.Chosen)...)
			}
		}
		return err
	})
	if err == nil {
		err = s.ending.Run(ctx, scope, about(d.App), &d, also...)
	}
	return err
}

// end returns the plan of a deletion. Each revoked credential is deleted at once: earlier
// revocations stay in effect when a later one fails.
func (s *Service) end(org tenant.ID, d *removal) intents.Plan {
	return intents.Plan{
		Over: d.Force,
		// Return an error if another deletion, which this one waited for, has deleted it.
		Open: func(ctx context.Context, r store.Reader) (err error) {
			switch {
			case d.Credential != 0:
				_, err = portal.Find(ctx, r, Credentials, d.Credential.String())
			case d.Request != 0:
				_, err = portal.Find(ctx, r, Requests, d.Request.String())
			default:
				_, err = portal.Find(ctx, r, Kind, d.App.String())
			}
			return err
		},
		Steps: []intents.Step{{Name: "revoke", Do: func(ctx context.Context) error {
			scope, err := tenant.Of(org)
			if err != nil {
				return err
			}
			var all []credential.Credential
			err = s.Store.View(ctx, scope, func(r store.Reader) (err error) {
				all, err = concerned(ctx, r, d)
				return err
			})
			for _, c := range all {
				if err == nil {
					err = s.revoke(ctx, scope, c, d)
				}
			}
			return err
		}}},
		Close: func(ctx context.Context, w store.Writer) error { return s.gone(ctx, w, d) },
	}
}

// concerned returns the credentials that a removal is about.
func concerned(ctx context.Context, r store.Reader, d *removal) ([]credential.Credential, error) {
	switch {
	case d.Request != 0 && d.Credential == 0:
		return usedBy(ctx, r, d.Request)
	case d.Credential == 0:
		return credentialsOf(ctx, r, d.App)
	}
	c, err := portal.Find(ctx, r, Credentials, d.Credential.String())
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	return []credential.Credential{c}, err
}

// part is the change of one credential.
type part struct {
	act   issuers.Act
	left  credential.Credential // the credential to store; unused when it is revoked
	fewer []request.Request     // requests that lose a product
	grant *issuers.Grant
}

// parted computes the change of a credential: it is revoked, or it loses one product, or the
// products of an access request.
func (s *Service) parted(ctx context.Context, r store.Reader, c credential.Credential, d *removal) (p part, err error) {
	p.act = issuers.Revoke
	if p.grant, err = s.held(ctx, r, c, true); err != nil || d.Product == 0 && (d.Request == 0 || d.Credential != 0) {
		return p, err
	}
	var all []request.Request // the existing requests that use the credential
	for _, id := range c.Requests() {
		switch req, err := portal.Find(ctx, r, Requests, id.String()); {
		case fault.KindOf(err) == fault.NotFound:
		case err != nil:
			return p, err
		default:
			all = append(all, req)
		}
	}
	if d.Product != 0 {
		left, fewer, ok := c.Less(d.Product, all)
		if !ok {
			return p, last(c, d.Product)
		}
		p.act, p.left, p.fewer, p.grant.Before = issuers.Change, left, fewer, p.grant.Products
		p.grant.Products, err = opened(ctx, r, left.Products, true)
		return p, err
	}
	var mine request.Request
	rest := slices.DeleteFunc(all, func(req request.Request) bool {
		if req.ID == d.Request {
			mine = req
		}
		return req.ID == d.Request
	})
	if left, some := c.Without(mine, rest); some {
		p.act, p.left, p.grant.Before = issuers.Change, left, p.grant.Products
		if p.grant.Products, err = opened(ctx, r, left.Products, true); err == nil && left.PlanID != c.PlanID {
			p.grant.Earlier = p.grant.Plan
			p.grant.Plan, err = limits(ctx, r, left.PlanID)
		}
	}
	return p, err
}

// forcedPatience is how long a forced deletion waits for the revocation of one credential
// elsewhere. shortPatience is that time for further apps of a user, once twice forcedPatience
// has passed: the caller waits until the records are deleted.
const (
	forcedPatience = 5 * time.Second
	shortPatience  = forcedPatience / 50
)

// revoke carries out the change of one credential: first elsewhere, then here.
func (s *Service) revoke(ctx context.Context, scope tenant.Scope, c credential.Credential, d *removal) error {
	elsewhere := ctx
	if d.Force { // the records are deleted even if the time is used up
		short, cancel := context.WithTimeout(ctx, cmp.Or(d.Patience, forcedPatience))
		defer cancel()
		elsewhere, ctx = short, context.WithoutCancel(ctx)
	}
	var p part
	issuer, known := s.Issuers[c.Method]
	err := s.Store.View(ctx, scope, func(r store.Reader) (err error) {
		if p, err = s.parted(ctx, r, c, d); err == nil && known {
			err = issuer.Prepare(ctx, r, p.act, p.grant)
		}
		return err
	})
	if err == nil && known {
		for _, step := range issuer.Steps(scope.Org(), p.act, p.grant) {
			if err = step.Do(elsewhere); err != nil {
				break
			}
		}
	}
	if err != nil && !d.Force {
		return err
	}
	if err != nil {
		s.Log.WarnContext(ctx, "a credential is removed although it cannot be revoked", "org_id", string(scope.Org()), "credential", int64(c.ID), "error", err)
	}
	_, err = s.Store.Update(ctx, scope, func(w store.Writer) error {
		if p.act == issuers.Revoke {
			if err := s.ended(ctx, w, c, credential.Values{}); err != nil {
				return err
			}
			return fault.AbsentFine(portal.Remove(ctx, w, Credentials, c.ID, s.Stamp(s.Scope)))
		}
		if err := s.fewer(ctx, w, p.fewer); err != nil {
			return err
		}
		_, err := portal.Edit(ctx, w, Credentials, c.ID, s.Stamp(s.Scope), func(credential.Credential) (credential.Credential, error) {
			return s.filled(p.left, p.grant.Values)
		})
		return err
	})
	return err
}

// fewer stores requests that have lost a product. A request without products is deleted.
func (s *Service) fewer(ctx context.Context, w store.Writer, list []request.Request) error {
	for _, req := range list {
		err := error(nil)
		if len(req.ProductIDs) == 0 {
			err = portal.Remove(ctx, w, Requests, req.ID, s.Stamp(s.Scope))
		} else {
			_, err = portal.Edit(ctx, w, Requests, req.ID, s.Stamp(s.Scope), func(old request.Request) (request.Request, error) {
				old.ProductIDs = req.ProductIDs
				return old, nil
			})
		}
		if fault.AbsentFine(err) != nil {
			return err
		}
	}
	return nil
}

// CodeMore is the fault code for a credential that was made while its app was being deleted.
const CodeMore = "portal_access.more"

// gone deletes the records.
func (s *Service) gone(ctx context.Context, w store.Writer, d *removal) error {
	if d.Product != 0 {
		return nil
	}
	left, err := concerned(ctx, w, d)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fault.New(fault.Unavailable, CodeMore, "there are more credentials by now")
	}
	at := s.Stamp(s.Scope)
	switch {
	case d.Credential != 0:
		return nil
	case d.Request != 0:
		return fault.AbsentFine(portal.Remove(ctx, w, Requests, d.Request, at))
	}
	all, err := requestsOf(ctx, w, d.App)
	for _, req := range all {
		if err == nil {
			err = portal.Remove(ctx, w, Requests, req.ID, at)
		}
	}
	if err == nil {
		_, err = formers.Delete(ctx, w, d.App.Key(), nil)
		err = fault.AbsentFine(err)
	}
	if err == nil {
		err = fault.AbsentFine(portal.Remove(ctx, w, Kind, d.App, at))
	}
	return err
}
