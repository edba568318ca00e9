package apidef_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// TestKeptText: an API is stored with the text from which it was read if it is large, if the
// text has nothing else, and until the first change.
func TestKeptText(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	a := made(t, apidef.OAS, `{"name":"`+long+`"}`, `{"user_owners":["u1"]}`)
	text, err := a.AppendJSON([]byte{})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := apidef.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := whole.AppendJSON(nil); err != nil || &again[0] != &text[0] || len(again) != len(text) {
		t.Errorf("the text was made anew, %v", err)
	}
	if copied, err := whole.AppendJSON([]byte{}); err != nil || &copied[0] == &text[0] || string(copied) != string(text) {
		t.Errorf("who has a buffer gets no copy, %v", err)
	}
	for name, changed := range map[string]apidef.API{
		"owners": whole.WithOwners([]string{"u2"}, nil, at.Add(time.Hour)), "class": whole.As(apidef.Streams),
	} {
		if again, err := changed.AppendJSON(nil); err != nil || string(again) == string(text) {
			t.Errorf("%s: a change is not stored, %v", name, err)
		}
	}
	// Another program may write the members in another order.
	other, err := apidef.Load([]byte(strings.Replace(string(text), `"class":"oas",`, "", 1)[:len(text)-len(`"class":"oas",`)-1] + `,"class":"oas"}`))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := other.AppendJSON(nil); err != nil || string(again) != string(text) {
		t.Errorf("an API in another order is not stored as usual, %v", err)
	}
}

// TestOver: an API shares the stored text where it is equal, and otherwise keeps its own text.
func TestOver(t *testing.T) {
	a := made(t, apidef.OAS, `{"name":"x"}`, "")
	text, err := a.AppendJSON([]byte{})
	if err != nil {
		t.Fatal(err)
	}
	inside := func(part []byte) bool {
		for i := range text {
			if &text[i] == &part[0] {
				return true
			}
		}
		return false
	}
	if b := a.Over(text); !inside(b.Definition()) || !inside(b.Document()) || !b.Same(a) {
		t.Error("the texts are in memory twice")
	} else if again, err := b.AppendJSON(nil); err != nil || &again[0] != &text[0] {
		t.Errorf("the API keeps the text that it was made as beside the stored one, %v", err)
	}
	for _, stored := range []string{"", `{}`, strings.Replace(string(text), `"openapi"`, `"openapj"`, 1), strings.Replace(string(text), `"name":"x"`, `"name":"y"`, 1)} {
		if b := a.Over([]byte(stored)); !b.Same(a) {
			t.Errorf("%s changed the API", stored)
		}
	}
}

// TestSame: order and spelling do not matter, and everything else does.
func TestSame(t *testing.T) {
	a := made(t, apidef.Classic, `{"name":"x","active":true}`, "")
	for definition, want := range map[string]bool{
		`{"active":true,"name":"x"}`: true, `{"name":"\u0078","active":true}`: true, `{"name":"x","active":false}`: false, `{"name":"x"}`: false,
	} {
		if got := a.Same(made(t, apidef.Classic, definition, "")); got != want {
			t.Errorf("%s: %v", definition, got)
		}
	}
	if a.Same(a.As(apidef.MCP)) {
		t.Error("APIs of two classes are the same")
	}
}

// TestListed: the values that lists use.
func TestListed(t *testing.T) {
	plain := made(t, apidef.MCP, `{"name":"A","use_keyless":true}`, "").WithCategories([]string{"one", "two"}, at).Listed()
	if plain.APIID() != "a1" || !plain.IsMCP() || plain.Categories() != doc.Intern([]string{"one", "two"}) || plain.ChildIDs() != nil ||
		plain.AuthTypes() != doc.Intern([]string{"keyless"}) || plain.Handle().Value() != "a1" {
		t.Errorf("%v %v %v %v %v", plain.APIID(), plain.IsMCP(), plain.Categories(), plain.AuthTypes(), plain.ChildIDs())
	}
	base := made(t, apidef.OAS, `{"name":"A","definition":{"enabled":true,"versions":{"v2":"kid"}}}`, "").Listed()
	if base.IsMCP() || len(base.ChildIDs()) != 1 || base.ChildIDs()[0] != "kid" {
		t.Errorf("%v", base.ChildIDs())
	}
}

// TestSize: a compact list reserves no room for the texts that it leaves out.
func TestSize(t *testing.T) {
	a := made(t, apidef.OAS, `{"name":"x"}`, "")
	if want := len(a.Definition()) + len(a.Document()); a.Size() != want || a.View(false).Size() != want || a.View(true).Size() != 0 {
		t.Errorf("%d, %d and %d, want %d", a.Size(), a.View(false).Size(), a.View(true).Size(), want)
	}
}
