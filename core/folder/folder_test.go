package folder_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/folder"
)

func files(pairs ...string) (out []folder.File) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, folder.File{Name: pairs[i], Text: []byte(pairs[i+1])})
	}
	return out
}

// found lists the kind, identifier and class of each object in a bundle.
func found(b folder.Bundle) (out []string) {
	for _, a := range b.APIs {
		out = append(out, "api "+a.ID+" "+string(a.Class))
	}
	for _, p := range b.Policies {
		out = append(out, "policy "+p.ID+" "+p.Node.Get("name").Text())
	}
	for _, p := range b.IdPs {
		out = append(out, "idp "+p.ID)
	}
	return out
}

func lines(problems []folder.Problem) (out []string) {
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

const (
	classic  = `{"api_id":"a","name":"A","proxy":{"listen_path":"/a/"}}`
	oasForm  = `{"api_id":"a","is_oas":true,"name":"A","proxy":{"listen_path":"/a/"}}`
	document = `{"openapi":"3.0.3","x-tyk-api-gateway":{"info":{"id":"a","name":"A"}}}`
	nameless = `{"openapi":"3.0.3","x-tyk-api-gateway":{"info":{"name":"A"}}}`
	mcpForm  = `{"api_id":"a","is_oas":true,"application_protocol":"mcp","json_rpc_version":"2.0","proxy":{}}`
	streams  = `{"openapi":"3.0.3","x-tyk-streaming":{"streams":{}},"x-tyk-api-gateway":{"info":{"id":"a"}}}`
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		files    []folder.File
		found    []string
		problems []string
		notes    []string
		ignored  []string
	}{
		"nothing":    {},
		"classic":    {files: files("apps/a.json", classic), found: []string{"api a classic"}},
		"pair by id": {files: files("x.json", oasForm, "other.json", document), found: []string{"api a oas"}},
		"pair by file name": {files: files("apps/shop.json", oasForm, "apps/shop-oas.json", nameless, "apps/b-oas.json", `{"openapi":"3.0.3","x-tyk-api-gateway":{}}`),
			found: []string{"api a oas", "api b oas"}},
		"pair by id as file name": {files: files("apps/shop.json", oasForm, "docs/a-oas.json", nameless), found: []string{"api a oas"}},
		"pair that disagrees": {files: files("shop.json", oasForm, "shop-oas.json", `{"openapi":"3.0.3","x-tyk-api-gateway":{"info":{"id":"b"}}}`),
			problems: []string{`shop-oas.json: x-tyk-api-gateway.info.id: is "b", but the definition in shop.json has the api_id "a"`}},
		"no document": {files: files("a.json", oasForm),
			problems: []string{`a.json: is_oas: is true, but no file holds the OpenAPI document of API "a"`}},
		"document alone":          {files: files("a.json", document), found: []string{"api a oas"}},
		"document without an id":  {files: files("a.json", nameless), problems: []string{"a.json: x-tyk-api-gateway.info.id: is missing: an API is imported under its identifier"}},
		"id from the file name":   {files: files("x/a-oas.json", nameless), found: []string{"api a oas"}},
		"plain OpenAPI":           {files: files("a.json", `{"openapi":"3.1.0"}`), problems: []string{"a.json: is a plain OpenAPI description: it lacks x-tyk-api-gateway; import it with POST /api/apis/oas/import"}},
		"mcp by markers":          {files: files("a.json", mcpForm, "a-oas.json", nameless), found: []string{"api a mcp"}},
		"mcp by file name":        {files: files("a-mcp.json", document), found: []string{"api a mcp"}},
		"mcp by tools":            {files: files("a.json", `{"openapi":"3.0.3","x-tyk-api-gateway":{"info":{"id":"a"},"middleware":{"mcpTools":{"t":{}}}}}`), found: []string{"api a mcp"}},
		"streams":                 {files: files("a.json", streams), found: []string{"api a streams"}},
		"wrapper":                 {files: files("a.json", `{"api_definition":`+classic+`,"user_owners":["u"]}`), found: []string{"api a classic"}},
		"wrapper with a document": {files: files("a.json", `{"api_definition":`+oasForm+`,"oas":`+document+`}`), found: []string{"api a oas"}},
		"wrapper of streams":      {files: files("a.json", `{"api_definition":`+oasForm+`,"oas":`+document+`,"is_streams":true}`), found: []string{"api a streams"}},
		"wrapper whose API ID is in the document": {files: files("a.json", `{"api_definition":{"is_oas":true},"oas":`+document+`}`), found: []string{"api a oas"}},
		"definition without an id":                {files: files("a.json", `{"name":"A","proxy":{}}`), problems: []string{"a.json: api_id: is missing: an API is imported under its identifier"}},
		"pair of an MCP proxy":                    {files: files("shop.json", oasForm, "shop-mcp.json", nameless), found: []string{"api a mcp"}},
		"bad wrapper": {files: files("a.json", `{"api_definition":1}`, "b.json", `{"api_definition":{},"oas":[]}`), problems: []string{
			"a.json: api_definition: must be an object", "b.json: oas: must be an object"}},
		"export": {files: files("all.json", `{"apis":[{"api_definition":`+classic+`},{"api_id":"b","proxy":{}},7],"pages":1}`),
			found: []string{"api a classic", "api b classic"}, problems: []string{"all.json: apis.2: is " + unknown}},
		"list of definitions": {files: files("all.json", `[`+classic+`]`), found: []string{"api a classic"}},
		"policies by id": {files: files("policies/policies.json", `{"gold":{"rate":1,"per":1},"silver":{"id":"other","name":"Silver"},"bad":1}`),
			found:    []string{"policy gold gold", "policy silver Silver"},
			problems: []string{"policies/policies.json: bad: must be a policy, an object"},
			notes: []string{`policies/policies.json: gold.name: is missing; the policy is called "gold"`,
				`policies/policies.json: silver.id: is "other", but gateways know the policy as "silver", which it is imported as`}},
		"no policies":                    {files: files("policies.json", `{}`)},
		"policies by id in another file": {files: files("p.json", `{"gold":{"name":"G","access_rights":{}}}`), found: []string{"policy gold G"}},
		"export of policies":             {files: files("p.json", `{"Data":[{"id":"gold","name":"G","access_rights":{}},{"name":"x","quota_max":1}],"Pages":1}`), found: []string{"policy gold G"}, problems: []string{"p.json: Data.1.id: is missing: a policy is imported under its identifier"}},
		"empty exports":                  {files: files("a.json", `{"apis":[]}`, "b.json", `{"Data":null,"Pages":0}`, "c.json", `{"client_idps":[]}`)},
		"single policy":                  {files: files("p.json", `{"_id":"5f1a0c5d8e3b2a1f00000009","name":"G","access_rights":{}}`), found: []string{"policy 5f1a0c5d8e3b2a1f00000009 G"}},
		"wrongly typed policy":           {files: files("p.json", `{"id":7,"access_rights":{}}`), problems: []string{"p.json: id: must be a string, not number"}},
		"idp":                            {files: files("i.json", `{"client_idp_id":"corp","name":"C","jwks_uri":"x"}`), found: []string{"idp corp"}},
		"idps": {files: files("i.json", `{"client_idps":[{"_id":"5f1a0c5d8e3b2a1f00000009","jwks_uri":"x"},{"jwks_uri":"x"},{"client_idp_id":1}]}`), found: []string{"idp 5f1a0c5d8e3b2a1f00000009"},
			problems: []string{"i.json: client_idps.1.client_idp_id: is missing: an identity provider is imported under its identifier",
				"i.json: client_idps.2.client_idp_id: must be a string, not number"}},
		"unknown": {files: files("tyk.json", `{"listen_port":8080}`, "text.json", `"x"`, "broken.json", `{`, "README.md", "hi"),
			ignored: []string{"README.md: is no JSON file by its name, and is left out"},
			problems: []string{"broken.json: not valid JSON: unexpected end of JSON input", "text.json: is " + unknown,
				"tyk.json: is " + unknown}},
		"twice": {files: files("a.json", classic, "b.json", classic, "p.json", `{"x":{"name":"x","per":1,"rate":1}}`, "q.json", `{"id":"x","name":"y","access_rights":{}}`),
			found:    []string{"api a classic", "policy x x"},
			problems: []string{`b.json: api_id: the API "a" is in a.json already`, `q.json: id: the policy "x" is in p.json (x) already`}},
	} {
		t.Run(name, func(t *testing.T) {
			b, problems := folder.Read(c.files)
			for _, p := range []struct {
				what      string
				got, want []string
			}{{"found", found(b), c.found}, {"problems", lines(problems), c.problems}, {"notes", lines(b.Notes), c.notes}, {"ignored", lines(b.Ignored), c.ignored}} {
				if !slices.Equal(p.got, p.want) {
					t.Errorf("%s:\n%s\nwant\n%s", p.what, strings.Join(p.got, "\n"), strings.Join(p.want, "\n"))
				}
			}
		})
	}
}

const unknown = "none of what can be imported: an API definition, an OpenAPI document, a wrapper with api_definition, a list of these in apis, " +
	"a policy, policies by id, a list of them in Data, an identity provider, or a list of them in client_idps"

// TestPlaces: later problems can have a place too.
func TestPlaces(t *testing.T) {
	b, problems := folder.Read(files("all.json", `{"apis":[{"api_definition":`+oasForm+`,"oas":`+document+`}]}`))
	if len(problems) > 0 || len(b.APIs) != 1 || b.Len() != 1 {
		t.Fatal(problems, b)
	}
	a := b.APIs[0]
	if got := a.Place.Problem("name", "is %s", "bad").String(); got != "all.json: apis.0.api_definition.name: is bad" {
		t.Error(got)
	}
	if got := a.DocumentAt.String(); got != "all.json (apis.0.oas)" {
		t.Error(got)
	}
	if a.Name() != "A" {
		t.Error(a.Name())
	}
}

// TestReadOne tests reading one object from a list.
func TestReadOne(t *testing.T) {
	at := folder.Place{File: "body", At: "apis.3"}
	for name, c := range map[string]struct {
		read     func(folder.Place, *doc.Node) (folder.Bundle, []folder.Problem)
		text     string
		found    []string
		problems []string
	}{
		"wrapper":              {folder.ReadAPI, `{"api_definition":` + classic + `}`, []string{"api a classic"}, nil},
		"definition":           {folder.ReadAPI, classic, []string{"api a classic"}, nil},
		"neither":              {folder.ReadAPI, `{"name":"A"}`, nil, []string{"body: apis.3.api_definition: is required"}},
		"without its document": {folder.ReadAPI, oasForm, []string{"api a classic"}, []string{`body: apis.3.is_oas: is true, but no file holds the OpenAPI document of API "a"`}},
		"policy":               {folder.ReadPolicy, `{"id":"gold","name":"Gold"}`, []string{"policy gold Gold"}, nil},
		"no policy":            {folder.ReadPolicy, `[]`, nil, []string{"body: apis.3: must be a policy, an object"}},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := doc.ParseNode([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			b, problems := c.read(at, n)
			if got := found(b); !slices.Equal(got, c.found) {
				t.Errorf("found %v, want %v", got, c.found)
			}
			if got := lines(problems); !slices.Equal(got, c.problems) {
				t.Errorf("problems %v, want %v", got, c.problems)
			}
		})
	}
}

// TestName: the document's name counts, because users edit that one.
func TestName(t *testing.T) {
	for text, want := range map[string]string{
		classic: "A",
		`{"api_definition":{"name":"Old","is_oas":true},"oas":` + document + `}`: "A",
		`{"api_definition":{"name":"Old","is_oas":true},"oas":{}}`:               "Old",
	} {
		b, _ := folder.Read(files("a.json", strings.Replace(text, `"name":"Old"`, `"name":"Old","api_id":"a"`, 1)))
		if len(b.APIs) != 1 || b.APIs[0].Name() != want {
			t.Errorf("%s: %+v, want %s", text, b.APIs, want)
		}
	}
}

// FuzzRead: no file makes the reader fail, and every file is either used or listed.
func FuzzRead(f *testing.F) {
	for _, text := range []string{classic, oasForm, document, nameless, mcpForm, streams, `{"a":{"per":1,"rate":1}}`, `[[{"apis":[null]}]]`, `{"Data":[{"_id":"x"}]}`, `{`} {
		f.Add("a.json", text, "a-oas.json", document)
	}
	f.Fuzz(func(t *testing.T, nameA, a, nameB, b string) {
		bundle, problems := folder.Read(files(nameA, a, nameB, b))
		for _, p := range problems {
			if p.Message == "" || p.File != nameA && p.File != nameB {
				t.Error(p)
			}
		}
		if len(problems) > 0 {
			return
		}
		for _, a := range bundle.APIs {
			if a.ID == "" || a.Class == "" || a.Definition == nil && a.Document == nil {
				t.Errorf("%+v", a)
			}
		}
		for _, p := range bundle.Policies {
			if p.ID == "" || p.Node.Get("name").Text() == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}
