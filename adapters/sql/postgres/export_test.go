package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Prepared returns c with every unit of work prepared outside the writer.
func Prepared(c Config) Config {
	c.prepare = true
	return c
}

// Dialled returns c with connections made by dial.
func Dialled(c Config, dial pgconn.DialFunc) Config {
	c.dial = dial
	return c
}

// Within returns c with another bound for transactions.
func Within(c Config, timeout time.Duration) Config {
	c.timeout = timeout
	return c
}
