// Package certificate models the certificates that administrators manage for organisations.
// Clients use them for products that do not ask developers for a certificate
// (docs/wire/portal-certificates.md).
package certificate

import (
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Kind is the name of the resource in storage.
const Kind = "portal-certificate"

// MaxOf is the maximum number of certificates of an organisation at one provider, because each
// one is on the allow list of each API of the organisation's credentials.
const MaxOf = 50

// Codes of faults.
const (
	CodeUsed    = "portal_certificate.used"    // it is in use
	CodeBrought = "portal_certificate.brought" // it comes from the dashboard
	CodeMany    = "portal_certificate.many"
	CodeFailed  = "portal_certificate.failed" // the dashboard has not carried out the request
	CodeTaken   = "portal_certificate.taken"
)

// Certificate is the portal's record of a certificate in the store of a dashboard. It is
// hidden while the store does not have the certificate.
type Certificate struct {
	table.Base
	Name          string
	ProviderID    table.ID
	Organisations []table.ID
	StoreID       string // its ID in the store

	Fingerprint        string
	SignatureAlgorithm string `json:",omitempty"`
	Issuer             string
	Subject            string
	NotBefore          time.Time
	NotAfter           time.Time
	PEM                string `json:",omitempty"` // "": it comes from the dashboard
}

// Table implements table.Row.
func (Certificate) Table() *table.Table[Certificate] { return rows }

// maxPEM is the maximum length of a certificate with its chain in characters.
const maxPEM = 20_000

// maxName is the maximum length of a name in characters.
const maxName = 255

var rows = &table.Table[Certificate]{
	Kind: Kind, Noun: "certificate",
	Base: func(c *Certificate) *table.Base { return &c.Base },
	Fields: []table.Field[Certificate]{
		{Name: "Name", At: func(c *Certificate) any { return &c.Name }, Max: maxName, Doc: "Name of the certificate in the portal. Default: its subject."},
		{Name: "ProviderID", Also: []string{"Provider"}, At: func(c *Certificate) any { return &c.ProviderID }, Required: true, Fixed: true, Target: provider.Kind, Doc: "Provider whose dashboard stores the certificate."},
		{Name: "Organisations", At: func(c *Certificate) any { return &c.Organisations }, Target: account.OrganisationKind, Doc: "Organisations whose apps use the certificate, for products whose certificates administrators manage."},
		{Name: "Certificate", At: func(c *Certificate) any { return &c.PEM }, Max: maxPEM, Fixed: true, Doc: "PEM without a private key. Set at creation only."},
	},
	Unique: []table.Unique[Certificate]{{Name: "store", Taken: "the provider has that certificate already", Of: func(c Certificate) string {
		if c.Hidden { // it may come back as another record
			return ""
		}
		return c.key()
	}}},
}

func (c Certificate) key() string {
	if c.Fingerprint == "" {
		return ""
	}
	return c.ProviderID.Key() + " " + c.Fingerprint
}

// Read parses PEM and sets the other fields from it.
func (c Certificate) Read(at time.Time) (Certificate, error) {
	if c.PEM == "" {
		return c, table.Problems{"Certificate can't be blank"}.Err()
	}
	known, err := credential.ReadCertificate(c.PEM)
	if err == nil {
		err = known.Ended(at)
	}
	if err != nil {
		return c, err
	}
	c.PEM, c.Fingerprint, c.SignatureAlgorithm, c.Issuer, c.Subject, c.NotBefore, c.NotAfter = known.PEM, known.Fingerprint, known.SignatureAlgorithm, known.Issuer, known.Subject, known.NotBefore, known.NotAfter
	return c.Named(), nil
}

// Named returns the certificate with its subject as name, unless it has a name.
func (c Certificate) Named() Certificate {
	if c.Name == "" {
		c.Name = string([]rune(c.Subject)[:min(len([]rune(c.Subject)), maxName)])
	}
	return c
}

// Valid reports whether the certificate is valid at a time.
func (c Certificate) Valid(at time.Time) bool {
	return !at.Before(c.NotBefore) && at.Before(c.NotAfter)
}

// Deletable returns a fault if the certificate must not be deleted. used says that a
// credential uses it.
func (c Certificate) Deletable(used bool) error {
	switch {
	case len(c.Organisations) > 0:
		return fault.New(fault.Invalid, CodeUsed, "certificate %s belongs to an organisation: take it from all of them first", c.Name)
	case c.PEM == "":
		return fault.New(fault.Invalid, CodeBrought, "the dashboard has brought certificate %s: delete it there, and it goes here", c.Name)
	case used:
		return fault.New(fault.Invalid, CodeUsed, "a credential needs certificate %s", c.Name)
	}
	return nil
}

// Gains returns the organisations to which a change adds the certificate.
func (c Certificate) Gains(old Certificate) []table.ID {
	return slices.DeleteFunc(slices.Clone(c.Organisations), func(id table.ID) bool { return slices.Contains(old.Organisations, id) })
}

// Room returns a fault if an organisation cannot have more certificates.
func Room(has int) error {
	if has < MaxOf {
		return nil
	}
	return fault.New(fault.Invalid, CodeMany, "Organisations is invalid: an organisation has too many certificates (the maximum is %d)", MaxOf)
}

// Stored is a certificate in the list of a dashboard's store.
type Stored struct {
	ID, Fingerprint, Issuer, Subject string
	NotBefore, NotAfter              time.Time
}

// Follow returns the records of a provider that must change to match its store: unknown
// certificates are added with ID 0, missing ones are hidden, and hidden ones that reappear are
// shown.
func Follow(at table.ID, have []Certificate, listed []Stored) (moves []Certificate) {
	known, there := map[string]int{}, map[string]bool{}
	for i, c := range have {
		if n, twice := known[c.Fingerprint]; !twice || have[n].Hidden { // a visible one takes precedence
			known[c.Fingerprint] = i
		}
	}
	for _, s := range listed {
		if s.Fingerprint == "" || there[s.Fingerprint] {
			continue
		}
		there[s.Fingerprint] = true
		i, old := known[s.Fingerprint]
		if !old {
			moves = append(moves, Certificate{ProviderID: at, StoreID: s.ID, Fingerprint: s.Fingerprint, Issuer: s.Issuer, Subject: s.Subject, NotBefore: s.NotBefore, NotAfter: s.NotAfter}.Named())
			continue
		}
		if c := have[i]; c.Hidden || c.StoreID != s.ID {
			c.Hidden, c.StoreID = false, s.ID
			moves = append(moves, c)
		}
	}
	for _, c := range have {
		if !c.Hidden && !there[c.Fingerprint] {
			c.Hidden = true
			moves = append(moves, c)
		}
	}
	return moves
}
