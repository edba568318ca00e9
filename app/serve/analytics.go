package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/config"
)

// analyticsConns bounds the connections for analytics, so that users who look at charts
// do not take those that the store needs.
const analyticsConns = 4

// openAnalytics opens the databases with the traffic that gateways report. Databases
// with the same address share their connections.
func openAnalytics(s config.Settings, log *slog.Logger) (*analytics.Store, error) {
	places, opened := s.Places(), map[[3]string]analytics.Place{}
	out := &analytics.Store{TrackAll: s.Collector.TrackAll}
	for _, one := range []struct {
		name string
		from config.Place
		to   *analytics.Place
	}{{"analytics", places.Usage, &out.Counters}, {"logs", places.Logs, &out.Records}, {"uptime", places.Uptime, &out.Uptime}} {
		address := [3]string{one.from.Type, one.from.Reading(), one.from.Writing()}
		p, ok := opened[address]
		if !ok {
			var err error
			if p, err = openPlace(one.from, log); err != nil {
				return nil, errors.Join(fmt.Errorf("storage.%s.connection_string: %w", one.name, err), out.Close())
			}
			opened[address] = p
		}
		p.Sharded = one.from.Sharded
		*one.to = p
	}
	return out, nil
}

func openPlace(p config.Place, log *slog.Logger) (analytics.Place, error) {
	switch p.Type {
	case config.SQLite:
		path := sqliteFile(p.Writing())
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return analytics.Place{}, err
		}
		readers, writers, err := sqlite.Plain(path, log)
		return analytics.Place{Readers: readers, Writers: writers, Dialect: analytics.SQLite}, err
	case config.Postgres:
		readers, err := postgres.Plain(p.Reading(), analyticsConns)
		if err != nil || p.Reading() == p.Writing() {
			return analytics.Place{Readers: readers, Writers: readers, Dialect: analytics.Postgres}, err
		}
		writers, err := postgres.Plain(p.Writing(), analyticsConns)
		if err != nil {
			return analytics.Place{}, errors.Join(err, readers.Close())
		}
		return analytics.Place{Readers: readers, Writers: writers, Dialect: analytics.Postgres}, nil
	}
	return analytics.Place{}, nil
}
