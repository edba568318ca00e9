package certificates

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/certificate"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Pool returns the names of an organisation's certificates in the store of a provider.
func Pool(ctx context.Context, r store.Reader, organisation, at table.ID) (out []string, err error) {
	for v, err := range Kind.Find(ctx, r, store.Query{Index: byOrganisation, Value: organisation.Key()}) {
		if err != nil {
			return nil, err
		}
		if c := v.Value; !c.Away() && c.ProviderID == at {
			out = append(out, c.StoreID)
		}
	}
	slices.Sort(out)
	return out, nil
}

// of returns the certificates of a provider, including hidden ones.
func of(ctx context.Context, r store.Reader, at table.ID) ([]certificate.Certificate, error) {
	return Kind.Values(ctx, r, store.Query{Index: byProvider, Value: at.Key()})
}

// atOnce is how many records change in one unit of work.
const atOnce = 200

// Stored is the content of a dashboard's store, and the differences of the records.
type Stored struct {
	Names map[string]bool           // of its certificates
	Moves []certificate.Certificate // the records as they should be; unknown ones have the number 0
}

// Compare compares the certificates of a provider with the store of its dashboard.
func (s *Service) Compare(ctx context.Context, scope tenant.Scope, at table.ID) (out Stored, err error) {
	p, err := s.Open(ctx, scope, at)
	if err != nil {
		return out, err
	}
	listed, err := p.Dashboard.ListCertificates(ctx)
	if err != nil {
		return out, err
	}
	out.Names = map[string]bool{}
	for _, c := range listed {
		out.Names[c.ID] = true
	}
	err = s.Store.View(ctx, scope, func(r store.Reader) error {
		have, err := of(ctx, r, at)
		out.Moves = certificate.Follow(at, have, listed)
		return err
	})
	return out, err
}

// Mend is Synchronise for callers that do not hold the provider's turn.
func (s *Service) Mend(ctx context.Context, scope tenant.Scope, at table.ID) error {
	p, err := s.Open(ctx, scope, at)
	if err != nil {
		return err
	}
	return p.InTurn(ctx, func(ctx context.Context) error { return s.Synchronise(ctx, scope, at) })
}

// Any reports whether a provider has certificates, including hidden ones.
func Any(ctx context.Context, r store.Reader, at table.ID) (bool, error) {
	all, err := of(ctx, r, at)
	return len(all) > 0, err
}

// Synchronise updates the certificates of a provider from the store of its dashboard.
func (s *Service) Synchronise(ctx context.Context, scope tenant.Scope, at table.ID) error {
	is, err := s.Compare(ctx, scope, at)
	moves := is.Moves
	if err != nil || len(moves) == 0 {
		return err
	}
	stamp := s.Stamp(scope)
	for some := range slices.Chunk(moves, atOnce) {
		if err == nil {
			_, err = s.Store.Update(ctx, scope, func(w store.Writer) error {
				for _, c := range some {
					var err error
					if c.ID == 0 {
						_, err = portal.Add(ctx, w, Kind, stamp, c)
					} else {
						_, err = Kind.Edit(ctx, w, c.ID.Key(), nil, func(old certificate.Certificate) (certificate.Certificate, error) {
							old.Hidden, old.StoreID, old.UpdatedAt = c.Hidden, c.StoreID, stamp.Now()
							return old, nil
						})
					}
					if err != nil && fault.KindOf(err) != fault.NotFound {
						return err
					}
				}
				return nil
			})
		}
	}
	return err
}

// Forget removes a deleted organisation from its certificates.
func Forget(ctx context.Context, w store.Writer, organisation table.ID) error {
	all, err := Kind.Values(ctx, w, store.Query{Index: byOrganisation, Value: organisation.Key()})
	if err != nil {
		return err
	}
	for _, c := range all {
		_, err := Kind.Edit(ctx, w, Kind.ID(c), nil, func(c certificate.Certificate) (certificate.Certificate, error) {
			c.Organisations = slices.DeleteFunc(slices.Clone(c.Organisations), func(o table.ID) bool { return o == organisation })
			return c, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Clear removes the certificates of a deleted provider. The store of its dashboard keeps
// them.
func Clear(ctx context.Context, w store.Writer, at table.ID) error {
	all, err := of(ctx, w, at)
	for _, c := range all {
		if err == nil {
			_, err = Kind.Delete(ctx, w, Kind.ID(c), nil)
		}
	}
	return err
}

// Expiring returns the certificates of organisations that expire between two times.
func Expiring(ctx context.Context, r store.Reader, from, to time.Time) (out []letter.Expiry, err error) {
	for v, err := range Kind.Find(ctx, r, store.Query{}) {
		if err != nil {
			return nil, err
		}
		c := v.Value
		if c.Away() || len(c.Organisations) == 0 || c.NotAfter.IsZero() || c.NotAfter.Before(from) || c.NotAfter.After(to) {
			continue
		}
		out = append(out, letter.Expiry{Certificate: c.ID, Name: c.Name, Organisations: c.Organisations, Expires: c.NotAfter})
	}
	return out, nil
}
