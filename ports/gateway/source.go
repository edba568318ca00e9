package gateway

import (
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Source makes the content of one feed from one snapshot, one record at a time: the cost
// depends on the number of changed records.
type Source struct {
	Name string   // "apis"
	What string   // "active API": describes an entry, in the API description
	Kind string   // of the records that are its entries
	Uses []string // other kinds of records from which entries are made
	// Entry makes the entry of one record. It looks up only records of the kinds in Uses.
	Entry func(rec store.Record, l Lookup) feed.Entry
}

// Lookup finds the other records from which an entry is made. The entry is made again when a
// result of Lookup changes.
type Lookup interface {
	// Record returns another record of the organisation to which the entry's record belongs;
	// false: there is none.
	Record(kind, id string) (store.Record, bool)
	// Orgs returns the organisations that have a record with a value in an index.
	Orgs(kind, index, value string) []tenant.ID
	// Elsewhere reports whether other organisations have a record with a value in an index, while
	// the organisation of the entry's record has none.
	Elsewhere(kind, index, value string) bool
}
