package postgres

import (
	"database/sql"

	"github.com/jackc/pgx/v5/stdlib"
)

// Plain returns connections to a database that holds tables and no store. It connects
// when it is first asked.
func Plain(dsn string, conns int) (*sql.DB, error) {
	cfg, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*cfg, stdlib.OptionShouldPing(rested))
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}
