package intents_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// noting is a store that notes the revision of a request, as replicas do.
type noting struct {
	*memdb.DB
	last store.Revision
}

func (n *noting) Update(ctx context.Context, s tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	rev, err := n.DB.Update(ctx, s, fn)
	store.NoteCurrent(ctx, rev)
	n.last = rev
	return rev, err
}

// TestStepsReadWhatWasBefore: a step reads the result of any earlier action about its
// subject, also one of another process, although the request of the caller began with
// an older revision.
func TestStepsReadWhatWasBefore(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := crypto.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	s := &noting{DB: db}
	service := intents.New(intents.Settings{Holder: "one"}, crud.Tools{Store: s, Now: time.Now, Log: slog.New(slog.DiscardHandler), NewID: func() string { return "1" }}, keys)
	var read, opened store.Revision
	act := intents.Add(service, intents.Action[job]{Name: "things.look", Plan: func(tenant.ID, *job) intents.Plan {
		return intents.Plan{Steps: []intents.Step{{Name: "look", Do: func(ctx context.Context) error {
			read, opened = store.Current(ctx), s.last
			return nil
		}}}}
	}})
	scope, err := tenant.Of("acme")
	if err != nil {
		t.Fatal(err)
	}
	ctx := store.Request(t.Context())
	if err := act.Run(ctx, scope, about, &job{}); err != nil {
		t.Fatal(err)
	}
	if opened == 0 || read < opened {
		t.Errorf("the step reads revision %d; its intent was stored with %d", read, opened)
	}
}
