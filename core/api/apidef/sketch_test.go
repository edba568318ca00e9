package apidef_test

import (
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// The list of servers changes in a document, wherever it is, and nothing else does: the result
// equals an API that is written with this list.
func TestWithServers(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, text := range []string{
		`{"openapi":"3.0.3","servers":[{"url":"/a"}],"x":1.50,"x-tyk-api-gateway":{"info":{"name":"A"}}}`,
		`{"openapi":"3.0.3","é\/":{"b":1,"a":[]}}`,
	} {
		definition, document := doctest.Node(t, `{"name":"A","z":1e2,"proxy":{"listen_path":"/a/"},"paths":[1],"internal":true}`), doctest.Node(t, text)
		wrapper, err := doc.ParseObject([]byte(`{"categories":["x"],"user_owners":["u"]}`))
		if err != nil {
			t.Fatal(err)
		}
		a, err := apidef.New(apidef.Draft{ID: "5f1a0c5d8e3b2a1f00000001", APIID: "a", OrgID: "o", Class: apidef.OAS, Definition: definition, Document: document, Wrapper: wrapper}, at)
		if err != nil {
			t.Fatal(err)
		}
		seen, servers, err := a.Addresses()
		if err != nil || string(seen.JSON()) != `{"api_id":"a","internal":true,"proxy":{"listen_path":"/a/"}}` || !servers.Get("servers").Equal(document.Get("servers")) {
			t.Errorf("%s %s %v", seen.JSON(), servers.JSON(), err)
		}
		list := doctest.Node(t, `[{"url":"/b"}]`)
		got, err := a.WithServers(list)
		if err != nil {
			t.Fatal(err)
		}
		def, whole, err := a.Texts()
		if err != nil {
			t.Fatal(err)
		}
		whole.Set("servers", list)
		want, err := a.Rewrite(apidef.Draft{Definition: def, Document: whole}, at)
		if err != nil {
			t.Fatal(err)
		}
		if g, w := stored(t, got), stored(t, want); g != w || !got.Quiet() || got.APIID() != "a" || string(got.Document()) != string(want.Document()) || string(got.Definition()) != string(want.Definition()) {
			t.Errorf("got  %s\nwant %s", g, w)
		}
	}
}

func stored(t *testing.T, a apidef.API) string {
	t.Helper()
	text, err := a.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestParts: parts of an API are read without the rest; a classic API has no document.
func TestParts(t *testing.T) {
	a := made(t, apidef.OAS, `{"name":"x","proxy":{"listen_path":"/a/"},"tags":["t"]}`, "")
	part, err := a.Part("openapi")
	if err != nil || part.Text() != "3.0.3" {
		t.Errorf("%v, %v", part, err)
	}
	if part, err = a.Part("paths"); err != nil || part != nil {
		t.Errorf("%v, %v", part, err)
	}
	classic := made(t, apidef.Classic, `{"name":"x","proxy":{"listen_path":"/a/"},"tags":["t"]}`, "")
	if part, err = classic.Part("openapi"); err != nil || part != nil {
		t.Errorf("%v, %v", part, err)
	}
	definition, document, err := classic.Addresses()
	if err != nil || document != nil || string(definition.JSON()) != `{"api_id":"a1","proxy":{"listen_path":"/a/"},"tags":["t"]}` {
		t.Errorf("%s, %v, %v", definition.JSON(), document, err)
	}
	if _, err := classic.WithServers(doctest.Node(t, `[]`)); err == nil {
		t.Error("a classic API has servers")
	}
}
