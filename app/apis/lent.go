package apis

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// lent refuses an API that begins to use the private key of another organisation. A
// gateway that several organisations share looks up a certificate only by its ID, so
// the API could authenticate as the other organisation. old is the stored API, or nil.
// IDs that name no organisation of this installation are accepted, like those of
// certificates that do not exist.
func (s *Repository) lent(ctx context.Context, old *apidef.API, a apidef.API) error {
	if s.Settings.SeparateGateways {
		return nil
	}
	theirs := slices.DeleteFunc(a.KeyCertificates(), func(id string) bool {
		org := certificate.OrgOf(id)
		return org == "" || org == a.OrgID()
	})
	if len(theirs) > 0 && old != nil {
		before := make(map[string]bool)
		for _, id := range old.KeyCertificates() {
			before[id] = true
		}
		theirs = slices.DeleteFunc(theirs, func(id string) bool { return before[id] })
	}
	if len(theirs) == 0 {
		return nil
	}
	return s.Store.View(ctx, tenant.Everyone("identifiers of certificates name organisations"), func(r store.Reader) error {
		for _, id := range theirs {
			n, err := r.Count(ctx, store.Query{Kind: identity.OrganisationKind, ID: string(certificate.OrgOf(id))})
			if err != nil {
				return err
			}
			if n > 0 {
				return fault.New(fault.Invalid, CodeInvalid, "certificate %s belongs to another organisation: upload it to this one, and name that", id).At("certificates")
			}
		}
		return nil
	})
}
