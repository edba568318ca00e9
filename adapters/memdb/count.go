package memdb

import (
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// count is how many records there are of something: of a kind and organisation,
// or of those that are in one of their sorted indexes, all or those of one family,
// which is what the value has up to its first NUL. Lists have many pages and show
// how many: a request does not count the records.
type count struct {
	of []byte
	n  int
}

// sameRuns reports whether a change of a record moves it in no sorted index.
func sameRuns(old, now *store.Record) bool {
	runs := map[store.Key]bool{}
	for _, k := range old.Keys {
		if k.Sorted {
			runs[k] = true
		}
	}
	for _, k := range now.Keys {
		if k.Sorted && !runs[k] {
			return false
		}
		delete(runs, k)
	}
	return len(runs) == 0
}

// tally adds a record to the counts it belongs to.
func tally(counts map[string]int, r *store.Record, n int) {
	counts[string(key(r.Kind, string(r.Org)))] += n
	for _, k := range r.Keys {
		if !k.Sorted {
			continue
		}
		all := key(r.Kind, string(r.Org), k.Index)
		counts[string(all)] += n
		if i := strings.IndexByte(k.Value, 0); i >= 0 {
			counts[string(begin(all, k.Value[:i+1]))] += n
		}
	}
}

// add changes the counts in the database.
func add(txn *memdb.Txn, counts map[string]int) error {
	for of, n := range counts {
		if n == 0 {
			continue
		}
		have, err := total(txn, []byte(of))
		if err != nil {
			return err
		}
		if err := txn.Insert(tableCount, &count{[]byte(of), have + n}); err != nil {
			return err
		}
	}
	return nil
}

func total(txn *memdb.Txn, of []byte) (int, error) {
	obj, err := txn.First(tableCount, indexID, of)
	if err != nil || obj == nil {
		return 0, err
	}
	return obj.(*count).n, nil
}
