package sql

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTablesAreTheSchema compares the tables of a backup with the migrations: no table
// and no column is missing.
func TestTablesAreTheSchema(t *testing.T) {
	for _, dialect := range []string{"sqlite", "postgres"} {
		steps, err := Steps(dialect)
		if err != nil {
			t.Fatal(err)
		}
		have := map[string][]string{}
		create := regexp.MustCompile(`(?s)create (?:unlogged )?table (\w+) \((.*?)\n\)`)
		column := regexp.MustCompile(`(?m)^\s+(\w+)\s+(?:text|integer|bigint|blob|bytea)\b`)
		add := regexp.MustCompile(`alter table (\w+) add column (\w+)`)
		for _, s := range steps {
			for _, m := range create.FindAllStringSubmatch(s.text, -1) {
				for _, c := range column.FindAllStringSubmatch(m[2], -1) {
					have[m[1]] = append(have[m[1]], c[1])
				}
			}
			for _, m := range add.FindAllStringSubmatch(s.text, -1) {
				have[m[1]] = append(have[m[1]], m[2])
			}
		}
		delete(have, "node") // live nodes are not part of a backup
		if len(have) != len(tables) {
			t.Errorf("%s: the schema has %d tables, a backup %d", dialect, len(have), len(tables))
		}
		for name, columns := range have {
			if !slices.Equal(slices.Sorted(slices.Values(columns)), slices.Sorted(slices.Values(tables[name]))) {
				t.Errorf("%s: %s has %s; a backup copies %s", dialect, name, strings.Join(columns, ", "), strings.Join(tables[name], ", "))
			}
		}
	}
}
