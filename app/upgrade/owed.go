package upgrade

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// owe notes, in the unit of work that upgrades records of an organisation, that gateways
// must reload. The note outlives a process that dies before it has told them: the next
// start may find nothing else to do.
func owe(ctx context.Context, w store.Writer, org tenant.ID) error {
	_, err := markers.Get(ctx, w, owedID)
	if fault.KindOf(err) == fault.NotFound {
		return markers.Insert(ctx, w, marker{ID: owedID, Org: org})
	}
	return err
}

// owed returns the organisations with upgraded records of which gateways were not told.
func owed(ctx context.Context, r store.Reader) (out []tenant.ID, err error) {
	for rec, err := range r.Scan(ctx, store.Query{Kind: markerKind}) {
		if err != nil {
			return nil, err
		}
		if rec.ID == owedID && rec.Org != "" {
			out = append(out, rec.Org)
		}
	}
	return out, nil
}

// settle tells gateways to reload, together with the removal of the last note: if the
// process dies before, the next start finds that note.
func (s *Service) settle(ctx context.Context) error {
	var all []tenant.ID
	err := s.Store.View(ctx, tenant.Everyone("upgrade"), func(r store.Reader) (err error) {
		all, err = owed(ctx, r)
		return err
	})
	if err != nil {
		return err
	}
	for i, org := range all {
		if err := s.tell(ctx, org, i == len(all)-1); err != nil {
			return err
		}
	}
	return nil
}

// tell removes the note of one organisation. Another process may have removed it already.
func (s *Service) tell(ctx context.Context, org tenant.ID, last bool) error {
	scope, err := tenant.Of(org)
	if err != nil {
		return err
	}
	return s.again(ctx, scope, func(w store.Writer) error {
		_, err := markers.Delete(ctx, w, owedID, nil)
		if err := fault.AbsentFine(err); err != nil || !last {
			return err
		}
		return notify.Post(ctx, w, signal.Signal{Command: signal.GroupReload})
	})
}
