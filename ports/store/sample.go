package store

import "github.com/gatehouse-io/gatehouse/core/tenant"

// Sample is a kind and values of it that the kind accepts: back ends are checked with
// it.
type Sample struct {
	Kind *Kind[any]
	// Make returns the value with an ID in an organisation; all else is the same.
	Make func(id string, org tenant.ID) (any, error)
}
