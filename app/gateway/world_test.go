package gateway_test

import (
	"bytes"
	library "compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/gzip"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/gateway"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/app/registry"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	port "github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// tokens is a port that knows no node.
type tokens struct{}

func (tokens) NodeID(string) string   { return "node" }
func (tokens) Ours(string) bool       { return false }
func (tokens) Nonce(time.Time) string { return "nonce" }

// world is a store and the feeds that are made from it.
type world struct {
	testing.TB
	db    *memdb.DB
	nodes *gateway.Nodes
	log   apptest.Log
	made  map[string]int // number of encoded entries, by feed
	mu    sync.Mutex
}

func newWorld(t testing.TB) *world {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{TB: t, db: db, made: map[string]int{}}
	w.nodes = w.gateway()
	return w
}

// gateway returns use cases without any feed yet.
func (w *world) gateway() *gateway.Nodes {
	sources := []port.Source{*apis.Feed(false), *policies.Feed(false), *registry.Feed()}
	for i, s := range sources {
		sources[i].Entry = func(rec store.Record, l port.Lookup) feed.Entry {
			w.mu.Lock()
			w.made[s.Name]++
			w.mu.Unlock()
			return s.Entry(rec, l)
		}
	}
	return gateway.New(gateway.Config{Store: w.db, Tokens: tokens{}, Now: time.Now, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
		Board: gateway.NewMemory(), Coding: &gzip.Coding{}, Sources: sources})
}

// encoded returns how many entries were encoded since the last call.
func (w *world) encoded(feed string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.made[feed]
	w.made[feed] = 0
	return n
}

// record is a record that a test stores. With an empty text the record is deleted.
type record struct {
	org, kind, id, text string
	keys                []store.Key
}

// put stores records, those of one kind and organisation in one unit of work.
func (w *world) put(records ...record) {
	w.Helper()
	_, err := w.db.Update(w.Context(), tenant.Everyone("test"), func(wr store.Writer) error {
		for _, r := range records {
			rec := store.Record{Org: tenant.ID(r.org), Kind: r.kind, ID: r.id, Doc: []byte(r.text), Keys: r.keys}
			for old, err := range wr.Scan(w.Context(), store.Query{Kind: r.kind, ID: r.id}) {
				if err != nil {
					return err
				}
				if old.Org == rec.Org {
					rec.Rev = old.Rev
				}
			}
			if err := wr.Put(w.Context(), rec); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) remove(org, kind, id string) {
	w.Helper()
	s, err := tenant.Of(tenant.ID(org))
	if err != nil {
		w.Fatal(err)
	}
	if _, err := w.db.Update(w.Context(), s, func(wr store.Writer) error { return wr.Delete(w.Context(), kind, id) }); err != nil {
		w.Fatal(err)
	}
}

// do calls an operation.
func do(t testing.TB, n *gateway.Nodes, id string, c operation.Call) any {
	t.Helper()
	for _, op := range n.Operations() {
		if op.ID == id {
			c.Spec = &op.Spec
			out, err := op.Do(context.WithoutCancel(t.Context()), &c)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
	}
	t.Fatalf("no operation %s", id)
	return nil
}

// fetch returns a feed as a node decodes it, and checks that both encodings have the
// same content.
func fetch(t testing.TB, n *gateway.Nodes, name string) []json.RawMessage {
	t.Helper()
	media, _, plain, packed := do(t, n, "system."+name, operation.Call{}).(operation.Stream).Stream()
	text := bytes.Join(plain, nil)
	z, err := library.NewReader(bytes.NewReader(bytes.Join(packed, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if unpacked, err := io.ReadAll(z); err != nil || !bytes.Equal(unpacked, text) || media != "application/json" {
		t.Fatalf("%s, %v:\n%s\n%s", media, err, unpacked, text)
	}
	var reply struct {
		Status, Nonce string
		Message       []json.RawMessage
	}
	if err := json.Unmarshal(text, &reply); err != nil || reply.Status != "OK" || reply.Nonce != "nonce" || reply.Message == nil {
		t.Fatalf("%v: %s", err, text)
	}
	return reply.Message
}

// expect compares a feed with the wanted entries.
func (w *world) expect(name string, want ...string) {
	w.Helper()
	have := fetch(w, w.nodes, name)
	if fmt.Sprintf("%s", have) != fmt.Sprintf("%s", want) {
		w.Errorf("%s\nhave %s\nwant %s", name, have, want)
	}
}

// id makes a database ID.
func id(i int) string { return fmt.Sprintf("5f%022x", i) }

// api makes an API; more is appended to its definition, wrapper to the record.
func api(org string, i int, more, wrapper string) record {
	def := fmt.Sprintf(`{"id":"%s","api_id":"api-%d","org_id":"%s","active":true%s}`, id(i), i, org, more)
	return record{org: org, kind: "api", id: id(i), keys: []store.Key{{Index: "api_id", Value: fmt.Sprintf("api-%d", i)}},
		text: fmt.Sprintf(`{"_id":"%s","class":"classic","api_definition":%s%s,"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"}`, id(i), def, wrapper)}
}

// served returns the form of an API that gateways get.
func served(org string, i int, more string) string {
	return fmt.Sprintf(`{"api_definition":{"id":"%s","api_id":"api-%d","org_id":"%s","active":true%s},"oas":null}`, id(i), i, org, more)
}
