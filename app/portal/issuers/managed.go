package issuers

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CodeManaged is the fault code for a certificate that developers may not choose.
const CodeManaged = "portal_access.managed"

// managed completes a grant whose certificates administrators choose.
func (c Certificates) managed(ctx context.Context, r store.Reader, act Act, g *Grant) error {
	v := &g.Values.Public
	switch act {
	case Renew:
		return fault.New(fault.Invalid, CodeManaged, "administrators manage the certificates of the credential")
	case Issue:
		v.Bound = slices.ContainsFunc(g.Products, func(p Product) bool { return p.Bind })
	case Change: // Spread changes certificates
		v.Allowed = APIs(g.Products)
		return nil
	case Spread:
	default:
		return nil
	}
	pool, err := c.Pool(ctx, r, g.App, g.Provider)
	if err != nil {
		return err
	}
	if act == Issue && len(pool) == 0 {
		return fault.New(fault.Invalid, CodeManaged, "the organisation of the app has no certificate: an administrator gives it one first")
	}
	v.Manage(pool)
	v.Allowed = APIs(g.Products)
	return nil
}

// admitAll returns the steps that make APIs accept the certificates of an organisation. Undoing
// them keeps what was there before.
func (a certifying) admitAll() []intents.Step {
	steps := []intents.Step{{Name: "look for the certificates", Do: a.lookAll, Notes: true}}
	for _, e := range a.g.Values.Standings(credential.Public{}) {
		steps = append(steps, intents.Step{
			Name: "let the certificates in at " + e.API,
			Do:   func(ctx context.Context) error { return a.write(ctx, e.Certificates, e.API, true) },
			Undo: func(ctx context.Context) error {
				for _, lacked := range a.g.Certificate.Lacked {
					if lacked.API == e.API {
						return a.leave(ctx, lacked.Certificates, e.API)
					}
				}
				return nil
			},
		})
	}
	return steps
}

// lookAll records what is missing on allow lists before anything is changed.
func (a certifying) lookAll(ctx context.Context) error {
	c := &a.g.Certificate
	if c.Looked {
		return nil
	}
	return a.at(ctx, func(d dashboard.Dashboard) error {
		var lacked []credential.Standing
		for _, e := range a.g.Values.Standings(credential.Public{}) {
			def, err := d.Definition(ctx, e.API)
			if err != nil {
				return err
			}
			missing := slices.DeleteFunc(slices.Clone(e.Certificates), func(id string) bool { return credential.Allows(settings(def), def.OAS, id) })
			if len(missing) > 0 {
				lacked = append(lacked, credential.Standing{API: e.API, Certificates: missing})
			}
		}
		c.Looked, c.Lacked = true, lacked
		return nil
	})
}

// Takes reports whether an API accepts clients with a certificate.
func Takes(def dashboard.Definition, id string) bool {
	return credential.Allows(settings(def), def.OAS, id)
}
