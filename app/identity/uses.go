package identity

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// keyUse is when a key of a service account was last used. It is a record of its own,
// so that a use changes neither the account nor its entity tag.
type keyUse struct {
	ID      string    `json:"id"` // of the key
	OrgID   tenant.ID `json:"org_id"`
	Account string    `json:"account"`
	At      time.Time `json:"at"`
}

var keyUses = &store.Kind[keyUse]{
	Name: identity.AccountKind + "_use", Noun: "use of a key",
	ID:  func(u keyUse) string { return u.ID },
	Org: func(u keyUse) tenant.ID { return u.OrgID },
}

// UseRegistration returns the registration of the kind of key uses.
func UseRegistration() crud.Registration {
	return crud.Facts[keyUse]{Kind: keyUses, Sample: func(at crud.Stamp) (keyUse, error) {
		return keyUse{ID: at.ID, OrgID: at.Org, Account: at.ID, At: at.Now()}, nil
	}}.Registration()
}

// usePause is how often uses are stored.
const usePause = time.Minute

// Run stores the uses of keys once a minute, and when ctx ends.
func (s ServiceAccounts) Run(ctx context.Context) error {
	tick := time.NewTicker(usePause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.WriteUses(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			s.WriteUses(last)
			return nil
		}
	}
}

// Using is the attribution of commits that store which keys of service accounts were
// used. Audit trails leave these commits out.
const Using = "service-accounts.used"

// WriteUses stores which keys have been used.
func (s ServiceAccounts) WriteUses(ctx context.Context) {
	ctx = store.Attribute(ctx, store.Attribution{Actor: "service", Operation: Using})
	s.uses.Flush(ctx, s.Store, s.Log, "keys of service accounts", func(u keyUse) tenant.ID { return u.OrgID }, writeUses)
}

func writeUses(ctx context.Context, w store.Writer, batch []keyUse) error {
	for _, use := range batch {
		a, err := accounts.Get(ctx, w, use.Account)
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(a.Value.Keys, func(k identity.AccountKey) bool { return k.ID == use.ID }) {
			continue // the key was deleted meanwhile
		}
		_, err = keyUses.Edit(ctx, w, use.ID, nil, func(keyUse) (keyUse, error) { return use, nil })
		if fault.KindOf(err) == fault.NotFound {
			err = keyUses.Insert(ctx, w, use)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetUse deletes the use of a deleted key, if there is one.
func forgetUse(ctx context.Context, w store.Writer, keyID string) error {
	if _, err := keyUses.Delete(ctx, w, keyID, nil); err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	return nil
}
