// Package certificates has the operations on the certificates that administrators manage for
// organisations, and synchronises them with the stores of dashboards
// (docs/wire/portal-certificates.md).
package certificates

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/certificate"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Config is the configuration of a Service.
type Config struct {
	crud.Tools
	// Open returns the dashboard of a provider.
	Open synchronise.Providers
	// Used reports whether a credential of a provider needs a certificate of its store.
	Used func(ctx context.Context, r store.Reader, at table.ID, id string) (bool, error)
	// Follow updates the credentials of a provider after its certificates have changed.
	Follow func(ctx context.Context, scope tenant.Scope, at table.ID) error
}

// Service has the operations on managed certificates.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Names of indexes.
const (
	byOrganisation = "organisation"
	byProvider     = "provider" // including hidden ones
)

// Kind is the kind of certificates.
var Kind = portal.KindOf(
	store.Index[certificate.Certificate]{Name: byOrganisation, Values: func(c certificate.Certificate) (out []string) {
		for _, id := range c.Organisations {
			out = append(out, id.Key())
		}
		slices.Sort(out)
		return slices.Compact(out)
	}},
	store.Lookup(byProvider, func(c certificate.Certificate) string { return c.ProviderID.Key() }),
)

// maxBody bounds request bodies in bytes: a certificate with its chain, and organisations.
const maxBody = 256 << 10

// Listed is a certificate in lists.
type Listed struct {
	ID            table.ID   `json:"ID"`
	CID           string     `json:"CID"`
	Name          string     `json:"Name"`
	ProviderID    table.ID   `json:"ProviderID"`
	Organisations []table.ID `json:"Organisations"`
	Fingerprint   string     `json:"Fingerprint" doc:"SHA-256 of the certificate, in hex."`
	Issuer        string     `json:"Issuer"`
	Subject       string     `json:"Subject"`
	IsValid       bool       `json:"IsValid" doc:"true: the certificate is within its validity period."`
	NotBefore     string     `json:"ValidNotBefore"`
	NotAfter      string     `json:"ValidNotAfter"`
}

// Shown is the full representation of a certificate.
type Shown struct {
	Listed
	StoreID            string `json:"StoreID" doc:"ID of the certificate at the dashboard."`
	SignatureAlgorithm string `json:"SignatureAlgorithm" doc:"Signature algorithm. Empty for a certificate that came from the dashboard."`
	Certificate        string `json:"Certificate" doc:"PEM. Empty for a certificate that came from the dashboard."`
	CreatedAt          string `json:"CreatedAt"`
	UpdatedAt          string `json:"UpdatedAt"`
}

func (s *Service) list(_ context.Context, r store.Reader, c certificate.Certificate) (Listed, error) {
	valid, here := true, time.UTC
	if !portal.Exemplary(r) {
		now := s.Now()
		valid, here = c.Valid(now), now.Location()
	}
	return Listed{c.ID, c.CID, c.Name, c.ProviderID, append([]table.ID{}, c.Organisations...), c.Fingerprint, c.Issuer, c.Subject, valid, table.Stamp(c.NotBefore.In(here)), table.Stamp(c.NotAfter.In(here))}, nil
}

const exampleFingerprint = "38edce514c2d0a866063550c64d6c90be99d01561ac5aa7e82b8610b7e273d37"

// Resource defines certificates as a resource.
func (s *Service) Resource() portal.Resource[certificate.Certificate, Listed, Shown] {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return portal.Resource[certificate.Certificate, Listed, Shown]{
		Kind: Kind, Name: "portal-certificates", Path: "/certificates", Param: "certificate_id", One: "a certificate", Many: "certificates",
		List: s.list,
		Show: func(ctx context.Context, r store.Reader, c certificate.Certificate) (Shown, error) {
			listed, err := s.list(ctx, r, c)
			return Shown{listed, c.StoreID, c.SignatureAlgorithm, c.PEM, table.Stamp(c.CreatedAt), table.Stamp(c.UpdatedAt)}, err
		},
		Sample: certificate.Certificate{
			Name: "Till of Acme", ProviderID: 1, Organisations: []table.ID{2}, StoreID: "5f1a0c5d8e3b2a1f00000001" + exampleFingerprint, Fingerprint: exampleFingerprint,
			SignatureAlgorithm: "ECDSA-SHA256", Issuer: "CN=Acme", Subject: "CN=till.example.com", NotBefore: begun, NotAfter: begun.AddDate(100, 0, 0), PEM: "-----BEGIN CERTIFICATE-----…",
		},
		Hooks: portal.Announcing(portal.Hooks[certificate.Certificate]{Check: s.check, Turn: s.turn, Prepare: s.prepare, Failed: s.failed, Before: s.before}, s.announced),
		Rows: func(o portal.Operations[certificate.Certificate, Listed, Shown]) []operation.Row {
			writing := []operation.Option{operation.Limits(maxBody, 0), operation.Faulting(credential.CodeCertificate, certificate.CodeMany, certificate.CodeTaken)}
			return []operation.Row{
				o.ListRow(), o.CreateRow(append(writing, operation.Faulting(certificate.CodeFailed), operation.Notes("The certificate is uploaded to the dashboard of the provider, unless it is already there. Apps of its organisations can use it at once."))...), o.GetRow(),
				o.UpdateRow(append(writing, operation.Notes("When organisations are added or removed, their credentials are updated for products whose certificates administrators manage: the certificate lists of APIs change, and so do keys that are bound to certificates."))...),
				o.DeleteRow(operation.Faulting(certificate.CodeUsed, certificate.CodeBrought, certificate.CodeFailed), operation.Notes("The certificate is deleted at the dashboard as well. A certificate cannot be deleted while it has organisations or a credential needs it, or if it came from the dashboard.")),
			}
		},
	}
}

type change = portal.Change[certificate.Certificate]

// check refuses invalid certificates, and the deletion of one that a credential needs.
func (s *Service) check(ctx context.Context, r store.Reader, c *change) error {
	if c.Op == store.Deleted {
		used, err := s.Used(ctx, r, c.Old.ProviderID, c.Old.StoreID)
		if err == nil {
			err = c.Old.Deletable(used)
		}
		return err
	}
	if c.Op == store.Created {
		fresh, err := c.New.Read(s.Now())
		if err != nil {
			return err
		}
		all, err := of(ctx, r, fresh.ProviderID)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(o certificate.Certificate) bool { return !o.Hidden && o.Fingerprint == fresh.Fingerprint }) {
			return fault.New(fault.Invalid, certificate.CodeTaken, "the provider has that certificate already")
		}
	}
	for _, id := range c.New.Gains(c.Old) {
		all, err := Pool(ctx, r, id, c.New.ProviderID)
		if err == nil {
			err = certificate.Room(len(all))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// turn blocks synchronisations, which would mistake an upload for a certificate of the
// dashboard.
func (s *Service) turn(ctx context.Context, c *change, write func(context.Context) error) error {
	if c.Op == store.Updated {
		return write(ctx)
	}
	p, err := s.Open(ctx, c.Scope, max(c.New.ProviderID, c.Old.ProviderID))
	if err != nil {
		return err
	}
	return p.InTurn(ctx, write)
}

// uploaded is the dashboard's answer about a certificate, before the record is stored here.
type uploaded struct {
	id    string
	fresh bool // it did not exist
}

// prepare uploads a new certificate, or deletes a deleted one, at the dashboard.
func (s *Service) prepare(ctx context.Context, c *change) error {
	if c.Op == store.Updated {
		return nil
	}
	p, err := s.Open(ctx, c.Scope, max(c.New.ProviderID, c.Old.ProviderID))
	if err != nil {
		return err
	}
	if c.Op == store.Deleted {
		return told(p.Dashboard.DeleteCertificate(ctx, c.Old.StoreID))
	}
	fresh, err := c.New.Read(s.Now())
	if err != nil {
		return err
	}
	id, err := p.Dashboard.FindCertificate(ctx, fresh.Fingerprint)
	made := err == nil && id == ""
	if made {
		added := p.Dashboard.AddCertificate(ctx, []byte(fresh.PEM))
		if id, err = p.Dashboard.FindCertificate(ctx, fresh.Fingerprint); err == nil && id == "" {
			err = errors.Join(dashboard.ErrUnreachable, added)
		}
	}
	c.Memo = uploaded{id, made}
	return told(err)
}

// failed deletes a certificate that prepare has uploaded.
func (s *Service) failed(ctx context.Context, c *change) {
	m, ok := c.Memo.(uploaded)
	if !ok || !m.fresh || m.id == "" {
		return
	}
	if p, err := s.Open(ctx, c.Scope, c.New.ProviderID); err == nil {
		_ = p.Dashboard.DeleteCertificate(ctx, m.id) // if this fails, the next synchronisation finds the certificate
	}
}

func (s *Service) before(_ context.Context, _ store.Writer, c *change) (err error) {
	if c.Op == store.Created {
		c.New, err = c.New.Read(s.Now())
		m, _ := c.Memo.(uploaded)
		c.New.StoreID = m.id
	}
	if c.Op == store.Updated {
		c.New = c.New.Named()
	}
	return err
}

// announced updates credentials after a change.
func (s *Service) announced(ctx context.Context, c *change) {
	if slices.Equal(c.Old.Organisations, c.New.Organisations) {
		return
	}
	if err := s.Follow(context.WithoutCancel(ctx), c.Scope, c.New.ProviderID); err != nil {
		s.Log.ErrorContext(ctx, "credentials could not follow the certificates of their organisations; the next synchronisation tries again", "org_id", string(c.Scope.Org()), "certificate_id", int64(c.New.ID), "error", err)
	}
}

// told converts an error of a dashboard for clients.
func told(err error) error {
	for _, known := range []error{dashboard.ErrUnreachable, dashboard.ErrRefused, dashboard.ErrGone, dashboard.ErrChanged} {
		if errors.Is(err, known) {
			return fault.New(fault.Invalid, certificate.CodeFailed, "the dashboard has not done it: %s", err).Because(err)
		}
	}
	return err
}
