package app

import (
	"context"

	"github.com/gatehouse-io/gatehouse/adapters/gateway/local"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/certificates"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/installation"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/keys"
	"github.com/gatehouse-io/gatehouse/app/oauth"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// WithGatewayControl says how gateways are asked for what lives in them. Without it the
// service keeps that in its own store.
func WithGatewayControl(c gateway.Control) Option { return func(o *settings) { o.control = &c } }

// WithKeySettings says how keys are treated; the zero Settings are the default.
func WithKeySettings(k keys.Settings) Option { return func(o *settings) { o.keyRules = k } }

func newKeyService(t crud.Tools, o outside, c gateway.Control, p *policies.Service, i *intents.Service, secrets secret.Keys) *keys.Service {
	return keys.New(keys.Config{Settings: o.keyRules, Gateways: c.Keys, Certificates: c.Certificates, Limits: c.Installation, Policies: p, Intents: i, Store: t.Store, Secrets: secrets, Now: t.Now, PageSize: t.PageSize,
		Exists: func(ctx context.Context, org tenant.ID) (bool, error) { return identity.Exists(ctx, t.Store, org) }})
}

// purged removes from gateways what an organisation that is gone has there. Where our own store
// keeps it, it went with its other records.
func (a *App) purged(ctx context.Context, scope tenant.Scope) error {
	if a.keys == nil {
		return nil
	}
	return a.keys.Purge(ctx, scope)
}

// newGatewayControl returns the control API of gateways.
func newGatewayControl(b basics, s people, o outside, st store.Store, secrets secret.Keys) gateway.Control {
	shelf := local.Shelf{Store: st, Secrets: secrets}
	if o.control != nil {
		control := *o.control
		if control.Installation == nil { // an embedding program need not have it
			control.Installation = &local.Installation{Shelf: shelf}
		}
		return control
	}
	return gateway.Control{
		Keys:         &local.Keys{Store: st, Secrets: secrets, Passwords: s.passwords, NewID: b.newID, Now: b.now, Policy: policies.AtGateways, Plain: !o.keyRules.Hashed, Master: o.keyRules.Master},
		Clients:      &local.Clients{Shelf: shelf, NewID: b.newID, Loaded: apis.Loaded},
		Certificates: &local.Certificates{Shelf: shelf},
		Installation: &local.Installation{Shelf: shelf},
	}
}

// newInstallation is about gateways as a whole.
func newInstallation(b basics, g gateway.Control, in *intents.Service) *installation.Service {
	return installation.New(g.Installation, in, b.pageSize)
}

// localRegistrations are the kinds of what lives in gateways where our own store keeps it.
func localRegistrations() []crud.Registrar {
	return []crud.Registrar{
		crud.Facts[local.KeyRecord]{Kind: local.KeyKind, Sealed: func(r *local.KeyRecord) *string { return &r.Sealed }, Sample: func(at crud.Stamp) (local.KeyRecord, error) {
			return local.KeyRecord{ID: at.ID, OrgID: at.Org, Digest: at.ID, Sealed: "sealed"}, nil
		}},
		crud.Facts[local.ClientRecord]{Kind: local.ClientKind, Sealed: func(r *local.ClientRecord) *string { return &r.Sealed }, Sample: func(at crud.Stamp) (local.ClientRecord, error) {
			return local.ClientRecord{ID: at.ID, OrgID: at.Org, API: "orders", Client: at.ID, Sealed: "sealed"}, nil
		}},
		crud.Facts[local.OrgKeyRecord]{Kind: local.OrgKeyKind, Sample: func(at crud.Stamp) (local.OrgKeyRecord, error) {
			return local.OrgKeyRecord{OrgID: at.Org, Session: []byte(`{"rate":10}`)}, nil
		}},
		crud.Facts[local.CertificateRecord]{Kind: local.CertificateKind, Sealed: func(r *local.CertificateRecord) *string { return &r.Sealed }, Sample: func(at crud.Stamp) (local.CertificateRecord, error) {
			return local.CertificateRecord{OrgID: at.Org, Meta: certificate.Meta{ID: at.ID, Fingerprint: at.ID, DNSNames: []string{}}, Sealed: "sealed"}, nil
		}},
	}
}

// WithRedirectSeparator says what stands between the redirect addresses of an OAuth
// client; it must be what gateways are told. Without it a client has one address.
func WithRedirectSeparator(text string) Option { return func(o *settings) { o.separator = text } }

func newOAuth(b basics, o outside, c gateway.Control, a *apis.Repository, p *policies.Service, i *intents.Service, keys secret.Keys) *oauth.Service {
	return oauth.New(oauth.Config{
		Gateways: c.Clients, APIs: a, Policy: p.Usable, Intents: i, Secrets: keys, PageSize: b.pageSize, Separator: o.separator,
	})
}

// WithCertificateExpiry says how certificates are watched, instead of every hour and for
// those that end within 30 days.
func WithCertificateExpiry(e certificates.Expiry) Option { return func(o *settings) { o.expiry = e } }

func newCertificates(b basics, o outside, c gateway.Control, a *apis.Repository, k *keys.Service, i *intents.Service) *certificates.Service {
	return certificates.New(certificates.Config{
		Gateways: c.Certificates, Keys: c.Keys, Admit: k.Admit, Deleted: k.Deleted, APIs: a, Intents: i, Log: b.log, PageSize: b.pageSize, Expiry: o.expiry,
	})
}
