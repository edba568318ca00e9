package analytics

import (
	"database/sql"
	"errors"
)

// Place is a database that holds some of the tables.
type Place struct {
	Readers, Writers *sql.DB // may be the same
	Dialect          Dialect
	Sharded          bool // what is written goes to a table for its day; both forms are read
}

// There reports whether there is such a database.
func (p Place) There() bool { return p.Readers != nil }

// Store is the databases with what gateways report. They may be the same one.
type Store struct {
	Counters Place // Usage, GraphUsage, MCPUsage
	Records  Place // Calls, GraphCalls, MCPCalls
	Uptime   Place // Uptime
	// TrackAll says that counters have every path, also those that are not tracked.
	TrackAll bool
}

// Close closes the databases.
func (s *Store) Close() error {
	closed, errs := map[*sql.DB]bool{nil: true}, []error(nil)
	for _, p := range []Place{s.Counters, s.Records, s.Uptime} {
		for _, db := range []*sql.DB{p.Readers, p.Writers} {
			if !closed[db] {
				closed[db] = true
				errs = append(errs, db.Close())
			}
		}
	}
	return errors.Join(errs...)
}
