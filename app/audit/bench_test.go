package audit_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// BenchmarkTell makes audit records of 500 changes of a record of 1 KiB.
func BenchmarkTell(b *testing.B) {
	b.ReportAllocs()
	keys, err := crypto.NewKeys("a secret")
	if err != nil {
		b.Fatal(err)
	}
	scope, err := tenant.Of("a")
	if err != nil {
		b.Fatal(err)
	}
	type member struct{ Name, Value string }
	type thing struct {
		ID      string            `json:"id"`
		Org     tenant.ID         `json:"org"`
		Members map[string]member `json:"members"`
	}
	kind := &store.Kind[thing]{Name: "thing", ID: func(v thing) string { return v.ID }, Org: func(v thing) tenant.ID { return v.Org }}
	v := thing{ID: "t", Org: "a", Members: map[string]member{}}
	for i := range 10 {
		v.Members[fmt.Sprint("m", i)] = member{"name", strings.Repeat("v", 80)}
	}
	for b.Loop() {
		b.StopTimer()
		db, err := memdb.New(time.Now)
		if err != nil {
			b.Fatal(err)
		}
		p, err := audit.New(audit.Settings{Signer: keys}, crud.Tools{Store: db, Now: time.Now, Log: slog.New(slog.DiscardHandler)}, func(string) *operation.Spec { return nil })
		if err != nil {
			b.Fatal(err)
		}
		for i := range 500 {
			if _, err := db.Update(b.Context(), scope, func(w store.Writer) error {
				if i == 0 {
					return kind.Insert(b.Context(), w, v)
				}
				_, err := kind.Edit(b.Context(), w, "t", nil, func(v thing) (thing, error) {
					v.Members["m3"] = member{"name", fmt.Sprint(i)}
					return v, nil
				})
				return err
			}); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		if err := p.Fold(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
