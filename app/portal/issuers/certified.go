package issuers

import (
	"context"
	"errors"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Others returns the APIs for which other credentials of a dashboard need a certificate, and
// whether there are such credentials.
type Others func(ctx context.Context, org tenant.ID, at table.ID, certificate string, but table.ID) (apis []string, used bool, err error)

// Certificates issues keys for APIs that also require a client certificate. The certificate
// is uploaded to the dashboard's store, and added to the allow lists of the APIs.
type Certificates struct {
	Keys
	Others Others
	// Pool returns the certificates for an app's clients if administrators choose them: their
	// names in the dashboard's store, in order.
	Pool func(ctx context.Context, r store.Reader, app application.App, at table.ID) ([]string, error)
}

var _ Issuer = Certificates{}

// Prepare implements Issuer.
func (c Certificates) Prepare(ctx context.Context, r store.Reader, act Act, g *Grant) error {
	if g.Was.Managed || act == Issue && slices.ContainsFunc(g.Products, func(p Product) bool { return p.Managed }) {
		if err := c.managed(ctx, r, act, g); err != nil {
			return err
		}
		return c.Keys.Prepare(ctx, r, act, g)
	}
	if (act == Issue || act == Renew) && g.Certificate.PEM != "" {
		known, err := credential.ReadCertificate(g.Certificate.PEM)
		if err == nil {
			err = known.Ended(g.At)
		}
		if err != nil {
			return err
		}
		g.Certificate = Certificate{PEM: known.PEM, Name: g.Certificate.Name, Fingerprint: known.Fingerprint}
	}
	if act == Issue && g.Certificate.PEM == "" {
		return fault.New(fault.Invalid, credential.CodeCertificate, "Certificate can't be blank: request access again with one")
	}
	if (act == Change || act == Spread) && g.Was.CertificateID != "" {
		g.Values.Allowed = APIs(g.Products)
	}
	return c.Keys.Prepare(ctx, r, act, g)
}

// Steps implements Issuer.
func (c Certificates) Steps(org tenant.ID, act Act, g *Grant) []intents.Step {
	a := certifying{c.acting(org, g), c.Others}
	was, now := g.Was.Public, g.Values.Public
	switch act {
	case Issue:
		if g.Values.Managed {
			return append(a.admitAll(), c.Keys.Steps(org, act, g)...)
		}
		return append(a.admit(), c.Keys.Steps(org, act, g)...)
	case Renew:
		return append(a.admit(), intents.Step{Name: "bind the key to the certificate", Do: a.bind(false), Undo: a.bind(true)})
	case Change:
		return slices.Concat(a.enter(now.Standings(was)), c.Keys.Steps(org, act, g), a.off(was.Standings(now)))
	case Spread:
		steps := a.enter(now.Standings(was))
		if !slices.Equal(g.Was.Ties(), g.Values.Ties()) { // a deleted key is not updated
			steps = append(steps, intents.Step{Name: "bind the key to the certificates", Do: goneFine(a.bind(false)), Undo: goneFine(a.bind(true))})
		}
		return append(steps, a.off(was.Standings(now))...)
	case Restore: // a deleted object has lost nothing, and nothing is undone: this restores the desired state
		var steps []intents.Step
		for _, e := range now.Standings(credential.Public{}) {
			steps = append(steps, intents.Step{
				Name: "let the certificates in at " + e.API,
				Do:   goneFine(func(ctx context.Context) error { return a.write(ctx, e.Certificates, e.API, true) }),
			})
		}
		return append(steps, intents.Step{Name: "bind the key to the certificates", Do: goneFine(a.bind(false))})
	case Revoke:
		return append(c.Keys.Steps(org, act, g), a.off(was.Standings(credential.Public{}))...)
	}
	return c.Keys.Steps(org, act, g)
}

// Discard implements Issuer.
func (c Certificates) Discard(org tenant.ID, g *Grant) []intents.Step {
	switch {
	case !g.Renewal:
		return c.Keys.Discard(org, g)
	case g.Certificate.Fingerprint != "" && g.Certificate.PEM == g.Was.Certificate: // the certificate is the same
		return nil
	}
	return certifying{c.acting(org, g), c.Others}.off(g.Was.Standings(credential.Public{}))
}

// certifying executes the steps of one grant.
type certifying struct {
	acting
	others Others
}

// admit returns the steps that make APIs accept a certificate. Undoing them keeps what was
// there before.
func (a certifying) admit() []intents.Step {
	if a.g.Certificate.PEM == "" { // the certificate is removed
		return []intents.Step{{Name: "forget the certificate", Do: func(context.Context) error {
			v := &a.g.Values.Public
			if v.Bound { // an unbound key would work with the certificates of others
				v.Held = v.Ties()
			}
			v.Certificate, v.CertificateName, v.CertificateID, v.Allowed = "", "", "", nil
			return nil
		}}}
	}
	steps := []intents.Step{
		{Name: "look for the certificate", Do: a.look, Notes: true},
		{Name: "upload the certificate", Do: a.upload, Undo: a.withdraw},
	}
	for _, api := range APIs(a.g.Products) { // one step for each API: a refused step has changed nothing
		steps = append(steps, intents.Step{
			Name: "let the certificate in at " + api,
			Do:   func(ctx context.Context) error { return a.write(ctx, a.g.Values.Certificates(), api, true) },
			Undo: func(ctx context.Context) error {
				if !slices.Contains(a.g.Certificate.Missing, api) { // the certificate was there before
					return nil
				}
				return a.at(ctx, func(d dashboard.Dashboard) error {
					id, err := d.FindCertificate(ctx, a.g.Certificate.Fingerprint)
					if err == nil && id != "" {
						err = a.leave(ctx, []string{id}, api)
					}
					return err
				})
			},
		})
	}
	return steps
}

// enter adds certificates to allow lists that lack them.
func (a certifying) enter(list []credential.Standing) (steps []intents.Step) {
	for _, e := range list {
		steps = append(steps, intents.Step{
			Name: "let the certificate in at " + e.API,
			Do:   func(ctx context.Context) error { return a.write(ctx, e.Certificates, e.API, true) },
			Undo: func(ctx context.Context) error { return a.leave(ctx, e.Certificates, e.API) },
		})
	}
	return steps
}

// off removes the credential's certificates from allow lists to which they were added.
func (a certifying) off(list []credential.Standing) (steps []intents.Step) {
	for _, e := range list {
		steps = append(steps, intents.Step{
			Name: "take the certificate off the list of " + e.API,
			Do:   func(ctx context.Context) error { return a.leave(ctx, e.Certificates, e.API) },
			Undo: func(ctx context.Context) error { return a.write(ctx, e.Certificates, e.API, true) },
		})
	}
	return steps
}

// APIs returns the APIs of products, each once.
func APIs(list []Product) (out []string) {
	for _, p := range list {
		out = append(out, p.APIs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// look records the state before anything is changed.
func (a certifying) look(ctx context.Context) error {
	c := &a.g.Certificate
	if c.Fresh || len(c.Missing) > 0 { // an earlier attempt has recorded it
		return nil
	}
	return a.at(ctx, func(d dashboard.Dashboard) error {
		id, err := d.FindCertificate(ctx, c.Fingerprint)
		if err != nil {
			return err
		}
		var missing []string
		for _, api := range APIs(a.g.Products) {
			def, err := d.Definition(ctx, api)
			if err != nil {
				return err
			}
			if id == "" || !Takes(def, id) {
				missing = append(missing, api)
			}
		}
		c.Fresh, c.Missing = id == "", missing
		return nil
	})
}

// settings returns the part of a definition with the allow lists.
func settings(d dashboard.Definition) *doc.Node {
	if d.OAS {
		return d.Document
	}
	return d.Document.Get("api_definition")
}

// upload uploads the certificate, unless it is there, and records its name.
func (a certifying) upload(ctx context.Context) error {
	return a.at(ctx, func(d dashboard.Dashboard) error {
		id, err := d.FindCertificate(ctx, a.g.Certificate.Fingerprint)
		if err == nil && id == "" {
			added := d.AddCertificate(ctx, []byte(a.g.Certificate.PEM))
			if id, err = d.FindCertificate(ctx, a.g.Certificate.Fingerprint); err == nil && id == "" {
				err = errors.Join(dashboard.ErrUnreachable, added)
			}
			if id == "" && added != nil { // the upload's error is the reason
				err = added
			}
		}
		v := &a.g.Values.Public
		v.Certificate, v.CertificateName, v.CertificateID, v.Allowed = a.g.Certificate.PEM, a.g.Certificate.Name, id, APIs(a.g.Products)
		v.Bound = slices.ContainsFunc(a.g.Products, func(p Product) bool { return p.Bind })
		return err
	})
}

// withdraw deletes the certificate if this saga has uploaded it, and no other credential uses
// it by now.
func (a certifying) withdraw(ctx context.Context) error {
	if !a.g.Certificate.Fresh {
		return nil
	}
	return a.at(ctx, func(d dashboard.Dashboard) error {
		id, err := d.FindCertificate(ctx, a.g.Certificate.Fingerprint)
		if err != nil || id == "" {
			return err
		}
		_, used, err := a.others(ctx, a.org, a.g.Provider, id, 0)
		if err == nil && !used {
			err = d.DeleteCertificate(ctx, id)
		}
		return err
	})
}

// leave removes certificates from the allow list of an API, unless another credential needs
// them.
func (a certifying) leave(ctx context.Context, ids []string, api string) error {
	var free []string
	for _, id := range ids {
		needed, _, err := a.others(ctx, a.org, a.g.Provider, id, a.g.Credential)
		if err != nil {
			return err
		}
		if !slices.Contains(needed, api) {
			free = append(free, id)
		}
	}
	if len(free) == 0 {
		return nil
	}
	return a.write(ctx, free, api, false)
}

// bind binds the key to the new certificates or, with back, to the old ones.
func (a certifying) bind(back bool) func(context.Context) error {
	return func(ctx context.Context) error {
		from, to := a.g.Was.Ties(), a.g.Values.Ties()
		if back {
			from, to = to, from
		}
		if slices.Equal(from, to) && len(to) == 0 {
			return nil
		}
		return a.at(ctx, func(d dashboard.Dashboard) error {
			name := dashboard.KeyName{Text: a.g.Was.Key}
			k, err := d.Key(ctx, name)
			if err != nil {
				return err
			}
			session := k.Session.Clone()
			if err := a.lift(ctx, d, session); err != nil {
				return err
			}
			credential.Bind(session, from, to)
			_, err = d.ReplaceKey(ctx, name, session)
			return err
		})
	}
}

// at calls the dashboard. It does nothing if the dashboard is no longer connected.
func (a certifying) at(ctx context.Context, do func(dashboard.Dashboard) error) error {
	p, err := a.dashboard(ctx)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err == nil {
		err = do(p.Dashboard)
	}
	return Explain(err)
}

// attempts is how many times the write of a definition is tried when others change it at the
// same time.
const attempts = 3

// write adds certificates to the allow list of an API, or removes them. It does nothing for a
// deleted API.
func (a certifying) write(ctx context.Context, ids []string, api string, wanted bool) error {
	return a.at(ctx, func(d dashboard.Dashboard) error {
		err := dashboard.ErrChanged
		for n := 0; n < attempts && errors.Is(err, dashboard.ErrChanged); n++ {
			err = put(ctx, d, api, ids, wanted)
		}
		if !wanted && errors.Is(err, dashboard.ErrGone) {
			return nil
		}
		return err
	})
}

func put(ctx context.Context, d dashboard.Dashboard, api string, ids []string, wanted bool) error {
	def, err := d.Definition(ctx, api)
	if err != nil {
		return err
	}
	changed := false
	for _, id := range ids {
		changed = credential.Allow(settings(def), def.OAS, id, wanted) || changed
	}
	if !changed {
		return nil
	}
	return d.ReplaceDefinition(ctx, def)
}
