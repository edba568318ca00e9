package app_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// intended is an intent of an organisation.
func intended(org tenant.ID, n int, at time.Time) intent.Intent {
	in := intent.Begin(strings.Repeat(fmt.Sprintf("%012x", n), 2), org, "keys.update", intent.Subject{Kind: "key", ID: fmt.Sprint("hash", n)}, intent.By{Actor: "ada", Operation: "keys.update", Request: "r"}, at)
	in.Details = "sealed"
	return in
}

// resting is an intent that waits for an operator.
func resting(org tenant.ID, n int, at time.Time) intent.Intent {
	in, err := intended(org, n, at).On(intent.Exhaust, at.Add(time.Minute), "no gateway answers as it should")
	if err != nil {
		panic(err)
	}
	return in
}

// intending is a store with an intent in each state for one organisation, and one for
// another.
func intending() *memdb.DB {
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	undoing, first := intended("org-a", 4, at.Add(3*time.Second)).On(intent.Return, at, "the gateway refuses")
	done, second := intended("org-a", 5, at.Add(4*time.Second)).On(intent.Succeed, at, "")
	done.Told = []byte(`{"key_hash":"hash5"}`)
	all := []intent.Intent{
		intended("org-a", 1, at).Later(at, "no gateway answers as it should", 22*time.Minute), resting("org-a", 2, at.Add(time.Second)),
		intended("org-a", 3, at.Add(2*time.Second)).Held("another process", at.Add(22*time.Minute)), undoing, done, intended("org-b", 6, at),
	}
	db, err := memdb.New(apptest.Clock())
	kind := intents.Registration().Untyped
	_, more := db.Update(context.Background(), tenant.Everyone("test"), func(w store.Writer) error {
		var errs []error
		for _, in := range all {
			errs = append(errs, kind.Insert(context.Background(), w, in))
		}
		return errors.Join(errs...)
	})
	if err := errors.Join(first, second, err, more); err != nil {
		panic(err)
	}
	return db
}
