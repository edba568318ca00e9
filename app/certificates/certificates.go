// Package certificates holds the use cases around certificates and public keys, which
// the gateways store, and around the APIs that use them (docs/wire/certificates.md).
package certificates

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Config is the configuration of a Service.
type Config struct {
	Gateways gateway.Certificates
	Keys     gateway.Keys
	// Admit refuses a key that the caller may not see.
	Admit func(context.Context, tenant.Scope, operation.Principal, gateway.StoredKey) error
	// Deleted returns the payload of the event about a deleted key.
	Deleted  func(gateway.StoredKey) any
	APIs     *apis.Repository
	Intents  *intents.Service
	Log      *slog.Logger
	PageSize int
	Expiry   Expiry
}

// Service manages certificates.
type Service struct {
	Config
	add    intents.Runner[addition]
	drop   intents.Runner[removal]
	detach intents.Runner[detachment]
	known  *known
}

// New returns a service, and registers its actions with the intents.
func New(c Config) *Service {
	s := &Service{Config: c, known: &known{orgs: map[tenant.ID]*listing{}}}
	s.add = intents.Add(c.Intents, intents.Action[addition]{Name: "certificates.add", Plan: s.additionPlan})
	s.drop = intents.Add(c.Intents, intents.Action[removal]{Name: "certificates.delete", Plan: s.removalPlan})
	s.detach = intents.Add(c.Intents, intents.Action[detachment]{Name: "certificates.detach", Plan: s.detachmentPlan})
	return s
}

// kind is the name of certificates in faults and intents.
const kind = "certificate"

// Codes of faults.
const (
	codeMissing = kind + ".not_found"
	codeForeign = kind + ".foreign"
	codeTaken   = kind + ".taken"
	codeEmpty   = kind + ".empty"
	codeRefused = kind + ".refused"
	codeGateway = kind + ".gateway"
	codeFilter  = kind + ".filter"
)

var missing error = fault.New(fault.NotFound, codeMissing, "Certificate with given SHA256 fingerprint not found.")

// own refuses the IDs of certificates of other organisations, and texts that are no ID
// of a certificate.
func own(org tenant.ID, id string) error {
	switch {
	case !strings.HasPrefix(id, string(org)):
		return fault.New(fault.Invalid, codeForeign, "Attempted access to non-owned certificate.")
	case !certificate.ValidID(org, id):
		return missing
	}
	return nil
}

// answered turns errors of gateways into faults.
func answered(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gateway.ErrUnknown):
		return missing
	case errors.Is(err, gateway.ErrForeign):
		return fault.New(fault.Invalid, codeForeign, "Attempted access to non-owned certificate.")
	case errors.Is(err, gateway.ErrTaken):
		return fault.New(fault.Conflict, codeTaken, "the certificate exists already")
	case errors.Is(err, gateway.ErrRefused):
		return fault.New(fault.Invalid, codeRefused, "the gateway refuses the certificate").Because(err)
	case gateway.Away(err):
		return fault.New(fault.Internal, codeGateway, "gateways do not answer as they should").Because(err)
	}
	return err
}

// subject returns the subject of an intent about a certificate.
func subject(id string) intent.Subject { return intent.Subject{Kind: kind, ID: id} }
