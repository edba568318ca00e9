package gateway

import (
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Source makes the content of one feed out of one snapshot, record by record:
// that costs as much as has changed.
type Source struct {
	Name string   // "apis"
	What string   // "active API": what an entry is, in the API description
	Kind string   // of the records that are its entries
	Uses []string // kinds of other records that entries are made from
	// Entry makes one entry. It looks up records of the kinds in Uses only.
	Entry func(rec store.Record, l Lookup) feed.Entry
}

// Lookup finds what else an entry is made from. The entry is made again when an
// answer changes.
type Lookup interface {
	// Record returns another record of the organisation whose record becomes the
	// entry; false: there is none.
	Record(kind, id string) (store.Record, bool)
	// Orgs returns the organisations that have a record with a value in an index.
	Orgs(kind, index, value string) []tenant.ID
	// Elsewhere reports whether other organisations have a record with a value in an index,
	// and the one whose record becomes the entry has none.
	Elsewhere(kind, index, value string) bool
}
