package config

import (
	"cmp"
	"path/filepath"
)

// None is the engine of a place that stores nothing.
const None = "none"

// Analytics says where the traffic that gateways report is stored.
type Analytics struct {
	Usage  Place // storage.analytics: counters
	Logs   Place // storage.logs: calls
	Uptime Place // storage.uptime: counters of tests of upstreams
	Mask   bool  // mask credentials in recorded messages, in responses
}

// Place is a database for a part of the traffic.
type Place struct {
	Type             string // SQLite, Postgres, None; "" = that of the default place
	ConnectionString Address
	Read, Write      Address // instead of ConnectionString, for one of the two
	Sharded          bool    // a table for each day
}

// Reading returns the address to read from.
func (p Place) Reading() string { return cmp.Or(p.Read, p.ConnectionString).Reveal() }

// Writing returns the address to write to.
func (p Place) Writing() string { return cmp.Or(p.Write, p.ConnectionString).Reveal() }

// or returns the place, or other if the place has no address and no type of its own.
func (p Place) or(other Place) Place {
	if (p.Type == "" || p.Type == other.Type) && p.Reading() == "" && p.Writing() == "" {
		other.Sharded = other.Sharded || p.Sharded
		return other
	}
	p.Type = cmp.Or(p.Type, other.Type)
	return p
}

// Places returns all places, with defaults for missing settings. The default place of
// counters is the main database if that is PostgreSQL. If it is a SQLite file, counters
// are in a file of their own beside it, so that they do not block its writer.
func (s Settings) Places() Analytics {
	main := Place{Type: None}
	switch s.Storage.Type {
	case Postgres:
		main = Place{Type: Postgres, ConnectionString: s.Storage.ConnectionString}
	case SQLite:
		main = Place{Type: SQLite, ConnectionString: Address(filepath.Join(filepath.Dir(s.SQLiteFile()), "analytics.db"))}
	}
	a := s.Analytics
	a.Usage = a.Usage.or(main)
	a.Logs, a.Uptime = a.Logs.or(a.Usage), a.Uptime.or(a.Usage)
	return a
}

// places returns the settings of the databases for analytics.
func places() []setting {
	var rows []setting
	for _, p := range []struct {
		name, holds, instead string
		place                func(*Settings) *Place
	}{
		{"analytics", "counters of traffic", "like storage.main if that is postgres, analytics.db beside storage.main if that is sqlite", func(s *Settings) *Place { return &s.Analytics.Usage }},
		{"logs", "records of calls", "like storage.analytics", func(s *Settings) *Place { return &s.Analytics.Logs }},
		{"uptime", "counters of uptime tests of upstreams", "like storage.analytics", func(s *Settings) *Place { return &s.Analytics.Uptime }},
	} {
		prefix := "storage." + p.name + "."
		rows = append(rows,
			setting{name: prefix + "type", choices: []string{SQLite, Postgres, None}, field: func(s *Settings) any { return &p.place(s).Type },
				hint:    "leave it out for a database beside storage.main, or set it to postgres and " + prefix + "connection_string to the database that the pump writes to",
				meaning: "database for " + p.holds + ": sqlite, postgres or none; empty: " + p.instead},
			setting{name: prefix + "connection_string", field: func(s *Settings) any { return &p.place(s).ConnectionString },
				meaning: "sqlite: database file; postgres: URL or key=value pairs; empty: " + p.instead},
			setting{name: prefix + "read_connection_string", field: func(s *Settings) any { return &p.place(s).Read },
				meaning: "address for reads only, for example of a replica of the database"},
			setting{name: prefix + "write_connection_string", field: func(s *Settings) any { return &p.place(s).Write },
				meaning: "address for writes only"},
			setting{name: prefix + "table_sharding", preset: "false", field: func(s *Settings) any { return &p.place(s).Sharded },
				meaning: "writes go to a separate table for each day; reads use tables of both kinds"})
	}
	return rows
}

// placeFindings checks that each place has an address.
func placeFindings(s *Settings) []finding {
	var out []finding
	p := s.Places()
	for _, one := range []struct {
		name       string
		own, place Place
	}{{"analytics", s.Analytics.Usage, p.Usage}, {"logs", s.Analytics.Logs, p.Logs}, {"uptime", s.Analytics.Uptime, p.Uptime}} {
		missing := one.own != (Place{}) && one.place.Type != None && (one.place.Reading() == "" || one.place.Writing() == "")
		out = append(out, finding{missing && one.place.Type == Postgres, "storage." + one.name + ".connection_string",
			"postgres needs it: a URL (postgres://user:password@host/database) or key=value pairs"},
			finding{missing && one.place.Type == SQLite, "storage." + one.name + ".connection_string", "sqlite needs it: the path of the database file"})
	}
	return out
}
