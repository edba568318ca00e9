package analytics

import (
	"database/sql"
	"errors"
	"strconv"
	"time"
)

// Dialect is how SQL differs between databases.
type Dialect struct {
	Name  string
	Types [5]string // of columns, by Type
	// Time converts a time to the value of a column of type Time.
	Time func(time.Time) any
	// SQL fragments. names lists the tables that may be ours; in tests whether a text is in a JSON
	// array, contains whether a text contains another; date converts seconds since 1970 to year
	// and month.
	names string
	param string
	row   string // identifies a row of a table without a key
	// value returns the n-th parameter of a long statement: SQLite's driver searches for named
	// parameters one by one. rows is how many rows one statement inserts, a power of two: more for
	// PostgreSQL, where each statement is a network round trip.
	value    func(n int) string
	rows     int
	in       func(text, array string) string
	date     func(seconds string) string
	contains func(text, part string) string
	collate  string // sorts texts by their bytes
	// snapshot is the isolation level at which all statements of a transaction read the same
	// state.
	snapshot sql.IsolationLevel
	// bound returns a statement that makes the database end a transaction without a new statement
	// for that duration; nil: no other process waits for a transaction.
	bound func(time.Duration) string
	// seconds returns the SQL that converts a column of type Time to seconds since 1970.
	seconds func(column string) string
	// refused returns the code of an error about values, such as a value too large for its column,
	// and "" for other errors. The text of such an error may contain the values.
	refused func(error) string
}

// stamp is the time format in SQLite, in UTC, so that texts sort by time.
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
			switch e.Code() & 0xff { // the higher bits say more about the error
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
			case "22", "23", "54": // data exception, constraint violation, program limit exceeded
				return "SQLSTATE " + e.SQLState()
			}
		}
		return ""
	},
}

// Param returns the n-th parameter of a statement, counted from 1. A statement may use it several
// times in both databases.
func (d Dialect) Param(n int) string { return d.param + strconv.Itoa(n) }
