package apps

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// following is the data of the saga that changes an app's redirect addresses.
type following struct {
	App     application.App
	Grants  []*issuers.Grant // of the app's clients at identity providers
	Clients []*issuers.Grant `json:",omitempty"` // of the app's clients at gateways
}

// follow tells identity providers and gateways the new redirect addresses, before the app
// is stored. If one of them refuses, the app stays unchanged.
func (s *Service) follow(ctx context.Context, c *portal.Change[application.App]) error {
	if c.Op != store.Updated || slices.Equal(c.Old.Redirects(), c.New.Redirects()) {
		return nil
	}
	d := &following{App: c.New}
	err := s.Store.View(ctx, c.Scope, func(r store.Reader) error {
		d.Grants, d.Clients = nil, nil
		all, err := credentialsOf(ctx, r, c.Old.ID)
		for _, one := range all {
			issuer, known := s.Issuers[one.Method]
			if err != nil || !known || one.Method != issuers.Registration && one.Method != issuers.Client {
				continue
			}
			var g *issuers.Grant
			if g, err = s.held(ctx, r, one, true); err == nil {
				g.App, g.Formerly, g.Before = c.New, c.Old, g.Products
				if one.Method == issuers.Client {
					d.Clients = append(d.Clients, g)
				} else {
					d.Grants = append(d.Grants, g)
				}
				err = issuer.Prepare(ctx, r, issuers.Follow, g)
			}
		}
		return err
	})
	if err != nil || len(d.Grants)+len(d.Clients) == 0 {
		return err
	}
	return s.settled(ctx, c.Scope, c.Old.ID, s.following.Run(ctx, c.Scope, about(c.Old.ID), d))
}

// followed returns the plan that updates all clients of an app, or none.
func (s *Service) followed(org tenant.ID, d *following) intents.Plan {
	all := slices.Concat(d.Grants, d.Clients)
	// It stores the answers of the providers, and the addresses of the app.
	p := intents.Plan{Back: true, Open: unchanged(all...), Close: func(ctx context.Context, w store.Writer) error {
		at := s.Stamp(s.Scope)
		for _, g := range all {
			_, err := portal.Edit(ctx, w, Credentials, g.Credential, at, func(c credential.Credential) (credential.Credential, error) { return s.filled(c, g.Values) })
			if err := fault.AbsentFine(err); err != nil {
				return err
			}
		}
		_, err := portal.Edit(ctx, w, Kind, d.App.ID, at, func(a application.App) (application.App, error) {
			a.RedirectURLs = d.App.RedirectURLs
			return a, nil
		})
		return gone("the app", err)
	}}
	for _, g := range d.Grants {
		p.Steps = append(p.Steps, s.Issuers[issuers.Registration].Steps(org, issuers.Follow, g)...)
	}
	for _, g := range d.Clients {
		p.Steps = append(p.Steps, s.Issuers[issuers.Client].Steps(org, issuers.Follow, g)...)
	}
	return p
}
