package memdb

import (
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// count is a number of records: of a kind and organisation, or of one of their sorted
// indexes, all of it or one family. The family is the part of the value before its
// first NUL. Lists show how many records there are in all; with stored counts a request
// does not have to count them.
type count struct {
	of []byte
	n  int
}

// sameRuns reports whether a change of a record leaves its place in all sorted indexes.
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

// add applies the changes of counts to the database.
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
