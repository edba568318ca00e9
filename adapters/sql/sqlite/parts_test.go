package sqlite_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/store/storetest"
)

// long stores a document of several parts, and then replaces it.
func long(tb testing.TB, s *sqlite.Store, id string) (first, second []byte) {
	tb.Helper()
	first, second = storetest.Long("first", 1_200_000), storetest.Long("second", 2_200_000)
	for _, text := range [][]byte{first, second} {
		if _, err := s.Update(tb.Context(), acme, func(w store.Writer) error {
			r := store.Record{Org: "a", Kind: "long", ID: id, Doc: text}
			if old, err := w.Get(tb.Context(), "long", id); err == nil {
				r.Rev = old.Rev
			}
			return w.Put(tb.Context(), r)
		}); err != nil {
			tb.Fatal(err)
		}
	}
	return first, second
}

// holds checks a record and its history, read from the file.
func holds(tb testing.TB, s *sqlite.Store, id string, first, second []byte) {
	tb.Helper()
	head, err := s.Head(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	for rev, want := range map[store.Revision][]byte{head: second, head - 1: first} {
		if got, err := store.At(tb.Context(), s, acme, "long", id, rev); err != nil || !bytes.Equal(got, want) {
			tb.Errorf("at %d: %d bytes, not %d, %v", rev, len(got), len(want), err)
		}
	}
	var rec store.Record
	rec.Doc, _ = store.At(tb.Context(), s, acme, "long", id, head-2) // there may be none
	for c, err := range s.Follow(tb.Context(), head-2) {
		if err != nil {
			tb.Fatal(err)
		}
		if rec, err = c.Changes[0].After(rec, c.Rev); err != nil || c.Rev == head-1 && !bytes.Equal(rec.Doc, first) || c.Rev == head && !bytes.Equal(rec.Doc, second) {
			tb.Errorf("followed to %d: %d bytes, %v", c.Rev, len(rec.Doc), err)
		}
		if c.Rev == head {
			break
		}
	}
	if err := s.Examine(tb.Context(), func(rec store.Record) {
		if rec.Damage != nil {
			tb.Error(rec.ID, rec.Damage)
		}
	}, func(d *store.Damage) {
		if d != nil {
			tb.Error(d)
		}
	}); err != nil {
		tb.Error(err)
	}
}

// ask returns the number that a query on the file returns.
func ask(tb testing.TB, path, query string) (n int) {
	tb.Helper()
	db := behind(tb, path)
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(tb.Context(), query).Scan(&n); err != nil {
		tb.Fatal(query, err)
	}
	return n
}

// partsOf returns the query for the parts of the text of a record, or of a row of the log.
func partsOf(what string) string {
	return `from long_part where name = (select name from long_text where state = 1 and ` + what + `)`
}

// swept waits until want parts are left.
func swept(tb testing.TB, path string, want int) {
	tb.Helper()
	n, end := -1, time.Now().Add(20*time.Second)
	for n != want && time.Now().Before(end) {
		if n = ask(tb, path, `select (select count(*) from record_part) + (select count(*) from log_part) + (select count(*) from long_part)`); n != want {
			time.Sleep(5 * time.Millisecond)
		}
	}
	if n != want {
		tb.Errorf("%d parts are left, not %d", n, want)
	}
}

// Long texts are in parts no larger than the limit, encrypted or not. They can be read
// after the file is opened again, and none is left when nothing needs them.
func TestParts(t *testing.T) {
	for name, s := range map[string]sqladapter.Sealing{"clear": {}, "encrypted": sealing(t, "secret")} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gatehouse.db")
			st := openSealed(t, path, s)
			first, second := long(t, st, "x")
			closed(t, st)
			for _, c := range []string{"doc)) from record", "body)) from change_log", "body)) from long_part"} {
				if n := ask(t, path, "select max(octet_length("+c); n < 1 || n > 256<<10+100 {
					t.Errorf("%s: %d", c, n)
				}
			}
			if n := ask(t, path, `select count(*) `+partsOf("id = 'x'")); n != 9 {
				t.Errorf("%d parts of a record of 2.2 MB", n)
			}
			if n := ask(t, path, `select sum(octet_length(body)) from long_part where name in (select name from long_text where last > 0)`); n < len(first)*2+len(second) || n > 2*(len(first)*2+len(second)) {
				t.Errorf("%d bytes of the log for %d", n, len(first)*2+len(second))
			}
			st = openSealed(t, path, s)
			holds(t, st, "x", first, second)
			backup := filepath.Join(t.TempDir(), "backup.db")
			if _, err := sqlite.Backup(t.Context(), st, backup); err != nil {
				t.Fatal(err)
			}
			copied := openSealed(t, backup, s)
			holds(t, copied, "x", first, second)
			closed(t, copied)
			for _, step := range []func(store.Writer) error{
				func(w store.Writer) error { return w.Delete(t.Context(), "long", "x") },
				func(w store.Writer) error {
					return w.Put(t.Context(), store.Record{Org: "a", Kind: "k", ID: "1", Doc: []byte(`{}`)})
				},
			} {
				if _, err := st.Update(t.Context(), acme, step); err != nil {
					t.Fatal(err)
				}
			}
			swept(t, path, ask(t, path, `select count(*) from long_part where name in (select name from long_text where last > 0)`))
			if n, err := st.Prune(t.Context(), store.Retention{Bytes: 100_000}); err != nil || n != 3 {
				t.Error(n, err)
			}
			swept(t, path, 0)
		})
	}
}

// Texts that an older program has stored whole are read, changed and deleted.
func TestWholeTextsOfOlderPrograms(t *testing.T) {
	upgraded(t, "select min(octet_length(doc)) from record", func(text []byte) int { return len(text) }, func(path string) {
		for _, statement := range []string{
			`update record set doc = (select cast(group_concat(cast(body as text), '') as text) from (select body ` + partsOf("kind = record.kind") + ` order by n))`,
			`update change_log set body = (select group_concat(cast(body as text), '') from (select body ` + partsOf("last = change_log.last") + ` order by n))`,
			`drop table record_part`, `drop table log_part`, `drop table long_text`, `drop table long_part`, `delete from migration where name in ('0003_parts.sql', '0005_texts.sql')`,
		} {
			tamper(t, path, statement)
		}
	})
}

// Texts in parts of a program without names of texts are read and changed.
func TestPartsWithoutNames(t *testing.T) {
	upgraded(t, "select max(octet_length(doc)) from record", func([]byte) int { return len("+9 2200000") }, func(path string) {
		beRowsOwn(t, path)
		for table, column := range map[string]string{"record": "doc", "change_log": "body"} {
			tamper(t, path, fmt.Sprintf(`update %[1]s set %[2]s = rtrim(substr(%[2]s, 1, octet_length(%[2]s) - 26)) where substr(%[2]s, 1, 1) = '+'`, table, column))
		}
		tamper(t, path, `delete from migration where name = '0004_names.sql'`)
	})
}

// upgraded opens a database that was converted to an older program's form: its content is
// read and changed. The question shows by a size that it has that form.
func upgraded(t *testing.T, question string, size func(text []byte) int, older func(path string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	st := open(t, path)
	first, second := long(t, st, "x")
	closed(t, st)
	older(path)
	if n := ask(t, path, question); n != size(second) {
		t.Fatalf("the test shows nothing: %d bytes", n)
	}
	st = open(t, path)
	holds(t, st, "x", first, second)
	first, second = long(t, st, "x")
	holds(t, st, "x", first, second)
}

// beRowsOwn converts a file to the form of a program that stored parts with their rows.
func beRowsOwn(t *testing.T, path string) {
	t.Helper()
	for _, statement := range []string{
		`insert into record_part (kind, org, id, n, body) select t.kind, t.org, t.id, p.n, p.body from long_text t join long_part p on p.name = t.name where t.kind <> '' and t.state = 1`,
		`insert into log_part (last, n, body) select t.last, p.n, p.body from long_text t join long_part p on p.name = t.name where t.last > 0`,
		`update record set doc = '+' || substr(doc, 2) where substr(doc, 1, 1) = '*'`,
		`update change_log set body = '+' || substr(body, 2) where substr(body, 1, 1) = '*'`,
		`drop table long_text`, `drop table long_part`, `delete from migration where name = '0005_texts.sql'`,
	} {
		tamper(t, path, statement)
	}
}

// Texts of a program that stored parts with their rows are read, encrypted, changed,
// deleted and pruned.
func TestPartsWithTheirRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	st := open(t, path)
	first, second := long(t, st, "x")
	long(t, st, "y")
	closed(t, st)
	beRowsOwn(t, path)
	st = open(t, path)
	holds(t, st, "y", first, second)
	closed(t, st)
	st = openSealed(t, path, sealing(t, "secret"))
	if _, err := st.Reseal(t.Context(), func(int) {}); err != nil {
		t.Fatal(err)
	}
	holds(t, st, "y", first, second)
	if n := ask(t, path, `select (select count(*) from record_part where hex(substr(body, 1, 2)) <> '2101') + (select count(*) from log_part where hex(substr(body, 1, 2)) <> '2101')`); n != 0 {
		t.Errorf("%d parts are in clear", n)
	}
	if _, err := st.Update(t.Context(), acme, func(w store.Writer) error { return w.Delete(t.Context(), "long", "y") }); err != nil {
		t.Fatal(err)
	}
	first, second = long(t, st, "x")
	holds(t, st, "x", first, second)
	if n := ask(t, path, `select count(*) from record_part`); n != 0 {
		t.Errorf("%d parts of older programs are left", n)
	}
	if n, err := st.Prune(t.Context(), store.Retention{Since: time.Now().Add(time.Hour)}); err != nil || n != 6 {
		t.Error(n, err)
	}
	if n := ask(t, path, `select count(*) from log_part`); n != 0 {
		t.Errorf("%d parts of older rows of the log are left", n)
	}
}

// Parts are encrypted with their rows, and with a new key.
func TestResealParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	st := open(t, path)
	first, second := long(t, st, "x")
	closed(t, st)
	for round, c := range []struct {
		sealing sqladapter.Sealing
		rows    int
	}{{sealing(t, "old"), 3}, {sealing(t, "old"), 0}, {sealing(t, "new", "old"), 3}, {sealing(t, "new"), 0}} {
		st := openSealed(t, path, c.sealing)
		if n, err := st.Reseal(t.Context(), func(int) {}); err != nil || n != c.rows {
			t.Errorf("round %d: %d rows, %v", round, n, err)
		}
		holds(t, st, "x", first, second)
		closed(t, st)
		if n := ask(t, path, `select count(*) from long_part where hex(substr(body, 1, 2)) <> '2101'`); n != 0 {
			t.Errorf("round %d: %d parts are in clear", round, n)
		}
	}
}

// A part that is missing, moved, outdated or damaged makes only its record or its log row
// damaged. Such a record can be deleted with its parts.
func TestDamagedParts(t *testing.T) {
	sound := filepath.Join(t.TempDir(), "gatehouse.db")
	s := openSealed(t, sound, sealing(t, "secret"))
	long(t, s, "x")
	long(t, s, "y")
	closed(t, s)
	file, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	x := partsOf("id = 'x'")
	ofX := strings.TrimPrefix(x, "from long_part")
	for name, c := range map[string]struct {
		statement string
		log       bool
	}{
		"no name":           {statement: `delete from long_part where name = (select name from long_text where state = 1 and id = 'x')`},
		"missing":           {statement: `delete ` + x + ` and n = 1`},
		"the last":          {statement: `delete ` + x + ` and n = 8`},
		"swapped":           {statement: `update long_part set body = (select body ` + x + ` and n = 1)` + ofX + ` and n = 0`},
		"another's":         {statement: `update long_part set body = (select body ` + partsOf("id = 'y'") + ` and n = 0)` + ofX + ` and n = 0`},
		"changed":           {statement: `update long_part set body = cast(substr(body, 1, 1000) || x'00' || substr(body, 1002) as blob)` + ofX + ` and n = 1`},
		"cut":               {statement: `update long_part set body = substr(body, 1, 1000)` + ofX + ` and n = 2`},
		"no bytes":          {statement: `update long_part set body = x''` + ofX + ` and n = 2`},
		"missing in a row":  {statement: `delete ` + partsOf("last = 4") + ` and n = 1`, log: true},
		"changed in a row":  {statement: `update long_part set body = x'2101'` + strings.TrimPrefix(partsOf("last = 4"), "from long_part") + ` and n = 1`, log: true},
		"the row of others": {statement: `update long_part set body = (select body ` + partsOf("last = 3") + ` and n = 1)` + strings.TrimPrefix(partsOf("last = 4"), "from long_part") + ` and n = 1`, log: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "gatehouse.db")
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			tamper(t, path, c.statement)
			s := openSealed(t, path, sealing(t, "secret"))
			var records, rows []string
			if err := s.Examine(t.Context(), func(rec store.Record) {
				if rec.Damage != nil {
					records = append(records, rec.ID)
				}
			}, func(d *store.Damage) {
				if d != nil {
					rows = append(rows, d.ID)
				}
			}); err != nil {
				t.Fatal(err)
			}
			want := "[x] []"
			if c.log {
				want = "[] [4]"
			}
			if got := fmt.Sprint(records, rows); got != want {
				t.Errorf("damaged: %s, not %s", got, want)
			}
			for _, id := range []string{"x", "y"} {
				if _, err := s.Update(t.Context(), acme, func(w store.Writer) error { return w.Delete(t.Context(), "long", id) }); err != nil {
					t.Error(id, err)
				}
			}
			swept(t, path, ask(t, path, `select count(*) from long_part where name in (select name from long_text where last > 0)`))
		})
	}
}

// BenchmarkLong replaces a document of 32 MiB by an entirely different one.
func BenchmarkLong(b *testing.B) {
	for name, s := range map[string]sqladapter.Sealing{"clear": {}, "encrypted": sealing(b, "secret")} {
		b.Run(name, func(b *testing.B) {
			st := openSealed(b, filepath.Join(b.TempDir(), "gatehouse.db"), s)
			texts := [2][]byte{}
			for i := range texts {
				texts[i] = fmt.Appendf(nil, `"%s"`, bytes.Repeat([]byte{'a' + byte(i)}, 32<<20-2))
			}
			b.SetBytes(32 << 20)
			for turn := 0; b.Loop(); turn++ {
				if _, err := st.Update(b.Context(), acme, func(w store.Writer) error {
					r := store.Record{Org: "a", Kind: "long", ID: "x", Doc: texts[turn%2]}
					if old, err := w.Get(b.Context(), "long", "x"); err == nil {
						r.Rev = old.Rev
					}
					return w.Put(b.Context(), r)
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
