package analytics

import (
	"database/sql"
	"errors"
	"strconv"
	"time"
)

// Dialect is what differs between databases.
type Dialect struct {
	Name  string
	Types [5]string // of columns, by Type
	// Time returns a time as a column of the type Time holds it.
	Time func(time.Time) any
	// names lists the tables that may be ours; in tells whether a text is in a JSON
	// array, contains whether a text has a part; date makes year and month of seconds since 1970.
	names string
	param string
	row   string // names a row of a table without a key
	// value is the n-th parameter of a long statement: the driver of SQLite looks for those
	// with a name one by one. rows is how many rows one statement inserts, a power of two:
	// SQLite is called, PostgreSQL is asked over a network.
	value    func(n int) string
	rows     int
	in       func(text, array string) string
	date     func(seconds string) string
	contains func(text, part string) string
	collate  string // texts in the order of their bytes
	// snapshot is the isolation in which all statements of a transaction read the same.
	snapshot sql.IsolationLevel
	// bound is the statement after which the database ends a transaction when nothing comes for so
	// long; nil: no other process waits for one.
	bound func(time.Duration) string
	// seconds makes seconds since 1970 of a column of the type Time.
	seconds func(column string) string
	// refused returns the code of an error about values, such as one that is too large for its
	// column, and "" for any other. The text of the error may say the values.
	refused func(error) string
}

// stamp is how SQLite holds times, in UTC, so that their texts are in their order.
const stamp = "2006-01-02 15:04:05.999999999-07:00"

// SQLite is the dialect of SQLite.
var SQLite = Dialect{
	Name:  "sqlite",
	param: "?",
	Types: [...]string{Text: "text", Integer: "integer", Number: "real", Boolean: "boolean", Time: "datetime"},
	Time:  func(t time.Time) any { return t.UTC().Format(stamp) },
	row:   "rowid",
	value: func(int) string { return "?" },
	rows:  1,
	names: `select name from sqlite_master where type in ('table', 'view') and (name like 'tyk\_%' escape '\' or name like 'gatehouse\_%' escape '\')`,
	in: func(text, array string) string {
		return text + " in (select value from json_each(" + array + "))"
	},
	date:     func(seconds string) string { return "strftime('%Y%m', " + seconds + ", 'unixepoch')" },
	seconds:  func(column string) string { return "unixepoch(" + column + ")" },
	contains: func(text, part string) string { return "instr(" + text + ", " + part + ") > 0" },
	refused: func(err error) string {
		if e, ok := errors.AsType[interface {
			error
			Code() int
		}](err); ok {
			switch e.Code() & 0xff { // the rest of the code says more about it
			case 18, 19, 20, 25: // too big, constraint, mismatch, range
				return "SQLite error " + strconv.Itoa(e.Code())
			}
		}
		return ""
	},
}

// Postgres is the dialect of PostgreSQL.
var Postgres = Dialect{
	Name:     "postgres",
	param:    "$",
	snapshot: sql.LevelRepeatableRead,
	bound: func(d time.Duration) string {
		return "set local idle_in_transaction_session_timeout = " + strconv.FormatInt(d.Milliseconds(), 10)
	},
	Types: [...]string{Text: "text", Integer: "bigint", Number: "numeric", Boolean: "boolean", Time: "timestamptz"},
	Time:  func(t time.Time) any { return t.UTC() },
	row:   "ctid",
	value: func(n int) string { return "$" + strconv.Itoa(n) },
	rows:  64,
	names: `select relname from pg_class where relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(oid) and (relname like 'tyk\_%' or relname like 'gatehouse\_%')`,
	in: func(text, array string) string {
		return text + " in (select jsonb_array_elements_text(cast(" + array + " as jsonb)))"
	},
	date: func(seconds string) string {
		return "to_char(to_timestamp(" + seconds + ") at time zone 'UTC', 'YYYYMM')"
	},
	seconds:  func(column string) string { return "cast(floor(extract(epoch from " + column + ")) as bigint)" },
	contains: func(text, part string) string { return "strpos(" + text + ", " + part + ") > 0" },
	collate:  ` collate "C"`,
	refused: func(err error) string {
		if e, ok := errors.AsType[interface {
			error
			SQLState() string
		}](err); ok && len(e.SQLState()) == 5 {
			switch e.SQLState()[:2] {
			case "22", "23", "54": // data, constraint, limit of the program
				return "SQLSTATE " + e.SQLState()
			}
		}
		return ""
	},
}

// Param returns the n-th parameter of a statement, counted from 1. Both databases take it
// several times in one statement.
func (d Dialect) Param(n int) string { return d.param + strconv.Itoa(n) }
