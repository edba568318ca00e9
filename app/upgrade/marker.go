package upgrade

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// marker is a record that says for which records the keys are up to date, so that a start
// does not decode all of them again. There is at most one, of no organisation. The marker
// of an organisation says that its records were upgraded, and that gateways have not been
// told to reload yet.
type marker struct {
	ID      string         `json:"id"`
	Org     tenant.ID      `json:"org_id,omitempty"`
	Indexes string         `json:"indexes"` // fingerprint of the indexes of all kinds
	UpTo    store.Revision `json:"up_to"`   // the last revision whose records have been checked
}

const (
	markerKind = "upgrade"
	markerID   = "keys"
	owedID     = "reload"
	// worthMarking is how many records have to be checked before a marker saves more than it
	// costs: some thirty milliseconds of a start.
	worthMarking = 1_000
)

var markers = &store.Kind[marker]{
	Name: markerKind, Noun: "upgrade",
	ID:  func(m marker) string { return m.ID },
	Org: func(m marker) tenant.ID { return m.Org },
}

// Registration is what markers of upgrades bring.
func Registration() crud.Registration {
	return crud.Facts[marker]{Kind: markers, Lasts: true}.Registration()
}

// fingerprint tells sets of indexes apart by their names and rules. An index whose values
// are computed in another way therefore needs another name (store.Index).
func fingerprint(kinds []*store.Kind[any]) string {
	var lines []string
	for _, k := range kinds {
		for _, ix := range k.Indexes {
			lines = append(lines, fmt.Sprintf("%s %s %t %t %t", k.Name, ix.Name, ix.Unique, ix.Across, ix.Sorted))
		}
		lines = append(lines, fmt.Sprintf("%s %t", k.Name, k.Refs != nil))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(fmt.Sprint(lines)))
	return hex.EncodeToString(sum[:])
}

// checked returns the last revision whose records need no check; 0: there is none.
func (s *Service) checked(ctx context.Context, r store.Reader) (store.Revision, error) {
	m, err := markers.Get(ctx, r, markerID)
	if fault.KindOf(err) == fault.NotFound || err == nil && m.Value.Indexes != fingerprint(s.Kinds) {
		return 0, nil
	}
	return m.Value.UpTo, err
}

// mark stores that all records up to a revision have been checked.
func (s *Service) mark(ctx context.Context, upTo store.Revision) error {
	m := marker{ID: markerID, Indexes: fingerprint(s.Kinds), UpTo: upTo}
	_, err := s.Store.Update(ctx, tenant.Everyone("upgrade"), func(w store.Writer) error {
		_, err := markers.Edit(ctx, w, markerID, nil, func(old marker) (marker, error) {
			if old.Indexes == m.Indexes {
				m.UpTo = max(m.UpTo, old.UpTo)
			}
			return m, nil
		})
		if fault.KindOf(err) == fault.NotFound {
			err = markers.Insert(ctx, w, m)
		}
		return err
	})
	if k := fault.KindOf(err); k == fault.Conflict || k == fault.Stale || errors.Is(err, store.ErrStale) { // another process marks as well
		return nil
	}
	return err
}
