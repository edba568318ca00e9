package app_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

type stored = gateway.Keys

// slowKeys is a gateway that takes its time to store a key.
type slowKeys struct {
	stored // the rest, which nothing here calls
	asked  atomic.Int64
}

func (k *slowKeys) CreateKey(_ context.Context, _ tenant.ID, id string, session *doc.Node) (gateway.StoredKey, error) {
	k.asked.Add(1)
	time.Sleep(8 * time.Second)
	return gateway.StoredKey{Key: gateway.Key{ID: id, Hash: "0123456789abcdef"}, Session: session}, nil
}

func (k *slowKeys) Key(context.Context, tenant.ID, gateway.KeyName) (gateway.StoredKey, error) {
	return gateway.StoredKey{}, gateway.ErrUnknown
}

// TestBeside: of two services in one process with one store, each leaves alone what the
// other carries out.
func TestBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sealing, err := crypto.NewKeys("a secret of the test")
		if err != nil {
			t.Fatal(err)
		}
		gw := &slowKeys{}
		opts := []app.Option{app.WithClock(time.Now), app.WithKeys(sealing), app.WithPasswords(crypto.Passwords{Iterations: 1}),
			app.WithLogger(slog.New(slog.DiscardHandler)), app.WithGatewayControl(gateway.Control{Keys: gw})}
		first, err := app.New(opts...)
		if err != nil {
			t.Fatal(err)
		}
		second, err := app.New(append(opts, app.WithStore(first.Store()))...)
		if err != nil {
			t.Fatal(err)
		}
		both := []*app.App{first, second}
		if _, err := first.Bootstrap(t.Context(), identity.First{OrgID: "org-a", OwnerSlug: "a", Email: "admin@a.example", AccessKey: strings.TrimPrefix(callers["admin"][1], "Bearer ")}); err != nil {
			t.Fatal(err)
		}
		for _, a := range both {
			if err := a.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = a.Stop(context.Background()) }()
		}
		for i, a := range both {
			code, text := fetch(t, a, "POST", "/api/keys", "admin", `{"access_rights":{"orders":{}}}`)
			if asked := gw.asked.Swap(0); code != http.StatusOK || asked != 1 {
				t.Errorf("service %d answered %d %s, and the gateway was asked %d times, want 200 and once", i, code, text, asked)
			}
		}
	})
}
