package gateway_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/gzip"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/gateway"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/presence"
)

// hanging is a board whose database accepts a call and does not respond.
type hanging struct{ presence.Board }

// Forget implements presence.Board.
func (hanging) Forget(ctx context.Context, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

// A gateway that stops waits for the response: it gets one while the database hangs,
// and is refused afterwards.
func TestDeregistrationDoesNotHang(t *testing.T) {
	secret := crypto.NewNodeTokens("secret")
	n := gateway.New(gateway.Config{Coding: &gzip.Coding{}, Tokens: secret, Now: time.Now, Log: slog.New(slog.DiscardHandler), Board: hanging{gateway.NewMemory()}})
	ops := map[string]operation.Operation{}
	for _, o := range n.Operations() {
		ops[o.ID] = o
	}
	for _, id := range []string{"system.node.delete", "register.ping"} {
		o := ops[id]
		c := operation.Call{Spec: &o.Spec, Header: map[string]string{"X-Tyk-Nodeid": secret.NodeID("s")}}
		if _, err := o.Do(context.Background(), &c); (fault.KindOf(err) == fault.Denied) != (id == "register.ping") {
			t.Error(id, err)
		}
	}
}

// The list of nodes has the form that existing clients read, and further fields.
func TestListing(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	n := gateway.New(gateway.Config{Store: db, Coding: &gzip.Coding{}, Tokens: crypto.NewNodeTokens("secret"), Now: func() time.Time { return now },
		Log: slog.New(slog.DiscardHandler), Board: gateway.NewMemory()})
	ops := map[string]operation.Operation{}
	for _, o := range n.Operations() {
		ops[o.ID] = o
	}
	do := func(id string, c operation.Call) (string, error) {
		o := ops[id]
		c.Spec = &o.Spec
		v, err := o.Do(context.Background(), &c)
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(v)
		return string(text), err
	}
	if _, err := do("register.node", operation.Call{Header: map[string]string{"X-Tyk-Session-Id": "s", "X-Tyk-Hostname": "gw-1"}}); err != nil {
		t.Fatal(err)
	}
	id := crypto.NewNodeTokens("secret").NodeID("s")
	got, err := do("system.nodes.list", operation.Call{})
	want := `{"data":{"nodes":[{"id":"` + id + `","hostname":"gw-1"}],"active_node_count":1,"nodes_available":-1,"nodes_remaining":-1,"valid_until":253402300799},` +
		`"nodes":[{"node_id":"` + id + `","session_id":"s","hostname":"gw-1","first_seen":"2026-01-02T03:04:05Z","last_seen":"2026-01-02T03:04:05Z","last_beat":null,"feeds":[]}],"pages":1}`
	if err != nil || got != want {
		t.Errorf("%s, want\n%s, %v", got, want, err)
	}
	got, err = do("system.nodes.get", operation.Call{Path: map[string]string{"id": id, "host": "gw-1"}})
	if err != nil || got != `{"data":{"db_app_conf_options":{"node_is_segmented":false,"tags":[]}}}` {
		t.Error(got, err)
	}
	for _, path := range []map[string]string{{"id": id, "host": "gw-2"}, {"id": "x", "host": "gw-1"}} {
		if _, err := do("system.nodes.get", operation.Call{Path: path}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%v: %v", path, err)
		}
	}
	if alive, err := n.Alive(t.Context()); err != nil || alive != 1 {
		t.Error(alive, err)
	}
	if _, err := do("register.node", operation.Call{Header: map[string]string{"X-Tyk-Session-Id": strings.Repeat("s", 4_000), "X-Tyk-Hostname": strings.Repeat("h", 4_000)}}); err != nil {
		t.Fatal(err)
	}
	if got, err = do("system.nodes.list", operation.Call{}); err != nil || len(got) > 2_000 {
		t.Errorf("long names: %d bytes, %v", len(got), err)
	}
	now = now.Add(time.Minute)
	got, err = do("system.nodes.list", operation.Call{})
	if err != nil || got != `{"data":{"nodes":[],"active_node_count":0,"nodes_available":-1,"nodes_remaining":-1,"valid_until":253402300799},"nodes":[],"pages":1}` {
		t.Error(got, err)
	}
}
