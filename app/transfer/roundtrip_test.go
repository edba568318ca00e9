package transfer_test

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/folder"
)

// folderOf returns the bundle of a file among all files.
func folderOf(t *testing.T, f folder.File, all []folder.File) folder.Bundle {
	t.Helper()
	b, problems := folder.Read(all)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var out folder.Bundle
	for _, a := range b.APIs {
		if a.Place.File == f.Name {
			out.APIs = append(out.APIs, a)
		}
	}
	for _, p := range b.Policies {
		if p.Place.File == f.Name {
			out.Policies = append(out.Policies, p)
		}
	}
	return out
}

// roundTrip checks that gateways get what was imported: every member, with the same
// text, except IDs and the organisation.
func roundTrip(t *testing.T, w *world, b folder.Bundle) {
	t.Helper()
	served, granted := w.apis(), w.policies()
	for _, a := range b.APIs {
		got := served[a.ID]
		if got == nil {
			t.Errorf("API %s is not in the feed", a.ID)
			continue
		}
		if a.Definition != nil {
			contains(t, a.ID, without(a.Definition, "id", "org_id"), got.Get("api_definition"))
		}
		if a.Document != nil {
			d := a.Document.Clone()
			for _, name := range []string{"dbId", "orgId"} {
				d.Delete("x-tyk-api-gateway", "info", name)
			}
			contains(t, a.ID+" document", d, got.Get("oas"))
		}
	}
	for _, p := range b.Policies {
		got := granted[p.ID]
		if got == nil {
			t.Errorf("policy %s is not in the feed", p.ID)
			continue
		}
		contains(t, p.ID, without(p.Node, "_id", "org_id"), got)
	}
}

func without(n *doc.Node, names ...string) *doc.Node {
	n = n.Clone()
	for _, name := range names {
		n.Delete(name)
	}
	return n
}

// contains checks that got has every member of want, with the same text.
func contains(t *testing.T, at string, want, got *doc.Node) {
	t.Helper()
	if !want.Is(doc.TypeObject) {
		if string(want.JSON()) != string(got.JSON()) {
			t.Errorf("%s: %s became %s", at, want.JSON(), got.JSON())
		}
		return
	}
	for name, v := range want.Members() {
		contains(t, at+"."+name, v, got.Get(name))
	}
}

// anything returns a random JSON value in a random spelling.
func anything(r *rand.Rand, depth int) string {
	switch n := r.Intn(8); {
	case n == 0:
		return "null"
	case n == 1:
		return []string{"true", "false"}[r.Intn(2)]
	case n == 2:
		return []string{"0", "-0.0", "1.50", "1e2", "12345678901234567890", "0.1e-7"}[r.Intn(6)]
	case n < 6 || depth == 0:
		return []string{`""`, `"\u00e9"`, `"é"`, `"a\/b"`, `"<&>"`, `"x.y$z"`}[r.Intn(6)]
	case n == 6:
		return "[" + anything(r, depth-1) + "," + anything(r, depth-1) + "]"
	}
	return fmt.Sprintf(`{"z":%s,"a.b":%s,"":%s}`, anything(r, depth-1), anything(r, depth-1), anything(r, depth-1))
}

// random returns a folder with an API of each form, and policies.
func random(t *testing.T, r *rand.Rand, i int) []folder.File {
	t.Helper()
	classic := fmt.Sprintf(`{"future":%s,"api_id":"c%[2]d","id":"%024[2]x","name":"C%[2]d","active":true,"use_keyless":%[3]v,"org_id":"x","config_data":{"x":%[4]s},"tags":["t%[2]d"],
		"proxy":{"later":%[5]s,"listen_path":"/c%[2]d/","target_url":"http://up.example/"},
		"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default","new":%[6]s}}}}`,
		anything(r, 3), i+1, r.Intn(2) == 0, anything(r, 2), anything(r, 3), anything(r, 2))
	document := fmt.Sprintf(`{"openapi":"3.0.3","info":{"title":"D","version":"1"},"x-mine":%s,"paths":{"/p":{"get":{"operationId":"p","responses":{"200":{"description":"d"}}}}},
		"x-tyk-api-gateway":{"info":{"id":"d%[2]d","name":"D%[2]d","dbId":"%024[2]x","orgId":"x","state":{"active":true}},"upstream":{"url":"http://up.example/"},
		"server":{"listenPath":{"value":"/d%[2]d/","strip":%[3]v}},"middleware":{"operations":{"p":{"enforceTimeout":{"enabled":true,"value":%[4]d}}},"global":{"contextVariables":{"enabled":true}}}},
		"servers":[{"url":"https://gw.example/d%[2]d/"}]}`, anything(r, 3), i+1, r.Intn(2) == 0, 1+r.Intn(9))
	n, err := doc.ParseNode([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	paired := oas.Extract(n, nil, oas.Options{})
	paired.Set("api_id", doc.NewString(fmt.Sprintf("d%d", i+1)))
	paired.Set("later", doc.NewFloat(float64(i)+0.5))
	policies := fmt.Sprintf(`{"p%[1]d":{"id":"p%[1]d","name":"P%[1]d","rate":1.0,"per":1e0,"future":%[2]s,"last_updated":"1700000000","date_created":"2020-01-02T03:04:05Z","meta_data":{"k":%[3]s},
		"access_rights":{"c%[1]d":{"api_id":"c%[1]d","new":%[4]s,"versions":["Default"]}}}}`, i+1, anything(r, 3), anything(r, 2), anything(r, 2))
	base := fmt.Sprintf("%d/", i)
	return []folder.File{
		{Name: base + "c.json", Text: []byte(classic)}, {Name: base + "d.json", Text: paired.JSON()}, {Name: base + "d-oas.json", Text: []byte(document)},
		{Name: base + "policies.json", Text: []byte(policies)},
	}
}

// TestRoundTrip checks, for random folders, that gateways get what was imported.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	w := newWorld(t, apis.Settings{})
	var files []folder.File
	for i := range 40 {
		files = append(files, random(t, r, i)...)
	}
	b, problems := folder.Read(files)
	if len(problems) > 0 || len(b.APIs) != 80 || len(b.Policies) != 40 {
		t.Fatal(problems, b.Len())
	}
	report := w.load("a", b)
	if report.Writes() != 120 {
		t.Fatal(report)
	}
	roundTrip(t, w, b)
	if again := w.load("a", b); again.Writes() != 0 {
		t.Error("the same again is something else", again)
	}
}

func BenchmarkImport(b *testing.B) {
	var text []string
	for i := range 1000 {
		text = append(text, fmt.Sprintf("%d.json", i), fmt.Sprintf(`{"api_id":"c%[1]d","name":"C%[1]d","active":true,"proxy":{"listen_path":"/c%[1]d/","target_url":"http://up.example/"}}`, i))
	}
	for b.Loop() {
		w := newWorld(b, apis.Settings{})
		w.load("a", w.bundle(text...))
	}
}
