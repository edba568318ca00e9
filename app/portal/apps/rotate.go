package apps

import (
	"cmp"
	"context"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// rotation is the data of the saga of a rotation.
type rotation struct {
	Credential table.ID
	Method     string
	Act        issuers.Act `json:",omitempty"` // "": rotate
	Grant      *issuers.Grant
}

// Rotate gives a credential a new value, and revokes the old one.
func (s *Service) Rotate(ctx context.Context, scope tenant.Scope, id table.ID) error {
	return s.replace(ctx, scope, id, issuers.Rotate, credential.Renewal{})
}

// replace gives a credential a new value or, for Renew, another certificate; "": none.
func (s *Service) replace(ctx context.Context, scope tenant.Scope, id table.ID, act issuers.Act, with credential.Renewal) error {
	d := &rotation{Credential: id, Act: act}
	var app table.ID
	err := s.Store.View(ctx, scope, func(r store.Reader) error {
		c, err := portal.Find(ctx, r, Credentials, id.String())
		if err != nil {
			return err
		}
		app, d.Method = c.AppID, c.Method
		if _, err := c.State(s.Now()).On(credential.Rotate); err != nil {
			return err
		}
		if act == issuers.Renew && c.Method != issuers.Certified {
			return fault.New(fault.Invalid, CodeMethod, "clients of the credential come without a certificate")
		}
		issuer, err := s.issuer(c.Method, c.AuthType)
		if err != nil {
			return err
		}
		if act == issuers.Rotate && (c.Method == issuers.Tokens || c.Method == issuers.Certified) {
			if err := rotatable(ctx, r, &c); err != nil {
				return err
			}
		}
		if d.Grant, err = s.held(ctx, r, c, act.KeepsValues()); err != nil {
			return err
		}
		d.Grant.Renewal, d.Grant.Certificate = act == issuers.Renew, issuers.Certificate{PEM: with.Certificate, Name: with.CertificateName}
		return issuer.Prepare(ctx, r, act, d.Grant)
	})
	if err != nil {
		return err
	}
	return s.settled(ctx, scope, app, s.rotating.Run(ctx, scope, about(app), d, s.keyID(d.Grant.Provider, d.Grant.Was.Chosen)...))
}

// CodeIdle is the fault code for a credential with a product that has no APIs.
const CodeIdle = "portal_access.idle"

// rotatable takes deleted products off a credential whose key is to be replaced, unless all were
// deleted. It refuses one with a product that has no APIs for now: no key can be made with the
// inactive policy of the product, and one without it would not get the product back.
func rotatable(ctx context.Context, r store.Reader, c *credential.Credential) error {
	var left []table.ID
	for _, id := range c.Products {
		v, err := products.Kind.Get(ctx, r, id.Key())
		switch p := v.Value; {
		case fault.KindOf(err) == fault.NotFound, err == nil && p.Away():
			continue
		case err != nil:
			return err
		case p.IsDocumentationOnly:
			return fault.New(fault.Invalid, CodeIdle, "product %s has no APIs at the moment: a credential for it can be rotated when it has some again", p.Title())
		}
		left = append(left, id)
	}
	if c.Method == issuers.Tokens && len(left) > 0 {
		c.Products = left
	}
	return nil
}

// rotate returns the plan of a rotation: the new value is made and stored, then the old
// one is revoked. The saga continues where it stopped; it is undone only when a step is
// refused.
func (s *Service) rotate(org tenant.ID, d *rotation) intents.Plan {
	issuer, known := s.Issuers[d.Method]
	if !known {
		return intents.Plan{}
	}
	steps := issuer.Steps(org, cmp.Or(d.Act, issuers.Rotate), d.Grant)
	steps = append(steps, intents.Step{
		Name: "store the value",
		Do:   func(ctx context.Context) error { return s.put(ctx, org, d.Credential, d.Grant.Values) },
		Undo: func(ctx context.Context) error { return s.put(ctx, org, d.Credential, d.Grant.Was) },
	})
	if !d.Act.KeepsValues() { // the key stays
		steps = append(steps, issuer.Discard(org, d.Grant)...)
	}
	return intents.Plan{Steps: steps, Open: unchanged(d.Grant)}
}

// CodeChanged is the fault code for a credential that another operation has changed while
// this one waited for it.
const CodeChanged = "portal_access.changed"

// unchanged refuses credentials that have changed since their grants were made. Otherwise
// a new key could replace one that was revoked meanwhile, and would have no owner.
func unchanged(grants ...*issuers.Grant) func(context.Context, store.Reader) error {
	return func(ctx context.Context, r store.Reader) error {
		for _, g := range grants {
			switch is, err := Credentials.Get(ctx, r, g.Credential.Key()); {
			case err != nil:
				return err
			case is.Serial != g.Serial:
				return fault.New(fault.Invalid, CodeChanged, "another operation has changed the credential meanwhile: look at it, and try again")
			}
		}
		return nil
	}
}

// put stores the values of a credential. It ignores a credential that was deleted.
func (s *Service) put(ctx context.Context, org tenant.ID, id table.ID, v credential.Values) error {
	scope, err := tenant.Of(org)
	if err != nil {
		return err
	}
	_, err = s.Store.Update(ctx, scope, func(w store.Writer) error {
		_, err := portal.Edit(ctx, w, Credentials, id, s.Stamp(s.Scope), func(c credential.Credential) (credential.Credential, error) {
			if err := s.ended(ctx, w, c, v); err != nil {
				return c, err
			}
			return s.filled(c, v)
		})
		return fault.AbsentFine(err)
	})
	return err
}
