package idps

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// wants returns the mappings that a dashboard should have for an identity provider: for
// approved products that are not deleted. A hidden product may return, and keeps its
// mappings.
func wants(ctx context.Context, r store.Reader, of, at table.ID) (idp.Mappings, error) {
	all, err := find(ctx, r, approvals, byIdP, of)
	if err != nil {
		return nil, err
	}
	offers := map[table.ID]*idp.Offer{}
	for _, a := range all {
		o := offers[a.Product]
		if o == nil {
			p, there, err := get(ctx, r, products.Kind, a.Product.Key())
			if err != nil {
				return nil, err
			}
			if !there || !p.DeletedAt.IsZero() || p.ProviderID != at {
				continue
			}
			o = &idp.Offer{APIs: p.IDs(), Scope: idp.Scope{Names: p.ScopeList(), Policy: p.Ref.Name()}}
			offers[a.Product] = o
		}
		p, there, err := get(ctx, r, plans.Kind, a.Plan.Key())
		if err != nil {
			return nil, err
		}
		if there && p.DeletedAt.IsZero() {
			o.Plans = append(o.Plans, idp.Scope{Names: p.Scopes(), Policy: p.Ref.Name()})
		}
	}
	list := make([]idp.Offer, 0, len(offers))
	for _, o := range offers {
		list = append(list, *o)
	}
	return idp.Wants(list), nil
}

// asked is the discovery document of a provider, or the error of reading it. A provider
// that does not answer delays once, and not once per dashboard. Zero: not read yet.
type asked struct {
	facts *idp.Discovery
	err   error
}

// ask reads the discovery document of a provider.
func (s *Service) ask(ctx context.Context, p idp.Provider) asked {
	at, err := s.at(p)
	if err != nil {
		return asked{err: err}
	}
	d, err := s.Registrar.Discover(ctx, at)
	if err != nil {
		return asked{err: explain(err)}
	}
	return asked{facts: &d}
}

// settle updates the entry of a provider at a dashboard. Without facts it uses the last
// known ones, or else the discovery document.
func (s *Service) settle(ctx context.Context, scope tenant.Scope, of, at table.ID, said asked) error {
	var p idp.Provider
	var e idp.Entry
	var want idp.Mappings
	var there bool
	err := s.Store.View(ctx, scope, func(r store.Reader) (err error) {
		if p, err = portal.Find(ctx, r, Kind, of.String()); err != nil {
			return err
		}
		if e, there, err = get(ctx, r, entries, idp.Entry{IdP: of, Dashboard: at}.Key()); err == nil {
			want, err = wants(ctx, r, of, at)
		}
		return err
	})
	if err != nil {
		return err
	}
	if !there {
		e = idp.Entry{Portal: scope.Org(), IdP: of, Dashboard: at}
	}
	if e.JWKSURI == "" && said.facts == nil && said.err == nil {
		said = s.ask(ctx, p)
	}
	switch {
	case said.facts != nil:
		e.Issuer, e.JWKSURI = said.facts.Issuer, said.facts.JWKSURI
	case e.JWKSURI == "":
		return said.err
	}
	way, err := s.Open(ctx, scope, at)
	if err != nil {
		return err
	}
	e.EntryID = p.EntryID()
	e = e.Begun(want)
	if err := s.write(ctx, scope, func(w store.Writer) error { return put(ctx, w, entries, e) }); err != nil {
		return err
	}
	if err := bring(ctx, way.Dashboard, p, e, want); err != nil {
		return refused(err)
	}
	return s.write(ctx, scope, func(w store.Writer) error {
		now, there, err := get(ctx, w, entries, e.Key())
		if err != nil || !there || now.Turn != e.Turn { // another process has begun to write meanwhile
			return err
		}
		now.Wrote = want
		return put(ctx, w, entries, now)
	})
}

// bring writes an entry at a dashboard.
func bring(ctx context.Context, d dashboard.Registry, p idp.Provider, e idp.Entry, want idp.Mappings) error {
	draft := registry.Draft{ClientIdPID: e.EntryID, Name: p.Name, Issuer: e.Issuer, JWKSURI: e.JWKSURI, ScopeClaim: p.ScopeClaim}
	if err := d.PutEntry(ctx, draft); err != nil {
		return err
	}
	now, err := d.Entry(ctx, e.EntryID)
	if err != nil {
		return err
	}
	patch := idp.Patch(idp.Recorded(now.APIMappings), e.Wrote, want)
	if patch == nil {
		return nil
	}
	return d.PatchEntry(ctx, e.EntryID, patch)
}

// refused converts an error of a dashboard into a fault for sagas.
func refused(err error) error {
	for _, known := range []error{dashboard.ErrRefused, dashboard.ErrGone} {
		if errors.Is(err, known) {
			return fault.New(fault.Invalid, CodeProvider, "%s", err.Error())
		}
	}
	if fault.KindOf(err) != fault.Internal {
		return err
	}
	return fault.New(fault.Unavailable, CodeAway, "%s", err.Error())
}

func (s *Service) write(ctx context.Context, scope tenant.Scope, fn func(store.Writer) error) error {
	_, err := s.Store.Update(ctx, scope, fn)
	return err
}

// remove removes the entry of a deleted provider from its dashboard.
func (s *Service) remove(ctx context.Context, scope tenant.Scope, e idp.Entry) error {
	way, err := s.Open(ctx, scope, e.Dashboard)
	if fault.KindOf(err) != fault.NotFound { // a disconnected dashboard keeps it
		if err == nil {
			err = way.Dashboard.DeleteEntry(ctx, e.EntryID)
		}
		if err != nil {
			return err
		}
	}
	return s.write(ctx, scope, func(w store.Writer) error { return drop(ctx, w, entries, e.Key()) })
}

// Synchronise updates the registry of one dashboard: it adds entries of new providers,
// repeats failed writes, and removes entries. It continues after errors.
func (s *Service) Synchronise(ctx context.Context, scope tenant.Scope, at table.ID) error {
	if !s.Registry {
		return nil
	}
	var gone []idp.Entry
	var all []idp.Provider
	err := s.Store.View(ctx, scope, func(r store.Reader) error {
		gone, all = nil, nil
		known, err := find(ctx, r, entries, byDashboard, at)
		if err != nil {
			return err
		}
		for _, e := range known {
			if e.Gone {
				gone = append(gone, e)
			}
		}
		all, err = store.Collect(portal.All(ctx, r, Kind, 0))
		return err
	})
	for _, e := range gone {
		err = errors.Join(err, s.remove(ctx, scope, e))
	}
	for _, p := range all {
		err = errors.Join(err, s.settle(ctx, scope, p.ID, at, s.ask(ctx, p)))
	}
	return err
}
