package memdb

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

const (
	tableRecord = "record"
	tableLeaf   = "leaf"
	tableCommit = "commit"
	tableHead   = "head"
	tableKind   = "kind"
	tableCount  = "count"

	indexID  = "id"  // record: kind, ID, organisation
	indexKey = "key" // record: kind, index, value, organisation
	indexRef = "ref" // record: organisation, target kind, target ID
	indexRun = "run" // record: kind, organisation, sorted index, value
)

// kindRow holds the revision at which a kind was last changed.
type kindRow struct {
	kind string
	rev  store.Revision
}

// head is the one row that holds the revision of the database.
type head struct {
	rev   store.Revision
	floor store.Revision // kinds without a row count as touched here
}

// prefix makes go-memdb look for keys that begin with the argument.
const prefix = "_prefix"

// key joins parts so that no part can run into the next. Keys sort as their parts do.
func key(parts ...string) []byte {
	size := 0
	for _, p := range parts {
		size += len(p) + 2
	}
	b := make([]byte, 0, size)
	for _, p := range parts {
		b = append(begin(b, p), 0, 1)
	}
	return b
}

// begin appends the encoding of p as the beginning of a part, to look up all parts that
// begin with p.
func begin(b []byte, p string) []byte {
	if strings.IndexByte(p, 0) >= 0 {
		p = strings.ReplaceAll(p, "\x00", "\x00\xff")
	}
	return append(b, p...)
}

func schema() *memdb.DBSchema {
	records := map[string]*memdb.IndexSchema{
		indexID: unique(func(r *store.Record) []byte { return key(r.Kind, r.ID, string(r.Org)) }, indexID),
		indexKey: {Name: indexKey, AllowMissing: true, Indexer: multi[store.Record](func(r *store.Record) (keys [][]byte) {
			for _, k := range r.Keys {
				keys = append(keys, key(r.Kind, k.Index, k.Value, string(r.Org)))
			}
			return keys
		})},
		indexRef: {Name: indexRef, AllowMissing: true, Indexer: multi[store.Record](func(r *store.Record) (keys [][]byte) {
			for _, ref := range r.Refs {
				keys = append(keys, key(string(r.Org), ref.Kind, ref.ID))
			}
			return keys
		})},
		indexRun: {Name: indexRun, AllowMissing: true, Indexer: multi[store.Record](func(r *store.Record) (keys [][]byte) {
			for _, k := range r.Keys {
				if k.Sorted {
					keys = append(keys, key(r.Kind, string(r.Org), k.Index, k.Value))
				}
			}
			return keys
		})},
	}
	return &memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
		tableRecord: {Name: tableRecord, Indexes: records},
		tableLeaf: {Name: tableLeaf, Indexes: map[string]*memdb.IndexSchema{
			indexID: unique(func(l *leaf) []byte { return l.key }, indexID),
		}},
		tableCommit: {Name: tableCommit, Indexes: map[string]*memdb.IndexSchema{
			indexID: unique(func(c *store.Commit) []byte { return revKey(c.Rev) }, indexID),
		}},
		tableKind: {Name: tableKind, Indexes: map[string]*memdb.IndexSchema{
			indexID: unique(func(k *kindRow) []byte { return key(k.kind) }, indexID),
		}},
		tableCount: {Name: tableCount, Indexes: map[string]*memdb.IndexSchema{
			indexID: unique(func(c *count) []byte { return c.of }, indexID),
		}},
		tableHead: {Name: tableHead, Indexes: map[string]*memdb.IndexSchema{
			indexID: unique(func(*head) []byte { return []byte{1} }, indexID),
		}},
	}}
}

func unique[T any](value func(*T) []byte, name string) *memdb.IndexSchema {
	return &memdb.IndexSchema{Name: name, Unique: true, Indexer: single[T](value)}
}

func revKey(r store.Revision) []byte { return binary.BigEndian.AppendUint64(nil, uint64(r)) }

// single indexes a T by one value; queries pass ready-made bytes.
type single[T any] func(*T) []byte

// FromArgs implements memdb.Indexer.
func (f single[T]) FromArgs(args ...any) ([]byte, error) { return rawArg(args) }

// PrefixFromArgs implements memdb.PrefixIndexer.
func (f single[T]) PrefixFromArgs(args ...any) ([]byte, error) { return rawArg(args) }

// FromObject implements memdb.SingleIndexer.
func (f single[T]) FromObject(obj any) (bool, []byte, error) {
	b := f(obj.(*T))
	return len(b) > 0, b, nil
}

// multi indexes a T by any number of values.
type multi[T any] func(*T) [][]byte

// FromArgs implements memdb.Indexer.
func (f multi[T]) FromArgs(args ...any) ([]byte, error) { return rawArg(args) }

// PrefixFromArgs implements memdb.PrefixIndexer.
func (f multi[T]) PrefixFromArgs(args ...any) ([]byte, error) { return rawArg(args) }

// FromObject implements memdb.MultiIndexer.
func (f multi[T]) FromObject(obj any) (bool, [][]byte, error) {
	b := f(obj.(*T))
	return len(b) > 0, b, nil
}

func rawArg(args []any) ([]byte, error) {
	if len(args) == 1 {
		if b, ok := args[0].([]byte); ok {
			return b, nil
		}
	}
	return nil, fmt.Errorf("memdb: index argument %v is not one byte slice", args)
}
