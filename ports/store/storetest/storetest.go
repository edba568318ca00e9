// Package storetest is the test suite that every store back end passes. A back end's own test
// file is a constructor and a call of Run.
package storetest

import (
	"context"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Backend is a store under test.
type Backend interface {
	store.Store
	store.ChangeLog
	store.Snapshotter
	store.Historian
	store.Leases
}

// New returns a fresh, empty back end that is closed when the test ends.
type New func(testing.TB) Backend

// across makes a unique index unique across organisations.
func across(ix store.Index[thing]) store.Index[thing] {
	ix.Across = true
	return ix
}

// thing is the resource of the suite: four indexes, one unique, one unique across
// organisations and one sorted, and references.
type thing struct {
	ID    string    `json:"id"`
	Org   tenant.ID `json:"org"`
	Name  string    `json:"name"`
	Owner string    `json:"owner"`
	Rank  string    `json:"rank,omitempty"`
	N     int       `json:"n"`
	Text  string    `json:"text,omitempty"`
	World string    `json:"world,omitempty"`
}

var things = &store.Kind[thing]{
	Name: "thing", Noun: "thing", Alias: "name",
	ID:  func(t thing) string { return t.ID },
	Org: func(t thing) tenant.ID { return t.Org },
	Indexes: []store.Index[thing]{
		store.Unique("name", "name", func(t thing) string { return t.Name }),
		store.Lookup("owner", func(t thing) string { return t.Owner }),
		store.Sorted("rank", func(t thing) string { return t.Rank }),
		across(store.Unique("world", "world", func(t thing) string { return t.World })),
	},
	Refs: func(t thing) []integrity.Ref {
		if t.Owner == "" {
			return nil
		}
		return []integrity.Ref{{Target: integrity.Target{Kind: "person", ID: t.Owner}, Field: "owner", OnDelete: integrity.Tolerate}}
	},
}

// Run tests a back end, each test with a new one.
func Run(t *testing.T, newBackend New) {
	for _, group := range [][]test{resourceTests, uniqueTests, referenceTests, serialTests, isolationTests, unitTests, scanTests, sortedTests, rehearsalTests, changeLogTests, historyTests, longTests, concurrencyTests, leaseTests} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) { c.run(t, newBackend(t)) })
		}
	}
}

type test struct {
	name string
	run  func(*testing.T, Backend)
}

// rehearsal returns a context in which units of work store nothing.
func rehearsal(t *testing.T) context.Context {
	ctx, _ := store.Rehearse(t.Context(), store.Onlooker{})
	return ctx
}
