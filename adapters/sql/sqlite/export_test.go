package sqlite

import (
	"context"
	"errors"
	"time"
)

// Temporary returns where the connections to a file store temporary data: 2 is memory.
func Temporary(ctx context.Context, path string) (where int, err error) {
	db, err := connect(path, 1, "")
	if err != nil {
		return 0, err
	}
	err = db.QueryRowContext(ctx, "pragma temp_store").Scan(&where)
	return where, errors.Join(err, db.Close())
}

// Prepared returns c with every unit of work prepared outside the writer.
func Prepared(c Config) Config {
	c.prepare = true
	return c
}

// CheckedAfter returns c with another time at which an untouched file is checked.
func CheckedAfter(c Config, later time.Duration) Config {
	c.later = later
	return c
}

// Limited returns c with a limit on the pages of the file, which simulates a full disk.
func Limited(c Config, pages int) Config {
	c.pages = pages
	return c
}
