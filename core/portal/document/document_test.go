package document_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/portal/document"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

// TestType: the document that developers see.
func TestType(t *testing.T) {
	none := document.Sheet{}
	both := none.With(document.OAS).With(document.GraphQL)
	for name, c := range map[string]struct {
		sheet   document.Sheet
		address string
		want    document.Form
	}{
		"nothing":                               {none, "", ""},
		"an address":                            {none, "https://a.example/oas", document.OAS},
		"a description":                         {none.With(document.OAS), "", document.OAS},
		"a schema":                              {none.With(document.GraphQL), "", document.GraphQL},
		"a schema beside an address":            {none.With(document.GraphQL), "https://a.example/oas", document.GraphQL},
		"a schema after a description":          {both, "", document.GraphQL},
		"a description after a schema":          {none.With(document.GraphQL).With(document.OAS), "", document.OAS},
		"the schema is gone":                    {both.Without(document.GraphQL), "", document.OAS},
		"the description is gone":               {none.With(document.GraphQL).With(document.OAS).Without(document.OAS), "", document.GraphQL},
		"both are gone":                         {both.Without(document.GraphQL).Without(document.OAS), "", ""},
		"the schema is gone, not so an address": {both.Without(document.GraphQL).Without(document.OAS), "https://a.example/oas", document.OAS},
	} {
		if have := c.sheet.Type(c.address); have != c.want {
			t.Errorf("%s: %q, not %q", name, have, c.want)
		}
	}
	if !none.Empty() || both.Empty() || !both.Has(document.GraphQL) || both.Without(document.OAS).Has(document.OAS) {
		t.Error("what a sheet has")
	}
}

// TestNames: the IDs of sheets are unique for APIs and specifications.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, id := range []string{document.OfAPI(1, "a"), document.OfAPI(1, "b"), document.OfAPI(2, "a"), document.OfAPI(1, strings.Repeat("a", 10_000)), document.OfSpec(1, 1), document.OfSpec(1, 2), document.OfSpec(2, 1)} {
		for _, f := range []document.Form{document.OAS, document.GraphQL} {
			text := document.TextID(id, f)
			if seen[text] || len(text) > 100 {
				t.Error(text)
			}
			seen[text] = true
		}
	}
}

// TestAlias: the alias for a file name.
func TestAlias(t *testing.T) {
	for file, want := range map[string]string{
		"orders.graphql": "orders", "my orders.v2.gql": "my_orders_v2", "a-b_c.json": "a-b_c", ".graphql": "schema", "": "schema", "plain": "plain",
		"Bestellungen für alle.gql": "Bestellungen_f_r_alle", strings.Repeat("a", 300) + ".gql": strings.Repeat("a", 255),
	} {
		if have := document.Alias(file); have != want {
			t.Errorf("%q: %q", file, have)
		}
	}
}

// TestSchemaType: file names of schemas.
func TestSchemaType(t *testing.T) {
	for file, want := range map[string]string{
		"a.graphql": document.SDL, "a.graphqls": document.SDL, "a.GQL": document.SDL, "b.json": document.JSON,
		"a.txt": "", "graphql": "", "": "", "a.graphql.exe": "", "a.yaml": "",
	} {
		if have, err := document.SchemaType(file); have != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", file, have, err)
		}
	}
}

// TestAddress: valid URLs of documents.
func TestAddress(t *testing.T) {
	for text, want := range map[string]bool{
		"https://a.example/oas.yaml": true, "http://localhost:8080": true, "file:///etc/passwd": false, "a.example/oas": false, "https://": false, "ftp://a.example/x": false, "javascript:alert(1)": false, "": false, "http://a b/": false,
	} {
		if document.IsAddress(text) != want {
			t.Error(text)
		}
	}
}

// TestServedAt: the URL at which gateways serve an API.
func TestServedAt(t *testing.T) {
	for in, want := range map[[2]string]string{
		{"", "/a/"}:                 "",
		{"https://gw", "/a/"}:       "https://gw/a/",
		{"https://gw/", "a"}:        "https://gw/a/",
		{"https://gw/x/", "/a/b//"}: "https://gw/x/a/b/",
		{"https://gw", "/"}:         "https://gw/",
		{"https://gw", ""}:          "https://gw/",
	} {
		if have := document.ServedAt(in[0], in[1]); have != want {
			t.Errorf("%q: %q, want %q", in, have, want)
		}
	}
}

func TestCheckOAS(t *testing.T) {
	for text, want := range map[string]string{
		`{"openapi":"3.0.3","info":{"title":"A"},"paths":{}}`: "",
		`{"openapi":"3.1.0","info":{}}`:                       "",
		`{"swagger":"2.0","info":{}}`:                         "",
		`{"swagger":2.0,"info":{}}`:                           "",
		`[]`:                                                  "not an object",
		`"openapi"`:                                           "not an object",
		`{}`:                                                  "neither openapi nor swagger",
		`{"asyncapi":"2.0.0","info":{}}`:                      "neither openapi nor swagger",
		`{"openapi":"4.0.0","info":{}}`:                       "another version",
		`{"openapi":3,"info":{}}`:                             "another version",
		`{"swagger":"1.2","info":{}}`:                         "another version",
		`{"swagger":null,"info":{}}`:                          "another version",
		`{"openapi":"3.0.3"}`:                                 "no info",
		`{"openapi":"3.0.3","info":[]}`:                       "no info",
	} {
		if err := document.CheckOAS(doctest.Node(t, text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestTables: the fields of specifications and of the APIs of a product.
func TestTables(t *testing.T) {
	tabletest.Sound[document.Spec](t, `{"SpecAlias":"orders"}`)
	tabletest.Sound[document.API](t, `{}`)
	tabletest.Bodies(t, document.Spec{}, true, map[string]string{
		`{"SpecAlias":"a b"}`: "SpecAlias is invalid", `{"SpecAlias":"ü"}`: "SpecAlias is invalid", `{"SpecAlias":"a-B_9"}`: `{"SpecAlias":"a-B_9"}`,
		`{"SpecAlias":"a","OASUrl":"file:///etc/passwd"}`: "OASUrl is invalid",
	})
	tabletest.Bodies(t, document.API{Name: "Orders", Status: true}, false, map[string]string{
		`{"Name":"x","Status":false,"Description":"d"}`: `{"Name":"Orders","Status":true,"Description":"d"}`,
		`{"OASUrl":"x","GraphQLServerEndpoint":"y"}`:    "OASUrl is invalid; GraphQLServerEndpoint is invalid",
	})
	s := document.Spec{ProductID: 3, SpecAlias: "a"}
	if of := s.Table(); of.Parent(s) != 3 || of.Unique[0].Of(s) == of.Unique[0].Of(document.Spec{ProductID: 4, SpecAlias: "a"}) {
		t.Error("specifications of two products share aliases")
	}
}
