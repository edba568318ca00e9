package crud_test

import (
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// note is a plain resource, made by the checklist in docs/adding-a-resource.md.
type note struct {
	ID    string    `json:"id"`
	OrgID tenant.ID `json:"org_id"`
	Title string    `json:"title"`
}

type noteDraft struct {
	Title string `json:"title"`
}

func (n note) replace(d noteDraft) (note, error) {
	if strings.TrimSpace(d.Title) == "" {
		return n, fault.New(fault.Invalid, "note.title", "note title is required").At("title")
	}
	n.Title = d.Title
	return n, nil
}

var notes = crud.Resource[note, noteDraft]{
	Facts: crud.Facts[note]{Kind: &store.Kind[note]{
		Name: "jotting", Noun: "note",
		ID:      func(n note) string { return n.ID },
		Org:     func(n note) tenant.ID { return n.OrgID },
		Indexes: []store.Index[note]{store.Unique("title", "title", func(n note) string { return n.Title })},
	}},
	Group: operation.Group{
		Surface: operation.Management, Name: "notes", Path: "/api/notes", Tag: "Notes", Permission: access.Hooks,
		Style: operation.Style{Word: "OK", ListKey: "notes"},
	},
	Words:   crud.Words{One: "a note", Many: "notes", Created: "Note created", Updated: "Note updated", Deleted: "Note deleted"},
	New:     func(at crud.Stamp, d noteDraft) (note, error) { return note{ID: at.ID, OrgID: at.Org}.replace(d) },
	Replace: func(n note, d noteDraft, _ system.Clock) (note, error) { return n.replace(d) },
	Draft:   noteDraft{Title: "buy milk"},
	Faults:  []string{"note.title"},
}

// TestPlainResource defines a resource and calls its operations over HTTP.
func TestPlainResource(t *testing.T) {
	a, err := app.New(app.WithLogger(slog.New(slog.DiscardHandler)), app.WithResource(notes),
		app.WithIDs(func() func() string {
			n := 0
			return func() string { n++; return strings.Repeat("0", 23) + string(rune('0'+n)) }
		}(), func() string { return "r" }))
	if err != nil {
		t.Fatal(err)
	}
	me, err := a.Bootstrap(t.Context(), identity.First{OrgID: "acme", Email: "me@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body, match string
		status                    int
		want                      string
	}{
		{"GET", "/api/notes", "", "", 200, `{"notes":[],"pages":1}`},
		{"POST", "/api/notes", `{"title":" "}`, "", 400, `{"Status":"Error","Message":"note title is required","Meta":null}`},
		{"POST", "/api/notes", `{"title":"one"}`, "", 200, `{"Status":"OK","Message":"Note created","Meta":"000000000000000000000004"}`},
		{"POST", "/api/notes", `{"title":"one"}`, "", 409, `{"Status":"Error","Message":"note title already exists: 'one'","Meta":null}`},
		{"GET", "/api/notes/000000000000000000000004", "", "", 200, `{"id":"000000000000000000000004","org_id":"acme","title":"one"}`},
		{"PUT", "/api/notes/000000000000000000000004", `{"title":"two"}`, `"1"`, 412, `{"Status":"Error","Message":"If-Match does not hold: the resource has changed; read it again","Meta":null}`},
		{"PUT", "/api/notes/000000000000000000000004", `{"title":"two"}`, "seen", 200, `{"Status":"OK","Message":"Note updated","Meta":null}`},
		{"PUT", "/api/notes/000000000000000000000004?dry_run=true", `{"title":"three"}`, "", 200, `{"Status":"OK","Message":"dry run: nothing was stored","Meta":{"changes":[` +
			`{"op":"updated","kind":"jotting","id":"000000000000000000000004","org_id":"acme","members":["title"]}],"references":[]}}`},
		{"DELETE", "/api/notes/000000000000000000000004?dry_run=true", "", "", 200, `{"Status":"OK","Message":"dry run: nothing was stored","Meta":{"changes":[` +
			`{"op":"deleted","kind":"jotting","id":"000000000000000000000004","org_id":"acme"}],"references":[]}}`},
		{"GET", "/api/notes", "", "", 200, `{"notes":[{"id":"000000000000000000000004","org_id":"acme","title":"two"}],"pages":1}`},
		{"DELETE", "/api/notes/000000000000000000000004", "", "", 200, `{"Status":"OK","Message":"Note deleted","Meta":null}`},
		{"DELETE", "/api/notes/000000000000000000000004", "", "", 404, `{"Status":"Error","Message":"note not found","Meta":null}`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Authorization", me.AccessKey)
		if c.match == "seen" { // the current tag
			read := httptest.NewRequestWithContext(t.Context(), "GET", c.path, nil)
			read.Header.Set("Authorization", me.AccessKey)
			w := httptest.NewRecorder()
			a.ServeHTTP(w, read)
			c.match = w.Header().Get("Etag")
		}
		if c.match != "" {
			r.Header.Set("If-Match", c.match)
		}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if got := strings.TrimSpace(w.Body.String()); w.Code != c.status || got != c.want {
			t.Errorf("%s %s %s: %d %s, want %d %s", c.method, c.path, c.body, w.Code, got, c.status, c.want)
		}
	}
}
