package analytics

import (
	"database/sql"
	"errors"
)

// Place is a database that contains some of the tables.
type Place struct {
	Readers, Writers *sql.DB // may be the same
	Dialect          Dialect
	Sharded          bool // writes go to one table per day; reads use both forms
}

// There reports whether the database is configured.
func (p Place) There() bool { return p.Readers != nil }

// Store holds the databases with the data that gateways report. They may be the same
// database.
type Store struct {
	Counters Place // Usage, GraphUsage, MCPUsage
	Records  Place // Calls, GraphCalls, MCPCalls
	Uptime   Place // Uptime
	// TrackAll says that counters include every path, also untracked ones.
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
