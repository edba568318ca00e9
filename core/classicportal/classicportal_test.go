package classicportal_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/classicportal"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/redact"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TestNew: secrets are removed at any depth; the rest stays unchanged, and so does the body
// that was passed in.
func TestNew(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: `{}`,
		`{"email":"d@example.com","password":"p","n":1.50}`:                   `{"email":"d@example.com","n":1.50}`,
		`{"fields":{"a":[{"api_key":"k","b":[[{"Access-Key":"k"}]]}]}}`:       `{"fields":{"a":[{"b":[[{}]]}]}}`,
		`{"nonce":{"auth_token":{"deep":true}},"PanelOneContent":"Panel 1."}`: `{"nonce":{},"PanelOneContent":"Panel 1."}`,
	} {
		sent := doctest.Node(t, text)
		p := classicportal.New("1", "o", "pages", sent, now)
		if have := string(p.Body.JSON()); have != want {
			t.Errorf("%s becomes %s, want %s", text, have, want)
		}
		if string(sent.JSON()) != text {
			t.Errorf("%s was changed to %s", text, sent.JSON())
		}
		var again classicportal.Piece
		if stored, err := json.Marshal(p); err != nil || json.Unmarshal(stored, &again) != nil || again.ID != "1" || string(again.Body.JSON()) != want {
			t.Errorf("%s: %v", stored, err)
		}
	}
}

// TestAge: pieces of one part are together, sorted by time, including fractions of a second.
func TestAge(t *testing.T) {
	age := func(part string, later time.Duration) string {
		return classicportal.New("1", "o", part, doctest.Node(t, "{}"), now.Add(later)).Age()
	}
	for i, list := 1, []string{age("css", time.Hour), age("pages", 0), age("pages", 1), age("pages", time.Second), age("pages", time.Second+1)}; i < len(list); i++ {
		if list[i-1] >= list[i] {
			t.Errorf("%q is not before %q", list[i-1], list[i])
		}
	}
	if !strings.HasPrefix(age("pages", 0), classicportal.Prefix("pages")) || strings.HasPrefix(age("pages", 0), classicportal.Prefix("page")) {
		t.Error("a prefix selects another part")
	}
}

// FuzzNew: no member with the name of a secret is stored, and nothing panics.
func FuzzNew(f *testing.F) {
	f.Add(`{"a":[{"password":{"b":1}},[{"token":[]}]]}`)
	f.Fuzz(func(t *testing.T, text string) {
		n, err := doc.ParseNode([]byte(text))
		if err != nil {
			return
		}
		var look func(*doc.Node)
		look = func(n *doc.Node) {
			for name, v := range n.Members() {
				if redact.Name(name) {
					t.Errorf("%q is kept of %s", name, text)
				}
				look(v)
			}
			for _, v := range n.Items() {
				look(v)
			}
		}
		look(classicportal.New("1", "o", "css", n, now).Body)
	})
}
