package transfer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/transfer"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/folder"
)

const (
	orders = `{"id":"5f1a0c5d8e3b2a1f000000aa","api_id":"orders","org_id":"elsewhere","name":"Orders","active":true,"use_keyless":true,"later":{"z":1.50},
		"proxy":{"listen_path":"/orders/","target_url":"http://up.example/"}}`
	stock = `{"openapi":"3.0.3","info":{"title":"Stock","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"id":"stock","name":"Stock","state":{"active":true}},
		"upstream":{"url":"http://up.example/"},"server":{"listenPath":{"value":"/stock/","strip":true}},"newer":{"a":1}}}`
	gold = `{"gold":{"org_id":"elsewhere","rate":1e2,"per":1,"access_rights":{"orders":{"api_id":"orders","versions":["Default"]}}}}`
	corp = `{"_id":"5f1a0c5d8e3b2a1f000000bb","client_idp_id":"corp","name":"Corp","jwks_uri":"https://idp.example/keys","api_mappings":{"orders":{"scope_to_policy":{"read":"gold"}}}}`
)

func show(t transfer.Tally) string {
	return fmt.Sprintf("+%v ~%v =%v", t.Created, t.Changed, t.Unchanged)
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
	}
}

func TestImport(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	b := w.bundle("apps/orders.json", orders, "apps/stock-oas.json", stock, "policies.json", gold, "idp.json", corp)
	var steps []string
	r, err := w.service.Import(t.Context(), w.scope("a"), b, true, func(done, total int, name string) { steps = append(steps, fmt.Sprintf("%d %d %s", done, total, name)) })
	if err != nil || r.Stored || w.head() != 0 {
		t.Fatal("a dry run", err, r, w.head())
	}
	expect(t, "progress", strings.Join(steps, ","), "1 4 orders,2 4 stock,3 4 gold,4 4 corp")
	planned := show(r.APIs) + show(r.Policies) + show(r.IDPs)
	expect(t, "plan", planned, "+[orders (Orders) stock (Stock)] ~[] =[]+[gold] ~[] =[]+[corp (Corp)] ~[] =[]")
	r = w.load("a", b)
	expect(t, "report", show(r.APIs)+show(r.Policies)+show(r.IDPs), planned)
	if !r.Stored || r.Writes() != 4 {
		t.Error(r)
	}
	expect(t, "signals", strings.Join(w.signals(0), ","), "ClientIdPChanged corp,GroupReload ")
	for what, ok := range map[string]bool{
		"database ID of an API": strings.Contains(w.record("a", "api", "orders"), `"_id":"5f1a0c5d8e3b2a1f000000aa"`),
		"organisation":          strings.Contains(w.record("a", "api", "orders"), `"org_id":"a"`) && strings.Contains(w.record("a", "policy", "gold"), `"org_id":"a"`),
		"unknown members":       strings.Contains(w.record("a", "api", "orders"), `"later":{"z":1.50}`) && strings.Contains(w.record("a", "api", "stock"), `"newer":{"a":1}`),
		"number spelling":       strings.Contains(w.record("a", "policy", "gold"), `"rate":1e2`),
		"database ID of an IdP": strings.Contains(w.record("a", "clientidp", "corp"), `"_id":"5f1a0c5d8e3b2a1f000000bb"`),
		"derived from APIs":     strings.Contains(w.record("a", "policy", "gold"), `"auth_types":["keyless"]`),
	} {
		if !ok {
			t.Error(what)
		}
	}
}

// TestImportAgain checks that a second import writes only what differs.
func TestImportAgain(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	b := w.bundle("orders.json", orders, "stock-oas.json", stock, "policies.json", gold, "idp.json", corp)
	w.load("a", b)
	head := w.head()
	r := w.load("a", b)
	expect(t, "again", show(r.APIs)+show(r.Policies)+show(r.IDPs), "+[] ~[] =[orders (Orders) stock (Stock)]+[] ~[] =[gold]+[] ~[] =[corp (Corp)]")
	if w.head() != head {
		t.Error("the same again was stored")
	}
	api, pol, idp := w.record("a", "api", "orders"), w.record("a", "policy", "gold"), w.record("a", "clientidp", "corp")
	change := strings.NewReplacer("Orders", "Bestellungen", "1e2", "99", "idp.example", "login.example", "000000aa", "000000ab", "000000bb", "000000bc")
	r = w.load("a", w.bundle("orders.json", change.Replace(orders), "stock-oas.json", stock, "policies.json", change.Replace(gold), "idp.json", change.Replace(corp)))
	expect(t, "changed", show(r.APIs)+show(r.Policies)+show(r.IDPs), "+[] ~[orders (Bestellungen)] =[stock (Stock)]+[] ~[gold] =[]+[] ~[corp (Corp)] =[]")
	expect(t, "signals", strings.Join(w.signals(head), ","), "ClientIdPChanged corp,GroupReload ")
	for before, after := range map[string]string{api: w.record("a", "api", "orders"), pol: w.record("a", "policy", "gold"), idp: w.record("a", "clientidp", "corp")} {
		for _, member := range []string{"_id", "created_at", "date_created"} {
			if m := find(before, member); m != find(after, member) {
				t.Errorf("%s: %s became %s", member, m, find(after, member))
			}
		}
		if before == after {
			t.Error("nothing changed", before)
		}
	}
	// Database IDs that are taken in this organisation, or are invalid, are replaced by
	// new ones.
	w.load("a", w.bundle("x.json", strings.NewReplacer(`"orders"`, `"copy"`, "/orders/", "/copy/").Replace(orders), "y.json", strings.NewReplacer(`"orders"`, `"odd"`, "/orders/", "/odd/", "5f1a0c5d8e3b2a1f000000aa", "1").Replace(orders)))
	for _, id := range []string{"copy", "odd"} {
		if got := find(w.record("a", "api", id), "_id"); got == find(api, "_id") || len(got) != 26 {
			t.Error(id, got)
		}
	}
	// Another organisation may have the same database IDs, but gateways know an API by
	// its api_id.
	if r, err := w.service.Import(t.Context(), w.scope("b"), b, false, nil); err == nil || !strings.Contains(fmt.Sprint(r.Problems), "api_id: Found API with the same ID") {
		t.Error(r, err)
	}
	own := strings.NewReplacer(`"orders"`, `"orders-b"`, `"stock"`, `"stock-b"`)
	r = w.load("b", w.bundle("orders.json", own.Replace(orders), "stock-oas.json", own.Replace(stock)))
	expect(t, "other organisation", show(r.APIs), "+[orders-b (Orders) stock-b (Stock)] ~[] =[]")
}

// find returns the text of a top-level member of an object.
func find(text, member string) string {
	_, rest, ok := strings.Cut(text, `"`+member+`":`)
	if !ok {
		return ""
	}
	end := strings.IndexAny(rest, ",}")
	return rest[:end]
}

// TestImportTurns checks that an import can replace a classic API by an OAS API.
func TestImportTurns(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	w.load("a", w.bundle("orders.json", `{"api_definition":`+orders+`,"user_owners":["ann"]}`))
	r := w.load("a", w.bundle("orders-oas.json", strings.NewReplacer(`"stock"`, `"orders"`).Replace(stock)))
	expect(t, "report", show(r.APIs), "+[] ~[orders (Stock)] =[]")
	text := w.record("a", "api", "orders")
	for _, want := range []string{`"class":"oas"`, `"_id":"5f1a0c5d8e3b2a1f000000aa"`, `"user_owners":["ann"]`, `"listen_path":"/stock/"`} {
		if !strings.Contains(text, want) {
			t.Error(want, text)
		}
	}
}

// TestImportRefuses checks that one invalid record prevents the whole import, and that
// all problems are reported.
func TestImportRefuses(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	w.load("a", w.bundle("taken.json", `{"api_id":"taken","name":"T","proxy":{"listen_path":"/taken/","target_url":"http://up.example/"}}`, "p.json", `{"id":"old","name":"Old","access_rights":{}}`))
	head := w.head()
	b := w.bundle(
		"good.json", orders,
		"bad.json", `{"api_id":"bad","proxy":{"listen_path":"bad","target_list":7},"active":"yes"}`,
		"same.json", `{"api_id":"same","name":"S","proxy":{"listen_path":"/taken/","target_url":"http://up.example/"}}`,
		"oas.json", `{"openapi":"3.0.3","x-tyk-api-gateway":{"info":{"id":"oas","name":"O","state":{"active":1}},"server":{"listenPath":{}}}}`,
		"streams.json", `{"openapi":"3.0.3","info":{"title":"s","version":"1"},"paths":{},"x-tyk-streaming":{"streams":{}},"x-tyk-api-gateway":{"info":{"id":"s","name":"s","state":{"active":true}},"upstream":{"url":""},"server":{"listenPath":{"value":"/s/"}}}}`,
		"hook.json", `{"api_definition":{"api_id":"hook","name":"H","proxy":{"listen_path":"/hook/","target_url":"http://up.example/"}},"hook_references":7}`,
		"policies.json", `{"bad":{"rate":"fast","per":[],"access_rights":{}},"b/d":{"name":"slash","rate":1,"per":1},"new":{"name":"Old","rate":1,"per":1}}`,
		"idp.json", `{"client_idp_id":"x","name":7,"jwks_uri":"u"}`, "idp2.json", `{"client_idp_id":"y","name":"Y","jwks_uri":""}`,
	)
	r, err := w.service.Import(t.Context(), w.scope("a"), b, false, nil)
	if fault.CodeOf(err) != transfer.CodeRefused || r.Stored || w.head() != head {
		t.Fatal(err, r.Stored)
	}
	var got []string
	for _, p := range r.Problems {
		got = append(got, p.File+" "+p.Field)
	}
	for _, want := range []string{
		"bad.json name", "bad.json proxy.target_list", "bad.json active", "bad.json proxy.listen_path", "same.json proxy.listen_path",
		"streams.json ", "hook.json api_definition.hook_references", "policies.json bad.rate", "policies.json bad.per",
		"policies.json b/d.id", "policies.json new.name", "idp.json name", "idp2.json jwks_uri",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no problem with %s", want)
		}
	}
	oas := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, "oas.json ") })
	if len(oas) < 2 {
		t.Errorf("problems of a document: %v", oas)
	}
	if slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "good.json") }) {
		t.Error(r.Problems)
	}
	want := fmt.Sprintf("nothing was imported: %d problems", len(got))
	expect(t, "error", err.Error(), want)
	dry, err := w.service.Import(t.Context(), w.scope("a"), b, true, nil)
	if err == nil || len(dry.Problems) != len(r.Problems) {
		t.Error("a dry run finds something else", err, dry.Problems)
	}
}

// TestExample imports the folder of the guide.
func TestExample(t *testing.T) {
	root := filepath.Join("..", "..", "docs", "examples", "files")
	var files []folder.File
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files = append(files, folder.File{Name: filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator))), Text: text})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b, problems := folder.Read(files)
	if len(problems)+len(b.Ignored)+len(b.Notes) > 0 {
		t.Fatal(problems, b.Ignored, b.Notes)
	}
	w := newWorld(t, apis.Settings{})
	r := w.load("a", b)
	expect(t, "report", show(r.APIs)+show(r.Policies)+show(r.IDPs),
		"+[orders (Orders #shop) stock (Stock)] ~[] =[]+[reader (Reader) clerk (Clerk)] ~[] =[]+[login (Company login)] ~[] =[]")
	for _, f := range files {
		roundTrip(t, w, folderOf(t, f, files))
	}
}

// TestImportPaired checks that an MCP proxy can be imported together with the REST API
// whose operations it offers, and not without it.
func TestImportPaired(t *testing.T) {
	const proxy = `{"openapi":"3.0.3","info":{"title":"Tools","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"id":"tools","name":"Tools","state":{"active":true}},
		"upstream":{"url":"tyk://stock__mcp-server"},"server":{"listenPath":{"value":"/tools/","strip":true}}}}`
	w := newWorld(t, apis.Settings{})
	r, err := w.service.Import(t.Context(), w.scope("a"), w.bundle("a-mcp.json", proxy), false, nil)
	if err == nil || len(r.Problems) != 1 || r.Problems[0].File != "a-mcp.json" {
		t.Fatal(err, r.Problems)
	}
	b := w.bundle("a-mcp.json", proxy, "b.json", strings.Replace(stock, `"server":{`, `"server":{"gatewayTags":{"enabled":true,"tags":["edge"]},`, 1))
	w.load("a", b)
	if text := w.record("a", "api", "tools"); !strings.Contains(text, `"tags":["edge"]`) || !strings.Contains(text, `"class":"mcp"`) {
		t.Error(text)
	}
	if again := w.load("a", b); again.Writes() != 0 {
		t.Error(again)
	}
}

// TestImportUnserved checks that streams without settings for gateways are imported as
// they were exported.
func TestImportUnserved(t *testing.T) {
	w := newWorld(t, apis.Settings{Streams: true})
	w.load("a", w.bundle("s.json", `{"api_definition":{"api_id":"s","is_oas":true,"name":"S","active":false,"proxy":{}},"is_streams":true,
		"oas":{"openapi":"3.0.3","info":{"title":"S","version":"1"},"paths":{},"x-tyk-streaming":{"streams":{}}}}`))
	if text := w.record("a", "api", "s"); !strings.Contains(text, `"class":"streams"`) || !strings.Contains(text, `"active":false`) {
		t.Error(text)
	}
}
