package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
)

// appendFile returns a contestant that appends 512 bytes to a file and waits until they
// are on the disk: the minimum cost of durability.
func (b *bench) appendFile() (c contestant, done func() error, err error) {
	f, err := os.OpenFile(b.path("append"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return c, nil, err
	}
	block := bytes.Repeat([]byte{'x'}, 512)
	return contestant{name: "fsynced append", do: func(context.Context, int, int) error {
		_, err := f.Write(block)
		return errors.Join(err, f.Sync())
	}}, f.Close, nil
}

// How a bare commit differs from the one before: in every mapping, so that all bytes
// are written, or in one, where SQLite detects unchanged pages and does not write them.
const (
	everyMapping = "policy-0"
	oneMapping   = "policy-00000005"
)

// bareCommit returns a contestant that updates one row by primary key, with a document
// as large as that of an identity provider with this number of mappings.
func bareCommit(ctx context.Context, db *sql.DB, mappings int, differs string) (contestant, error) {
	p, err := provider("corp-0", mappings)
	if err != nil {
		return contestant{}, err
	}
	doc, err := p.AppendJSON(nil)
	if err != nil {
		return contestant{}, err
	}
	docs := [2]string{string(doc), strings.ReplaceAll(string(doc), differs, strings.ReplaceAll(differs, "0", "9"))}
	table := fmt.Sprintf("bare_%d_%d", mappings, len(differs))
	for _, text := range []string{
		"create table " + table + " (id integer not null primary key, doc text not null)",
		"insert into " + table + " (id, doc) values (1, '')",
	} {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return contestant{}, err
		}
	}
	update, err := db.PrepareContext(ctx, "update "+table+" set doc = $1 where id = $2") //nolint:sqlclosecheck // it lives as long as the database
	if err != nil {
		return contestant{}, err
	}
	return contestant{name: "bare SQL commit", do: func(ctx context.Context, _, n int) error {
		_, err := update.ExecContext(ctx, docs[n%2], 1)
		return err
	}}, nil
}

// bareRows measures the baselines.
func bareRows(ctx context.Context, b *bench) (rows []row, err error) {
	file, done, err := b.appendFile()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	there, missing := b.backends(onSQLite, onPostgres)
	cs := []contestant{file}
	for _, k := range there {
		o, failure := k.open(ctx, b)
		if failure != nil {
			return nil, failure
		}
		defer func() { err = errors.Join(err, o.close()) }()
		c, failure := bareCommit(ctx, o.bare, 10, everyMapping)
		if failure != nil {
			return nil, failure
		}
		cs = append(cs, c)
	}
	results, err := b.race(ctx, "bare", cs...)
	if err != nil {
		return nil, err
	}
	rows = append(rows, row{figure: "append of 512 bytes to a file, fsynced", value: significant(results[0].rate()), unit: "writes/s"})
	for i, k := range there {
		s := results[i+1]
		rows = append(rows, row{figure: "bare single-row commit, " + k.name, value: significant(s.rate()), unit: "writes/s",
			ratios: []ratio{{s.over(results[0]), "append"}}, allocs: median(s.allocs)})
	}
	return append(rows, missing...), nil
}
