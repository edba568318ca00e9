package transfer_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

func wrap(definitions ...string) string {
	return `{"apis":[{"api_definition":` + strings.Join(definitions, `},{"api_definition":`) + `}],"pages":1}`
}

func in(org, text string) string { return strings.Replace(text, "elsewhere", org, 1) }

func TestAdminImport(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	h := w.http(t)
	const apisPath, policiesPath = "/admin/apis/import", "/admin/policies/import"
	for _, c := range []struct {
		name, path, secret, body string
		status                   int
		answer                   string
		signals                  string
	}{
		{"no secret", apisPath, "", wrap(orders), 401, `{"Status":"Error","Message":"Not authorised","Meta":null}`, ""},
		{"no body", apisPath, "secret", ``, 500, `{"Status":"Error","Message":"Failed to read response body, body empty","Meta":null}`, ""},
		{"no JSON", policiesPath, "secret", `{`, 403, `{"Status":"Error","Message":"Request body malformed","Meta":null}`, ""},
		{"no list", apisPath, "secret", `{"apis":7}`, 403, `{"Status":"Error","Message":"Request body malformed","Meta":null}`, ""},
		{"nothing", apisPath, "secret", `{"apis":null}`, 200, `{"Status":"OK","Message":"APIs imported","Meta":{}}`, ""},
		{"two organisations", apisPath, "secret", wrap(in("a", orders), strings.Replace(in("b", orders), `"orders"`, `"others"`, 1)), 200,
			`{"Status":"OK","Message":"APIs imported","Meta":{"orders":true,"others":true}}`, "GroupReload ,GroupReload "},
		{"some cannot be", apisPath, "secret", wrap(in("a", orders), orders, in("a", `{"api_id":"bad","org_id":"elsewhere","name":"B","proxy":{"listen_path":"b"}}`),
			in("a", `{"org_id":"elsewhere","name":"N","proxy":{}}`), strings.ReplaceAll(strings.Replace(in("a", orders), `"orders"`, `"same"`, 1), "000000aa", "000000ab"),
			strings.NewReplacer(`"orders"`, `"more"`, "/orders/", "/more/").Replace(in("a", orders))) + "", 200,
			`{"Status":"OK","Message":"APIs imported","Meta":{"apis.1":"orders comes twice in this request; the first one counts","apis.3":"api_definition.api_id: is missing: an API is imported under its identifier",` +
				`"bad":"api_definition.proxy.listen_path: Listen path must start with \"/\"","more":true,"orders":true,"same":"Found API with same url."}}`, "GroupReload "},
		{"unknown organisation", apisPath, "secret", wrap(strings.Replace(orders, `"orders"`, `"lost"`, 1)), 200, `{"Status":"OK","Message":"APIs imported","Meta":{"lost":"there is no organisation \"elsewhere\""}}`, ""},
		{"no organisation", apisPath, "secret", `{"apis":[{"api_definition":{"api_id":"x","name":"X","proxy":{"listen_path":"/x/"}}},7,{}]}`, 200,
			`{"Status":"OK","Message":"APIs imported","Meta":{"apis.1":"api_definition: is required","apis.2":"api_definition: is required","x":"org_id is required"}}`, ""},
		{"policies", policiesPath, "secret", `{"Data":[{"_id":"5f1a0c5d8e3b2a1f000000cc","id":"gold","org_id":"a","name":"Gold","access_rights":{"orders":{}}},{"_id":"5f1a0c5d8e3b2a1f000000cd","org_id":"b","name":"Second"},
			{"id":"bad","org_id":"a","name":"Bad","rate":"x"},{"id":"dup","org_id":"a","name":"Gold"},7],"Pages":1}`, 200,
			`{"Status":"OK","Message":"Policies imported","Meta":{"5f1a0c5d8e3b2a1f000000cd":true,"Data.4":"must be a policy, an object","bad":"rate: must be a number, not a string",` +
				`"dup":"This policy name has already been used. Enter a unique policy name.","gold":true}}`, "PolicyChanged gold,PolicyChanged 5f1a0c5d8e3b2a1f000000cd"},
		{"policies again", policiesPath, "secret", `{"Data":[{"id":"gold","org_id":"a","name":"Gold","access_rights":{"orders":{}}}]}`, 200, `{"Status":"OK","Message":"Policies imported","Meta":{"gold":true}}`, ""},
	} {
		head := w.head()
		status, answer := post(t, h, c.path, c.secret, c.body)
		if status != c.status || answer != c.answer {
			t.Errorf("%s: %d\n%s\nwant\n%s", c.name, status, answer, c.answer)
		}
		if got := strings.Join(w.signals(head), ","); got != c.signals {
			t.Errorf("%s: announced %q, want %q", c.name, got, c.signals)
		}
	}
	if text := w.record("b", "policy", "5f1a0c5d8e3b2a1f000000cd"); !strings.Contains(text, `"org_id":"b"`) {
		t.Error(text)
	}
	w.orgs = []tenant.ID{"a"}
	if _, answer := post(t, h, apisPath, "secret", `{"apis":[{"api_definition":{"api_id":"x","name":"X","proxy":{"listen_path":"/x/","target_url":"http://up.example/"}}}]}`); !strings.Contains(answer, `"x":true`) {
		t.Error("the only organisation", answer)
	}
}

// TestLongImports: a long list is stored in parts of a hundred, so that others can
// write meanwhile, and gateways reload once for each part.
func TestLongImports(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	h := w.http(t)
	for _, c := range []struct {
		path, before, thing, after string
	}{
		{"/admin/policies/import", `{"Data":[`, `{"id":"p%[1]d","org_id":"a","name":"P %[1]d"}`, `]}`},
		{"/admin/apis/import", `{"apis":[`, `{"api_definition":{"api_id":"a%[1]d","org_id":"a","name":"A %[1]d","proxy":{"listen_path":"/a%[1]d/","target_url":"http://up.example/"}}}`, `]}`},
	} {
		things := make([]string, 250)
		for i := range things {
			things[i] = fmt.Sprintf(c.thing, i)
		}
		head := w.head()
		status, answer := post(t, h, c.path, "secret", c.before+strings.Join(things, ",")+c.after)
		if status != 200 || strings.Count(answer, ":true") != len(things) {
			t.Fatalf("%s: %d %.300s", c.path, status, answer)
		}
		if commits := int(w.head() - head); commits != 3 {
			t.Errorf("%s: %d commits, want 3", c.path, commits)
		}
		if got := strings.Join(w.signals(head), ","); got != "GroupReload ,GroupReload ,GroupReload " {
			t.Errorf("%s: announced %q", c.path, got)
		}
	}
}

// TestImportsAreWritable: an import refuses a document that is too large for a request body, and stores
// the others.
func TestImportsAreWritable(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	w.service.APIs.Forms.Room.Values = 60
	api := func(id string, tags int) string {
		return `{"api_definition":{"api_id":"` + id + `","org_id":"a","is_oas":true},"oas":{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{},"x-more":[` + strings.Repeat("1,", tags) + `1],
			"x-tyk-api-gateway":{"info":{"id":"` + id + `","name":"` + id + `","state":{"active":true}},"upstream":{"url":"http://up.example/"},"server":{"listenPath":{"value":"/` + id + `/"}}}}}`
	}
	status, answer := post(t, w.http(t), "/admin/apis/import", "secret", `{"apis":[`+api("large", 60)+`,`+api("small", 1)+`]}`)
	if want := `{"Status":"OK","Message":"APIs imported","Meta":{"large":"oas: The API would be too large to be sent back: it would hold more than 60 values","small":true}}`; status != 200 || answer != want {
		t.Errorf("%d %s\nwant %s", status, answer, want)
	}
}

// TestPoliciesGetIdentifiers: a policy without an ID gets one, by which it can be read.
// If it is not stored, the reason is listed under its place.
func TestPoliciesGetIdentifiers(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	status, answer := post(t, w.http(t), "/admin/policies/import", "secret",
		`{"Data":[{"_id":"","id":"","org_id":"a","name":"Default","access_rights":null},{"id":null,"org_id":"a","name":"Default"},{"org_id":"a","rate":"x"},{"id":7,"org_id":"a"}]}`)
	found := regexp.MustCompile(`^{"Status":"OK","Message":"Policies imported","Meta":{"Data\.1":"This policy name has already been used\. ` +
		`Enter a unique policy name\.","Data\.2":"rate: must be a number, not a string","Data\.3":"id: must be a string, not number","([0-9a-f]{24})":true}}$`).FindStringSubmatch(answer)
	if status != 200 || found == nil {
		t.Fatal(status, answer)
	}
	if text := w.record("a", "policy", found[1]); !strings.Contains(text, `"_id":"`+found[1]+`"`) || !strings.Contains(text, `"id":"`+found[1]+`"`) {
		t.Error(text)
	}
}

// An import makes no API a version of its own version. A base and its version may swap
// places.
func TestImportedTables(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	h := w.http(t)
	based := func(id string, children string) string {
		return `{"api_id":"` + id + `","org_id":"a","name":"` + id + `","proxy":{"listen_path":"/` + id + `/","target_url":"http://up.example/"},` +
			`"definition":{"enabled":true,"name":"v1","default":"self","location":"header","key":"k","versions":{` + children + `}}}`
	}
	for _, step := range []struct{ body, answer string }{
		{wrap(based("one", `"v2":"two"`), based("two", ``)), `"Meta":{"one":true,"two":true}`},
		{wrap(based("two", `"v1":"one"`)), `"Meta":{"two":"definition.versions: API one leads back to this API, of which it would be a version"}`},
		{wrap(based("two", `"v1":"one"`), based("one", ``)), `"Meta":{"one":true,"two":true}`},
		{wrap(based("two", `"me":"two"`)), `"Meta":{"two":"definition.versions: API two leads back`},
	} {
		if status, answer := post(t, h, "/admin/apis/import", "secret", step.body); status != 200 || !strings.Contains(answer, step.answer) {
			t.Errorf("%d %s\nwant %s", status, answer, step.answer)
		}
	}
}

// An import stops when its client is gone, before the next record is checked; a part in
// progress is rolled back.
func TestImportOfAClientWhoLeft(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	ops := w.service.Operations()
	policies := &ops[slices.IndexFunc(ops, func(o operation.Operation) bool { return o.ID == "admin.policies.import" })]
	const body = `{"Data":[{"name":"One","org_id":"a"},{"name":"Two","org_id":"a"}]}`
	for _, after := range []int{0, 1, 2, 99} {
		ctx, leave := context.WithCancel(t.Context())
		drawn := 0
		asked := func() {
			if drawn++; drawn > after {
				leave()
			}
		}
		w.service.Organisations = func(context.Context) ([]tenant.ID, error) { asked(); return w.orgs, nil }
		newID := w.service.Policies.NewID
		w.service.Policies.NewID = func() string { asked(); return newID() }
		head := w.head()
		_, err := policies.Do(ctx, &operation.Call{Spec: &policies.Spec, Body: []byte(body)})
		leave()
		if w.service.Policies.NewID = newID; after < 99 && (err == nil || drawn != after+1 || w.head() != head) {
			t.Errorf("left after %d steps: %d were made, %v", after, drawn, err)
		}
		if after == 99 && (err != nil || w.head() == head) {
			t.Error(err)
		}
	}
}

// An import with null owners keeps the owners of an API; empty lists remove them.
func TestImportedOwners(t *testing.T) {
	w := newWorld(t, apis.Settings{Ownership: true})
	h := w.http(t)
	for _, c := range []struct{ owners, want string }{{`["u"]`, `"user_owners":["u"]`}, {`null`, `"user_owners":["u"]`}, {`[]`, `"user_owners":[]`}, {`null`, `"user_owners":[]`}} {
		body := `{"apis":[{"user_owners":` + c.owners + `,"api_definition":` + in("a", orders) + `}]}`
		if _, answer := post(t, h, "/admin/apis/import", "secret", body); !strings.Contains(answer, `"orders":true`) {
			t.Error(answer)
		}
		if text := w.record("a", "api", "orders"); !strings.Contains(text, c.want) {
			t.Errorf("%s: %s", c.owners, text)
		}
	}
}
