package past_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/past"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// note is a record with a history.
type note struct {
	ID    string    `json:"id"`
	Org   tenant.ID `json:"org"`
	N     int       `json:"n"`
	Text  string    `json:"text"`
	Token string    `json:"token"`
}

var notes = &store.Kind[note]{Name: "note", Noun: "note", ID: func(n note) string { return n.ID }, Org: func(n note) tenant.ID { return n.Org }}

// TestBounds: the list has the latest changes of a long history, and the changes of a
// large record without differences. Each version can be read nevertheless.
func TestBounds(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := tenant.Of("a")
	if err != nil {
		t.Fatal(err)
	}
	write := func(id, text string, n int) store.Revision {
		t.Helper()
		rev, err := db.Update(t.Context(), scope, func(w store.Writer) error {
			if n == 0 {
				return notes.Insert(t.Context(), w, note{ID: id, Org: "a", Text: text, Token: "s3cret"})
			}
			_, err := notes.Edit(t.Context(), w, id, nil, func(v note) (note, error) { v.N = n; return v, nil })
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return rev
	}
	var first store.Revision
	for n := range 230 {
		if rev := write("long", "", n); n == 3 {
			first = rev
		}
	}
	write("large", strings.Repeat("x", 1<<20), 0)
	write("large", "", 1)
	write("swollen", "", 0)
	write("swollen", "", 1)
	for _, text := range []string{strings.Repeat("x", 9<<20), ""} {
		if _, err := db.Update(t.Context(), scope, func(w store.Writer) error {
			_, err := notes.Edit(t.Context(), w, "swollen", nil, func(v note) (note, error) { v.Text = text; return v, nil })
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	write("medium", strings.Repeat("x", 1<<19), 0)
	for n := range 20 {
		write("medium", "", n+1)
	}
	kinds := crud.Kinds{crud.Facts[note]{Kind: notes, Past: crud.AsStored[note]}.Registration()}
	s := past.New(crud.Tools{Store: db, PageSize: 50}, kinds, func() []operation.Operation { return nil })
	h := apptest.Checked(t, s.Operations(), apptest.Within("a"))
	ask := func(path string) (out struct {
		Changes  []past.Change
		Pages    int
		Document note
		Hidden   []string
	}) {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/history/note/"+path, nil))
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return out
	}
	if all := ask("long?p=-1"); len(all.Changes) != 200 || string(all.Changes[0].Diff[0].To) != "229" {
		t.Errorf("%d changes", len(all.Changes))
	}
	if page := ask("long?p=4"); page.Pages != 4 || len(page.Changes) != 50 {
		t.Errorf("%d pages, %d changes", page.Pages, len(page.Changes))
	}
	if old := ask(fmt.Sprint("long/", first)); old.Document.N != 3 || old.Document.Token != "***" || len(old.Hidden) != 1 {
		t.Errorf("%+v", old)
	}
	told := 0
	for _, c := range ask("medium?p=-1").Changes {
		if len(c.Diff) > 0 {
			told++
		}
	}
	if told != 7 {
		t.Errorf("differences of %d changes", told)
	}
	if page := ask("medium?p=1"); len(page.Changes[6].Diff) != 1 || page.Changes[7].More != 1 {
		t.Errorf("%+v", page.Changes[6:8])
	}
	if c := ask("swollen").Changes; c[0].More != 1 || c[1].More != 1 || len(c[2].Diff) != 1 {
		t.Errorf("%+v", c)
	}
	if large := ask("large"); large.Changes[0].More != 1 || len(large.Changes[0].Diff) != 0 {
		t.Errorf("%+v", large)
	}
}
