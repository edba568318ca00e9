package apps

import (
	"context"
	"errors"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// atOnce is how many credentials are updated while the administrator waits, and atMost how many
// one synchronisation updates: the next one continues.
const (
	atOnce = 50
	atMost = 1000
)

// After returns the function that runs after a synchronisation. It calls then, and after that
// updates the certificates and clients of all credentials, since the dashboard may have changed
// the APIs of products and its policies. Clients at identity providers get the current scopes
// of products and plans.
func (s *Service) After(then func(context.Context, tenant.Scope, table.ID) error) func(context.Context, tenant.Scope, table.ID) error {
	return func(ctx context.Context, scope tenant.Scope, at table.ID) error {
		return errors.Join(then(ctx, scope, at), s.spread(ctx, scope, at, 0, atMost), s.lead(ctx, scope, at, every, atMost), s.rescope(ctx, scope, at))
	}
}

// spread adds the certificates of credentials to the allow lists of the APIs that their
// products have by now, and removes them from others: for one product; 0: for all. It continues
// after errors.
func (s *Service) spread(ctx context.Context, scope tenant.Scope, at, of table.ID, most int) (err error) {
	var late []table.ID
	err = s.Store.View(ctx, scope, func(r store.Reader) error {
		late = nil
		for c, err := range portal.All(ctx, r, Credentials, 0) {
			if err != nil {
				return err
			}
			if c.ProviderID != at || c.Method != issuers.Certified || c.CertificateID == "" && !c.Managed || of != 0 && !slices.Contains(c.Products, of) {
				continue
			}
			if behind, err := behind(ctx, r, c); err != nil {
				return err
			} else if behind {
				late = append(late, c.ID)
			}
			if len(late) == most {
				break
			}
		}
		return nil
	})
	for _, id := range late {
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		err = errors.Join(err, fault.AbsentFine(s.replace(ctx, scope, id, issuers.Spread, credential.Renewal{})))
	}
	return err
}

// behind reports whether the APIs of a credential's products differ from those that accept its
// certificates, or whether its organisation has other certificates by now.
func behind(ctx context.Context, r store.Reader, c credential.Credential) (bool, error) {
	list, err := opened(ctx, r, c.Products, true)
	if err != nil || !slices.Equal(issuers.APIs(list), c.Allowed) {
		return true, err
	}
	if !c.Managed {
		return false, nil
	}
	a, err := portal.Find(ctx, r, Kind, c.AppID.String())
	if err != nil {
		return false, fault.AbsentFine(err)
	}
	pool, err := Pool(ctx, r, a, c.ProviderID)
	return !slices.Equal(pool, c.Pool), err
}

// Recertify updates the credentials of a provider after the certificates of organisations have
// changed.
func (s *Service) Recertify(ctx context.Context, scope tenant.Scope, at table.ID) error {
	return s.spread(ctx, scope, at, 0, atOnce)
}

// silences is after how many failed clients in a row the rest waits for the next
// synchronisation.
const silences = 3

// rescope gives clients at identity providers the current scopes of their products and plans.
func (s *Service) rescope(ctx context.Context, scope tenant.Scope, at table.ID) error {
	issuer, known := s.Issuers[issuers.Registration].(issuers.Scoped)
	if !known {
		return nil
	}
	var late, places []table.ID // outdated credentials, and the identity providers of their clients
	err := s.Store.View(ctx, scope, func(r store.Reader) error {
		late, places = nil, nil
		for c, err := range portal.All(ctx, r, Credentials, 0) {
			if err != nil {
				return err
			}
			if c.ProviderID != at || c.Method != issuers.Registration {
				continue
			}
			g := &issuers.Grant{Was: credential.Values{Public: c.Public}}
			if g.Products, err = opened(ctx, r, c.Products, true); err == nil {
				g.Plan, err = limits(ctx, r, c.PlanID)
			}
			if err != nil {
				return err
			}
			if place, is, err := issuer.Outdated(ctx, r, g); err != nil {
				return err
			} else if is {
				late, places = append(late, c.ID), append(places, place)
			}
			if len(late) == atMost {
				break
			}
		}
		return nil
	})
	failed, away := 0, map[table.ID]bool{}
	for i, id := range late {
		if ctx.Err() != nil || failed == silences {
			return errors.Join(err, ctx.Err())
		}
		if _, asked := away[places[i]]; !asked {
			silent := issuer.Answers(ctx, scope, places[i])
			away[places[i]], err = silent != nil, errors.Join(err, silent)
		}
		if away[places[i]] {
			continue
		}
		one := fault.AbsentFine(s.replace(ctx, scope, id, issuers.Spread, credential.Renewal{}))
		if failed++; one == nil {
			failed = 0
		}
		err = errors.Join(err, one)
	}
	return err
}
