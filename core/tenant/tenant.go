// Package tenant has the identifiers of organisations, and the scopes that limit a unit of
// work to the data of an organisation.
package tenant

import "errors"

// ID identifies an organisation: 24 lower-case hex digits when generated.
type ID string

// Scope limits which organisations' data a unit of work may use. It has no exported fields, so
// that a request cannot set it; the zero Scope allows nothing.
type Scope struct {
	org    ID
	all    bool
	reason string
}

// Of returns the scope of one organisation; the empty organisation is refused.
func Of(org ID) (Scope, error) {
	if org == "" {
		return Scope{}, errors.New("tenant: empty organisation")
	}
	return Scope{org: org}, nil
}

// Everyone returns the scope of all organisations, for the admin surface, the
// gateway feeds and start-up work. The reason is kept in history.
func Everyone(reason string) Scope { return Scope{all: true, reason: reason} }

// Org returns the organisation, or "" for Everyone.
func (s Scope) Org() ID { return s.org }

// All reports whether s includes all organisations.
func (s Scope) All() bool { return s.all }

// Reason returns why s includes all organisations; "" if it does not.
func (s Scope) Reason() string { return s.reason }

// Admits reports whether s includes the data of org.
func (s Scope) Admits(org ID) bool { return s.all || (s.org != "" && s.org == org) }

// IsZero reports whether s admits nothing.
func (s Scope) IsZero() bool { return !s.all && s.org == "" }
