package audit_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/crud"
	core "github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// rowTamperings is how many rows are tampered with; 10,000 with GATEHOUSE_E2E_LONG.
func rowTamperings() int {
	if os.Getenv("GATEHOUSE_E2E_LONG") != "" {
		return 10_000
	}
	return 500
}

// stored is a row of the trail in the database.
type stored struct {
	row, rev            int64
	kind, org, id, meta string
	doc                 []byte
}

// TestRowsAreTampered changes rows of the trail in a database that is not encrypted,
// one at a time: a byte of the content, a deleted row, a row with the content of
// another one, a row with another name. Verification finds each change. Some header
// bytes of a compressed text, such as a date, have no meaning: changing them changes no
// line of the trail.
func TestRowsAreTampered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trail.db")
	_, p := filled(t, path)
	anchors := lastOnes(t, p)
	if v, err := p.Verify(t.Context(), anchors...); err != nil || len(v.Findings) > 0 || v.Records != 200 {
		t.Fatal(v, err)
	}
	raw, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=busy_timeout(10000)&_pragma=synchronous(off)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	rows := trailRows(t, raw)
	rnd := rand.New(rand.NewSource(1))
	missed, before := 0, exportOf(t, p)
	for i := range rowTamperings() {
		how := tamperRow(t, rnd, raw, rows)
		if v, err := p.Verify(t.Context(), anchors...); err == nil && len(v.Findings) == 0 && exportOf(t, p) != before {
			missed++
			t.Errorf("%d: %s is not found", i, how)
		}
		if missed > 5 {
			t.Fatal("and so on")
		}
		restore(t, raw, rows)
	}
	if v, err := p.Verify(t.Context(), anchors...); err != nil || len(v.Findings) > 0 {
		t.Error("what was put back is not what was there:", v, err)
	}
}

func exportOf(t *testing.T, p *audit.Service) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Export(t.Context(), &b, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// filled returns a trail of 200 records in a file.
func filled(t *testing.T, path string) (*sqlite.Store, *audit.Service) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	keys, err := crypto.NewKeys("a secret")
	if err != nil {
		t.Fatal(err)
	}
	p, err := audit.New(audit.Settings{Signer: keys}, crud.Tools{Store: db, Now: time.Now, Log: slog.New(slog.DiscardHandler)},
		func(string) *operation.Spec { return nil })
	if err != nil {
		t.Fatal(err)
	}
	fill(t, db, p)
	return db, p
}

// fill makes a trail of 200 records of two organisations in several segments.
func fill(t *testing.T, db store.Store, p *audit.Service) {
	t.Helper()
	for i := range 200 {
		scope, err := tenant.Of(tenant.ID([]string{"a", "b"}[i%2]))
		if err != nil {
			t.Fatal(err)
		}
		ctx := store.Attribute(t.Context(), store.Attribution{Actor: "u", Operation: "notes.put", Method: "PUT", URL: "/notes", Status: 200})
		if _, err := db.Update(ctx, scope, func(tx store.Writer) error {
			return notes.Insert(ctx, tx, note{ID: fmt.Sprint("n", i), Org: scope.Org(), Text: "t"})
		}); err != nil {
			t.Fatal(err)
		}
		if i%80 == 79 || i > 190 {
			if err := p.Fold(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// lastOnes are the checkpoints that an operator keeps elsewhere.
func lastOnes(t *testing.T, p *audit.Service) (out []core.Checkpoint) {
	t.Helper()
	var b bytes.Buffer
	if err := p.Checkpoints(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b.Bytes()) {
		var l struct{ Checkpoint core.Checkpoint }
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l.Checkpoint)
	}
	return out
}

func trailRows(t *testing.T, raw *sql.DB) (rows []stored) {
	t.Helper()
	found, err := raw.QueryContext(t.Context(), "select rowid, rev, kind, org, id, meta, doc from record where kind in ('audit_segment', 'audit_head') order by kind, id")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		var r stored
		if err := found.Scan(&r.row, &r.rev, &r.kind, &r.org, &r.id, &r.meta, &r.doc); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if err := found.Err(); err != nil || len(rows) < 6 {
		t.Fatal(len(rows), err)
	}
	return rows
}

func tamperRow(t *testing.T, rnd *rand.Rand, raw *sql.DB, rows []stored) (how string) {
	t.Helper()
	do := func(query string, args ...any) {
		t.Helper()
		if _, err := raw.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(query, err)
		}
	}
	r := rows[rnd.Intn(len(rows))]
	other := rows[rnd.Intn(len(rows))]
	for other.row == r.row {
		other = rows[rnd.Intn(len(rows))]
	}
	switch rnd.Intn(6) {
	case 0:
		do("delete from record where rowid = ?", r.row)
		return "without " + r.id
	case 1:
		do("update record set doc = ? where rowid = ?", string(other.doc), r.row)
		return other.id + " in the place of " + r.id
	case 2:
		do("update record set id = id || 'x' where rowid = ?", r.row)
		return r.id + " is called otherwise"
	default:
		doc := bytes.Clone(r.doc)
		at, b := rnd.Intn(len(doc)), byte('!'+rnd.Intn(90))
		for b == doc[at] {
			b = byte('!' + rnd.Intn(90))
		}
		doc[at] = b
		do("update record set doc = ? where rowid = ?", string(doc), r.row)
		return fmt.Sprintf("%s, byte %d %q instead of …%q…", r.id, at, b, r.doc[max(0, at-30):min(at+10, len(doc))])
	}
}

// restore restores the rows.
func restore(t *testing.T, raw *sql.DB, rows []stored) {
	t.Helper()
	for _, r := range rows {
		done, err := raw.ExecContext(t.Context(), "update record set doc = ?, id = ? where rowid = ? and (doc <> ? or id <> ?)", string(r.doc), r.id, r.row, string(r.doc), r.id)
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := done.RowsAffected(); n > 0 {
			return
		}
	}
	for _, r := range rows {
		if _, err := raw.ExecContext(t.Context(), "insert or ignore into record (rowid, kind, org, id, rev, doc, meta) values (?, ?, ?, ?, ?, ?, ?)",
			r.row, r.kind, r.org, r.id, r.rev, string(r.doc), r.meta); err != nil {
			t.Fatal(err)
		}
	}
}
