// Package tenant names the organisation that owns data, and says whose data a
// unit of work may touch.
package tenant

import "errors"

// ID identifies an organisation: 24 lower-case hex digits when generated.
type ID string

// Scope says whose data a unit of work may touch. It has no exported fields, so
// that it cannot be forged from a request; the zero Scope touches nothing.
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

// All reports whether s spans organisations.
func (s Scope) All() bool { return s.all }

// Reason says why s spans organisations; "" when it does not.
func (s Scope) Reason() string { return s.reason }

// Admits reports whether data of org lies within s.
func (s Scope) Admits(org ID) bool { return s.all || (s.org != "" && s.org == org) }

// IsZero reports whether s admits nothing.
func (s Scope) IsZero() bool { return !s.all && s.org == "" }
