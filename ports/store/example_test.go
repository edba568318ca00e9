package store_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// account and entry are two kinds that must be consistent.
type account struct {
	ID      string    `json:"id"`
	Org     tenant.ID `json:"org"`
	Balance int       `json:"balance"`
}

type entry struct {
	ID      string    `json:"id"`
	Org     tenant.ID `json:"org"`
	Account string    `json:"account"`
	Amount  int       `json:"amount"`
}

var accounts = &store.Kind[account]{Name: "account", ID: func(a account) string { return a.ID }, Org: func(a account) tenant.ID { return a.Org }}

var entries = &store.Kind[entry]{
	Name: "entry", ID: func(e entry) string { return e.ID }, Org: func(e entry) tenant.ID { return e.Org },
	Indexes: []store.Index[entry]{store.Lookup("account", func(e entry) string { return e.Account })},
}

// One unit of work over two kinds: both change, or neither does.
func Example() {
	ctx := context.Background()
	db, err := memdb.New(time.Now)
	if err != nil {
		panic(err)
	}
	acme, err := tenant.Of("acme")
	if err != nil {
		panic(err)
	}
	book := func(id string, amount int) error {
		_, err := db.Update(ctx, acme, func(w store.Writer) error {
			if err := entries.Insert(ctx, w, entry{ID: id, Org: "acme", Account: "cash", Amount: amount}); err != nil {
				return err
			}
			_, err := accounts.Edit(ctx, w, "cash", nil, func(a account) (account, error) {
				if a.Balance += amount; a.Balance < 0 {
					return a, errors.New("not enough money")
				}
				return a, nil
			})
			return err
		})
		return err
	}
	_, err = db.Update(ctx, acme, func(w store.Writer) error { return accounts.Insert(ctx, w, account{ID: "cash", Org: "acme"}) })
	fmt.Println(err, book("1", 10), book("2", -30), book("3", -4))
	_ = db.View(ctx, acme, func(r store.Reader) error {
		cash, err := accounts.Get(ctx, r, "cash")
		fmt.Println(cash.Value.Balance, "at revision", cash.Rev, err)
		for e := range entries.Find(ctx, r, store.Query{Index: "account", Value: "cash"}) {
			fmt.Println("entry", e.Value.ID, e.Value.Amount)
		}
		return nil
	})
	// Output:
	// <nil> <nil> not enough money <nil>
	// 6 at revision 3 <nil>
	// entry 1 10
	// entry 3 -4
}
