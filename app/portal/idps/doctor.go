package idps

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var _ apps.Logins = (*Service)(nil)

// Lonely finds clients with claims that no credential needs any more, each with its claim.
func (s *Service) Lonely(ctx context.Context, scope tenant.Scope) (out []apps.Lonely, err error) {
	err = s.Store.View(ctx, scope, func(r store.Reader) error {
		out = nil
		needed, err := claims(ctx, r)
		if err != nil {
			return err
		}
		for v, err := range clients.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			c := v.Value
			l := apps.Lonely{App: c.App, IdP: c.IdP, ClientID: c.ClientID}
			for _, one := range c.Claims {
				if !needed[one.ID] {
					l.Claims = append(l.Claims, one.ID)
				}
			}
			if c.ClientID == "" && c.Attempt != "" {
				l.Claims = append(l.Claims, c.Attempt)
			}
			if len(l.Claims) > 0 {
				out = append(out, l)
			}
		}
		return nil
	})
	return out, err
}

// claims returns the claims of the existing credentials.
func claims(ctx context.Context, r store.Reader) (map[string]bool, error) {
	out := map[string]bool{}
	for c, err := range portal.All(ctx, r, apps.Credentials, 0) {
		if err != nil {
			return nil, err
		}
		var m memo
		if c.Method == issuers.Registration && json.Unmarshal(c.Own, &m) == nil {
			out[m.Claim] = true
		}
	}
	return out, nil
}

// Release removes a claim: it deletes the client if no credential needs it, or removes the
// scopes that none needs.
func (s *Service) Release(ctx context.Context, org tenant.ID, l apps.Lonely) error {
	for _, claim := range l.Claims {
		a := acting{Service: s, org: org, g: &issuers.Grant{}, memo: memo{Claim: claim, App: l.App, IdP: l.IdP}, lone: true}
		if err := a.withdraw(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Astray finds registry entries that differ from what the portal writes: they have mappings
// of deleted products or plans, lack mappings of what was approved, or belong to deleted
// identity providers. Additions by administrators are ignored.
func (s *Service) Astray(ctx context.Context, scope tenant.Scope) (out []apps.Astray, err error) {
	if !s.Registry {
		return nil, nil
	}
	type place struct {
		entry idp.Entry
		want  idp.Mappings
	}
	var all []place
	err = s.Store.View(ctx, scope, func(r store.Reader) error {
		all = nil
		for v, err := range entries.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			p := place{entry: v.Value}
			if !p.entry.Gone {
				if p.want, err = wants(ctx, r, p.entry.IdP, p.entry.Dashboard); err != nil {
					return err
				}
			}
			all = append(all, p)
		}
		return nil
	})
	for i, p := range all {
		a := apps.Astray{IdP: p.entry.IdP, Dashboard: p.entry.Dashboard, Entry: p.entry.EntryID}
		look, done := issuers.Share(ctx, len(all)-i+1) // findings are fixed afterwards
		if a.More, a.Less, a.Err = s.astray(look, scope, p.entry, p.want); a.More || a.Less || a.Err != nil {
			out = append(out, a)
		}
		done()
	}
	return out, err
}

// astray reports whether an entry has too many or too few mappings.
func (s *Service) astray(ctx context.Context, scope tenant.Scope, e idp.Entry, want idp.Mappings) (more, less bool, err error) {
	way, err := s.Open(ctx, scope, e.Dashboard)
	if fault.KindOf(err) == fault.NotFound { // the dashboard is no longer connected, and keeps the entry
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	now, err := way.Dashboard.Entry(ctx, e.EntryID)
	switch {
	case errors.Is(err, dashboard.ErrGone):
		return false, !e.Gone, nil
	case err != nil:
		return false, false, err
	case e.Gone:
		return true, false, nil
	}
	more, less = idp.Astray(idp.Recorded(now.APIMappings), e.Wrote, want)
	return more, less, nil
}

// Lead updates an entry, or removes it if its identity provider was deleted.
func (s *Service) Lead(ctx context.Context, scope tenant.Scope, a apps.Astray) error {
	var e idp.Entry
	err := s.Store.View(ctx, scope, func(r store.Reader) (err error) {
		e, _, err = get(ctx, r, entries, idp.Entry{IdP: a.IdP, Dashboard: a.Dashboard}.Key())
		return err
	})
	switch {
	case err != nil:
		return err
	case e.Gone:
		return s.remove(ctx, scope, e)
	}
	return s.settle(ctx, scope, a.IdP, a.Dashboard, asked{})
}

// Needed reports whether a credential has come to need the claim meanwhile.
func (s *Service) Needed(ctx context.Context, scope tenant.Scope, l apps.Lonely) (is bool, err error) {
	err = s.Store.View(ctx, scope, func(r store.Reader) error {
		needed, err := claims(ctx, r)
		is = slices.ContainsFunc(l.Claims, func(id string) bool { return needed[id] })
		return err
	})
	return is, err
}
