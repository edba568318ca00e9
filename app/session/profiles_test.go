package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/broker"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestIdentifiersOfProfiles: the IDs of profiles are unique in an installation, also
// when two profiles are created concurrently, and when the older one is not in the
// index.
func TestIdentifiersOfProfiles(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	st := &between{Store: db}
	ops := session.Profiles.Group.Rows(session.Profiles.With(crud.Tools{Store: st, NewID: apptest.Numbered("%024x"), Now: time.Now, PageSize: 10}).Plain()...)
	create := func(org, id string) error {
		scope, err := tenant.Of(tenant.ID(org))
		if err != nil {
			return err
		}
		for _, o := range ops {
			if o.ID == "tib.profiles.create" {
				_, err = o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Scope: scope, Body: json.RawMessage(fmt.Sprintf(`{"ID":%q,"ActionType":"GenerateOrLoginUserProfile"}`, id))})
			}
		}
		return err
	}

	plain := &store.Kind[broker.Profile]{Name: broker.Kind, ID: func(p broker.Profile) string { return p.ID }, Org: func(p broker.Profile) tenant.ID { return p.OrgID }}
	scope, _ := tenant.Of("a")
	if _, err := db.Update(t.Context(), scope, func(w store.Writer) error {
		return plain.Insert(t.Context(), w, broker.Profile{ID: "older", OrgID: "a"})
	}); err != nil {
		t.Fatal(err)
	}
	refused := func(org, id string) {
		t.Helper()
		f, ok := errors.AsType[*fault.Error](create(org, id))
		if !ok || f.Code != broker.CodeTaken || f.Field != "ID" || f.Message != "profile ID already exists: '"+id+"'" {
			t.Errorf("%s: %v", org, f)
		}
	}
	refused("a", "older")
	refused("b", "older")
	st.between = func() {
		if err := create("a", "corp"); err != nil {
			t.Error(err)
		}
	}
	refused("b", "corp")
}

// between is a store that calls a function once, between a lookup and a write.
type between struct {
	store.Store
	between func()
}

func (b *between) View(ctx context.Context, s tenant.Scope, fn func(store.Reader) error) error {
	err := b.Store.View(ctx, s, fn)
	if then := b.between; then != nil {
		b.between = nil
		then()
	}
	return err
}
