package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/store/storetest"
)

// hooked calls before with every text that is about to be sealed, and counts the opened
// parts.
type hooked struct {
	secret.Documents
	before func(plain []byte)
	opened atomic.Int64
}

func (h *hooked) Open(dst, sealed, place []byte) ([]byte, error) {
	if isPart(sealed) {
		h.opened.Add(1)
	}
	return h.Documents.Open(dst, sealed, place)
}

func (h *hooked) Seal(dst, plain, place []byte) ([]byte, error) {
	if h.before != nil {
		h.before(plain)
	}
	return h.Documents.Seal(dst, plain, place)
}

// openHooked opens a sealed store whose seals call a hook.
func openHooked(tb testing.TB, path string) (*sqlite.Store, *hooked) {
	tb.Helper()
	h := &hooked{Documents: sealing(tb, "secret").Documents}
	return openWith(tb, sqlite.Config{Path: path, Sealing: sqladapter.Sealing{Documents: h}}), h
}

// ofRows counts the parts of texts that belong to rows.
const ofRows = `select count(*) from long_part where name in (select name from long_text where state = 1)`

// isPart reports whether a text is a part, which is sealed outside the writer.
func isPart(plain []byte) bool { return len(plain) > 64<<10 }

// replace stores a document, replacing the existing one.
func replace(ctx context.Context, s *sqlite.Store, id string, text []byte) error {
	_, err := s.Update(ctx, acme, func(w store.Writer) error {
		return put(ctx, w, store.Record{Org: "a", Kind: "long", ID: id, Doc: text})
	})
	return err
}

// TestKilledBetweenPartsAndUnit copies the files, as a kill leaves them, before every
// text that is written for a long document: in each copy the record and its history are
// intact, as before, and texts stored ahead are removed at the start.
func TestKilledBetweenPartsAndUnit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s, h := openHooked(t, path)
	first, second := storetest.Long("first", 1_100_000), storetest.Long("second", 1_150_000)
	if err := errors.Join(replace(t.Context(), s, "x", first), replace(t.Context(), s, "x", second)); err != nil {
		t.Fatal(err)
	}
	swept(t, path, ask(t, path, ofRows))
	var copies []string
	folder := t.TempDir()
	h.before = func(plain []byte) {
		to := filepath.Join(folder, string(rune('A'+len(copies))))
		copies = append(copies, to)
		take := func(context.Context) error {
			return errors.Join(os.Mkdir(to, 0o700), copyFile(path, to), copyFile(path+"-wal", to))
		}
		var err error
		if isPart(plain) {
			err = s.InTurn(t.Context(), take) // no other transaction is running
		} else {
			err = take(t.Context())
		}
		if err != nil {
			t.Error(err)
		}
	}
	if err := replace(t.Context(), s, "x", storetest.Long("third", 1_200_000)); err != nil {
		t.Fatal(err)
	}
	if h.before = nil; len(copies) < 17 {
		t.Fatalf("%d copies", len(copies))
	}
	left := 0
	for _, folder := range copies {
		path := filepath.Join(folder, "gatehouse.db")
		left = max(left, ask(t, path, `select count(*) from long_part where name in (select name from long_text where state = 0)`))
		s := openSealed(t, path, sealing(t, "secret"))
		holds(t, s, "x", first, second)
		swept(t, path, ask(t, path, ofRows))
		if err := replace(t.Context(), s, "x", []byte(`"short"`)); err != nil {
			t.Error(err)
		}
		closed(t, s)
	}
	if left < 15 { // 5 of the document, and 11 of the change
		t.Errorf("the test shows little: %d parts were stored ahead", left)
	}
}

func copyFile(path, folder string) error {
	text, err := os.ReadFile(path)
	return errors.Join(err, os.WriteFile(filepath.Join(folder, filepath.Base(path)), text, 0o600))
}

// TestPartsAreCommittedOneByOne checks that each part of a long document is committed
// before the next one is made: no transaction contains many of them.
func TestPartsAreCommittedOneByOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s, h := openHooked(t, path)
	parts := 0
	h.before = func(plain []byte) {
		if !isPart(plain) {
			return
		}
		if n := ask(t, path, `select count(*) from long_part`); n != parts {
			t.Errorf("%d parts are stored before part %d is made", n, parts)
		}
		parts++
	}
	if err := replace(t.Context(), s, "x", storetest.Long("first", 2_200_000)); err != nil {
		t.Fatal(err)
	}
	if parts < 18 {
		t.Errorf("%d parts", parts)
	}
}

// A unit of work that is cancelled while its texts are stored leaves nothing.
func TestGivenUpWhileTextsAreStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s, h := openHooked(t, path)
	first, second := long(t, s, "x")
	parts := ask(t, path, ofRows)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	h.before = func([]byte) {
		if n++; n == 12 {
			cancel()
		}
	}
	if err := replace(ctx, s, "x", storetest.Long("third", 2_200_000)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	h.before = nil
	swept(t, path, parts)
	holds(t, s, "x", first, second)
}

// Texts that another process has removed meanwhile, because it took them for abandoned,
// are stored again.
func TestTextsThatWereRemovedTooEarly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s, h := openHooked(t, path)
	first, second := storetest.Long("first", 1_200_000), storetest.Long("second", 1_300_000)
	if err := replace(t.Context(), s, "x", first); err != nil {
		t.Fatal(err)
	}
	removed := 0
	h.before = func(plain []byte) {
		if !isPart(plain) && removed < 2 { // the head of the log row: all other parts are stored
			return
		}
		if n := ask(t, path, `select count(*) from long_part where name in (select name from long_text where state = 0)`); n == 8 && removed < 2 {
			removed++
			tamper(t, path, `delete from long_text where state = 0`)
		}
	}
	if err := replace(t.Context(), s, "x", second); err != nil {
		t.Fatal(err)
	}
	if h.before = nil; removed != 2 {
		t.Errorf("the test shows nothing: removed %d times", removed)
	}
	holds(t, s, "x", first, second)
}

// A long text of a unit that had to run in the writer, because what it reads changes all
// the time, is stored with it.
func TestLongTextWithTheWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s := openSealed(t, path, sealing(t, "secret"))
	_, second := long(t, s, "x")
	everyone, third, runs := tenant.Everyone("test"), storetest.Long("third", 2_000_000), 0
	if _, err := s.Update(t.Context(), acme, func(w store.Writer) error {
		if _, err := w.Get(t.Context(), "k", "1"); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if runs++; runs <= 3 {
			if _, err := s.Update(t.Context(), everyone, func(w store.Writer) error {
				return put(t.Context(), w, store.Record{Org: "a", Kind: "k", ID: "1", Doc: []byte(`{}`)})
			}); err != nil {
				return err
			}
		}
		return put(t.Context(), w, store.Record{Org: "a", Kind: "long", ID: "x", Doc: third})
	}); err != nil {
		t.Fatal(err)
	}
	if runs != 4 {
		t.Errorf("%d runs", runs)
	}
	holdsRecord(t, s, "x", third)
	swept(t, path, ask(t, path, ofRows))
	if err := replace(t.Context(), s, "x", second); err != nil {
		t.Fatal(err)
	}
	holds(t, s, "x", third, second)
}

// TestSweepLeavesWhatMayBeTaken opens a file with texts that have no row: old ones and
// young ones, and those of an ended process. A process beside the serving one leaves the
// young ones, which a unit of the other may be about to take.
func TestSweepLeavesWhatMayBeTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, path)
	first, second := long(t, s, "x")
	closed(t, s)
	named := ask(t, path, ofRows)
	for name, at := range map[string]time.Time{"OLD": time.Now().Add(-time.Hour), "YOUNG": time.Now()} {
		tamper(t, path, `insert into long_text (name, state, at, size, kind, org, id, last) values ('`+name+`', 0, `+strconv.FormatInt(at.UnixMilli(), 10)+`, 0, '', '', '', 0)`)
		tamper(t, path, `insert into long_part (name, n, body) select '`+name+`', value, x'00' from json_each('[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]')`)
	}
	beside := openWith(t, sqlite.Config{Path: path, Beside: true})
	swept(t, path, named+20)
	closed(t, beside)
	if n := ask(t, path, `select count(*) from long_text where name = 'YOUNG'`); n != 1 {
		t.Error("a text that may be taken has been removed")
	}
	s = open(t, path)
	swept(t, path, named)
	holds(t, s, "x", first, second)
	if n := ask(t, path, `select count(*) from long_text where state <> 1`); n != 0 {
		t.Errorf("%d texts are left", n)
	}
}

// A long document that this process has stored last is not read again for the next unit
// of work; another process reads it.
func TestLongDocumentsAreNotReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s, h := openHooked(t, path)
	long(t, s, "x")
	third := storetest.Long("third", 2_000_000)
	if err := replace(t.Context(), s, "x", third); err != nil {
		t.Fatal(err)
	}
	holdsRecord(t, s, "x", third)
	if n := h.opened.Load(); n != 0 {
		t.Errorf("%d parts were read", n)
	}
	closed(t, s)
	s, h = openHooked(t, path)
	holdsRecord(t, s, "x", third)
	if n := h.opened.Load(); n != 8 {
		t.Errorf("%d parts were read", n)
	}
}
