package config

import "testing"

// TestPlaces: a database without an address of its own is the default one, even if its
// type is set: files that set every type are common.
func TestPlaces(t *testing.T) {
	const beside, shared = "/srv/analytics.db", "postgres://db/main"
	for _, c := range []struct {
		name string
		set  func(*Settings)
		want [3]string // addresses of counters, records and tests of upstreams
	}{
		{"nothing", func(*Settings) {}, [3]string{beside, beside, beside}},
		{"types", func(s *Settings) {
			s.Analytics = Analytics{Usage: Place{Type: SQLite}, Logs: Place{Type: SQLite}, Uptime: Place{Type: SQLite}}
		}, [3]string{beside, beside, beside}},
		{"a file for records", func(s *Settings) {
			s.Analytics = Analytics{Logs: Place{Type: SQLite, ConnectionString: "/srv/logs.db"}}
		}, [3]string{beside, "/srv/logs.db", beside}},
		{"types with PostgreSQL", func(s *Settings) {
			s.Storage.Type, s.Storage.ConnectionString = Postgres, shared
			s.Analytics = Analytics{Usage: Place{Type: Postgres}, Uptime: Place{Type: Postgres}}
		}, [3]string{shared, shared, shared}},
		{"another type", func(s *Settings) { s.Analytics = Analytics{Usage: Place{Type: Postgres}} }, [3]string{}},
	} {
		s := Settings{HomeDir: "/srv", Storage: Storage{Type: SQLite}}
		c.set(&s)
		p := s.Places()
		if have := [3]string{p.Usage.Writing(), p.Logs.Writing(), p.Uptime.Writing()}; have != c.want {
			t.Errorf("%s: %q", c.name, have)
		}
		problems := 0
		for _, f := range placeFindings(&s) {
			if f.bad {
				problems++
			}
		}
		if (problems > 0) != (c.want == [3]string{}) {
			t.Errorf("%s: %d problems", c.name, problems)
		}
	}
}
