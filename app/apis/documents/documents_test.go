package documents_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	yamlport "github.com/gatehouse-io/gatehouse/ports/yaml"
)

// stray returns JSON without a meaning here, in unusual spellings.
func stray(r *rand.Rand, depth int) string {
	atoms := []string{"1.50", "1e2", "-0", "0.10", "12345678901234567890", "null", "true", `"\u00e9\/é"`, `""`, `"\ud83d\ude00"`, "[]", "{}"}
	if depth == 0 || r.IntN(3) == 0 {
		return atoms[r.IntN(len(atoms))]
	}
	var parts []string
	for i := range r.IntN(4) {
		parts = append(parts, fmt.Sprintf(`"%c%d":%s`, 'z'-rune(r.IntN(26)), i, stray(r, depth-1)))
	}
	if r.IntN(3) == 0 {
		return "[" + stray(r, depth-1) + "," + stray(r, depth-1) + "]"
	}
	return "{" + strings.Join(parts, ",") + "}"
}

var written = regexp.MustCompile(`"updated_at":"[^"]*"`)

// Documents are returned exactly as clients have written them, from every endpoint,
// after any number of writes, and from the store.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := apistest.New(t, apis.Settings{Streams: true})
		x := func() string { return stray(r, 3) }
		definition := fmt.Sprintf(`{"z_later":%s,"name":"C","api_id":"c","proxy":{"a_later":%s,"listen_path":"/c/","target_url":"http://t"},`+
			`"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default","later":%s}}},"expire_analytics_after":100,"b_later":%s}`, x(), x(), x(), x())
		w.Done("admin", "POST", "/apis", fmt.Sprintf(`{"before":%s,"api_definition":%s,"after":%s,"categories":["x"]}`, x(), definition, x()))
		if _, text := w.Stored("c"); !strings.Contains(text, strings.TrimSuffix(definition, "}")) {
			t.Fatalf("lost something:\n%s\n%s", definition, text)
		}
		head, _, _ := strings.Cut(definition, `},"version_data"`) // lists are added where this form has some
		same(w, "/apis/c", "/apis/c", head)
		settings := fmt.Sprintf(`{"server":{"listenPath":{"value":"/o/"},"later":%s},"upstream":{"url":"http://t"},"info":{"state":{"active":true},"id":"ID","name":"NAME","later":%s}`, x(), x())
		for _, door := range [][2]string{{"/apis/oas", "o"}, {"/apis/streams", "s"}, {"/mcps", "m"}} {
			ext := strings.NewReplacer("ID", door[1], "NAME", door[1], "/o/", "/"+door[1]+"/").Replace(settings)
			head = fmt.Sprintf(`"x-z":%s,"paths":{"/b":{"get":{"x-op":%s,"responses":{"200":{"description":"","x-r":%s}}}},"/a":{}},"info":{"version":"1","title":"T","x-i":%s}`, x(), x(), x(), x())
			w.Done("admin", "POST", door[0]+"?accept_additional_properties=true", `{`+head+`,"openapi":"3.0.3","x-tyk-api-gateway":`+ext+`},"x-a":`+x()+`}`)
			same(w, door[0]+"/"+door[1], door[0]+"/"+door[1]+"?accept_additional_properties=true", head)
		}
		if export := w.Ask("admin", "GET", "/apis/oas/o/export", "").Body.String(); export != w.Ask("admin", "GET", "/apis/oas/o", "").Body.String() {
			t.Error(export)
		}
	}
}

// same checks that reads of an API return what was sent, and that writing back what was
// read changes nothing, also after a restart.
func same(w *apistest.World, get, put, sent string) {
	w.T.Helper()
	first := w.Ask("admin", "GET", get, "").Body.String()
	if !strings.Contains(first, sent) {
		w.T.Fatalf("lost something:\n%s\n%s", sent, first)
	}
	w.Done("admin", "PUT", put, first)
	if second := w.Ask("admin", "GET", get, "").Body.String(); written.ReplaceAllString(second, "") != written.ReplaceAllString(first, "") {
		w.T.Fatalf("changed:\n%s\n%s", first, second)
	}
	_, text := w.Stored(get[strings.LastIndex(get, "/")+1:])
	again, err := apidef.Load([]byte(text))
	if err != nil {
		w.T.Fatal(err)
	}
	if out, err := again.AppendJSON(nil); err != nil || string(out) != text {
		w.T.Fatalf("stored as\n%s\nloaded as\n%s %v", text, out, err)
	}
}

// A patch keeps the place and the spelling of everything that it does not change.
func TestPatchKeeps(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	const keep = `{"z":1.50,"name":"C","api_id":"c","proxy":{"q":[1e2],"listen_path":"/c/","target_url":"http://t"},"version_data":{"not_versioned":true,"versions":{}},"active":%t,"y":"\u00e9"`
	w.Done("admin", "POST", "/apis", `{"api_definition":`+fmt.Sprintf(keep, true)+`},"later":{"b":1,"a":2}}`)
	w.Done("admin", "PATCH", "/apis/c", `{"api_definition":{"active":false}}`)
	_, text := w.Stored("c")
	if !strings.Contains(text, `"api_definition":`+fmt.Sprintf(keep, false)+`,"id"`) {
		t.Error("the patch changed more than it says:", text)
	}
	if strings.Contains(text, "hook_references") || strings.Contains(text, "api_model") || !strings.Contains(text, `"later":{"b":1,"a":2}`) {
		t.Error("the patch stored what only the view has:", text)
	}
	w.Done("admin", "PATCH", "/apis/c", `{"later":null,"categories":["x"]}`)
	if _, text = w.Stored("c"); strings.Contains(text, `"later"`) || !strings.Contains(text, `"categories":["x"]`) {
		t.Error(text)
	}
}

// Documents may be large, and clients can request YAML.
func TestLargeDocument(t *testing.T) {
	var paths []string
	for i := range 9000 {
		paths = append(paths, fmt.Sprintf(`"/p%d":{"get":{"operationId":"o%d","description":%q,"responses":{"200":{"description":"ok"}}}}`, i, i, strings.Repeat("x", 500)))
	}
	text := strings.Replace(apistest.Document("o", "O", "/o/"), `"paths":{}`, `"paths":{`+strings.Join(paths, ",")+`}`, 1)
	if len(text) < 5<<20 {
		t.Fatal(len(text))
	}
	w := apistest.New(t, apis.Settings{})
	start := time.Now()
	w.Done("admin", "POST", "/apis/oas", text)
	w.Done("admin", "PUT", "/apis/oas/o", text)
	t.Logf("%d bytes created and replaced in %s", len(text), time.Since(start))
	if got := w.Node("admin", "/apis/oas/o").Get("paths").Len(); got != 9000 {
		t.Error(got)
	}
}

func TestYAMLAndFiles(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Done("admin", "POST", "/apis/oas", apistest.Document("o", "O", "/o/"))
	plain := w.Ask("admin", "GET", "/apis/oas/o", "")
	for _, c := range []struct{ path, header, value, file string }{
		{"/apis/oas/o", "Accept", "application/x-yaml", ""},
		{"/apis/oas/o/export", "Content-Type", "application/x-yaml", "o.yaml"},
		{"/apis/oas/o/export", "Accept", "application/x-yaml", "o.yaml"},
	} {
		got := w.Ask("admin", "GET", c.path, "", c.header, c.value)
		n, err := yaml.Codec{}.Parse(got.Body.Bytes(), yamlport.Limits{Bytes: 1 << 20, Values: 10_000})
		if err != nil || got.Code != 200 || c.file == "" && !strings.Contains(got.Header().Get("Content-Type"), "yaml") {
			t.Fatalf("%s: %d %s %v", c.path, got.Code, got.Header(), err)
		}
		if !bytes.Equal(n.JSON(), bytes.TrimSpace(plain.Body.Bytes())) {
			t.Errorf("%s: %s", c.path, n.JSON())
		}
		if disposition := got.Header().Get("Content-Disposition"); !strings.Contains(disposition, c.file) {
			t.Errorf("%s: %q", c.path, disposition)
		}
	}
	got := w.Ask("admin", "GET", "/apis/oas/o/export?mode=public", "")
	if !strings.Contains(got.Header().Get("Content-Disposition"), "o.json") || !json.Valid(got.Body.Bytes()) || strings.Contains(got.Body.String(), "x-tyk") {
		t.Error(got.Header(), got.Body)
	}
	const text = "openapi: 3.0.3\ninfo: {title: Y, version: '1'}\npaths: {}\nx-tyk-api-gateway:\n  info: {name: Y, id: y%d, state: {active: true}}\n" +
		"  upstream: {url: 'http://t'}\n  server: {listenPath: {value: /y%d/}}\n"
	for i, kind := range []string{"application/x-yaml", "application/yaml", "text/yaml"} {
		if got := w.Ask("admin", "POST", "/apis/oas", fmt.Sprintf(text, i, i), "Content-Type", kind); got.Code != 200 {
			t.Error(kind, got.Code, got.Body)
		}
	}
}

// IDs that the server sets are texts: another type is refused, and not replaced.
func TestTypesOfIdentifiers(t *testing.T) {
	w := apistest.New(t, apis.Settings{Streams: true})
	for i, door := range []string{"/apis/oas", "/apis/streams", "/mcps"} {
		id := fmt.Sprint("a", i)
		sent := apistest.Document(id, id, "/"+id+"/")
		w.Done("admin", "POST", door, sent)
		for _, name := range []string{"id", "dbId", "orgId"} {
			for _, value := range []string{"5", "true", "null", "[]", "{}"} {
				wrong := strings.Replace(sent, `"id":"`+id+`"`, `"`+name+`":`+value, 1)
				w.Want("admin", "POST", door, wrong, 400, "info."+name+": is ")
				w.Want("admin", "PUT", door+"/"+id, wrong, 400, "info."+name+": is ")
				w.Want("admin", "POST", "/apis/oas/dry-run", `{"tyk_oas":`+wrong+`}`, 400, "info."+name+": is ")
			}
			w.Done("admin", "PUT", door+"/"+id, strings.Replace(sent, `"id":"`+id+`"`, `"`+name+`":""`, 1))
		}
	}
}

// A patch brings no settings for gateways. Unknown members of the stored extension,
// which were accepted before, are kept and accepted again.
func TestPatchKeepsUnknownMembers(t *testing.T) {
	w := apistest.New(t, apis.Settings{Streams: true})
	const plain = `{"openapi":"3.0.3","info":{"title":"T","version":"2"},"paths":{}`
	for i, door := range []string{"/apis/oas", "/apis/streams"} {
		id := fmt.Sprint("a", i)
		sent := strings.Replace(apistest.Document(id, id, "/"+id+"/"), `"x-tyk-api-gateway":{`, `"x-tyk-api-gateway":{"later":{"a":1},`, 1)
		w.Want("admin", "POST", door, sent, 400, "unknown member")
		w.Done("admin", "POST", door+"?accept_additional_properties=true", sent)
		w.Done("admin", "PATCH", door+"/"+id, plain+"}")
		if _, text := w.Stored(id); !strings.Contains(text, `"later":{"a":1}`) {
			t.Error(text)
		}
	}
	w.Want("admin", "PATCH", "/apis/streams/a1", plain+`,"x-tyk-api-gateway":{"later":1,`+strings.SplitN(apistest.Document("a1", "a1", "/a1/"), `"x-tyk-api-gateway":{`, 2)[1], 400, "unknown member")
}

// Clients expect one text for a body that cannot be read. If the public file does not
// have it, or the body can be read, the reason follows.
func TestUnreadBodies(t *testing.T) {
	w := apistest.New(t, apis.Settings{Streams: true})
	w.Done("admin", "POST", "/apis/oas", apistest.Document("o", "O", "/o/"))
	const alone, more = `"Message":"Couldn't read body.",`, `"Message":"Couldn't read body. `
	for _, row := range []struct{ method, path, body, want string }{
		{"POST", "/apis/oas", `{`, alone},
		{"POST", "/apis/oas/dry-run", `{"oas":`, alone},
		{"POST", "/apis/streams", `{"a" 1}`, alone},
		{"POST", "/apis/oas", ``, alone},
		{"POST", "/apis/oas", `[]`, more + `the document must be an object`},
		{"POST", "/apis/streams", `7`, more + `the document must be an object`},
		{"POST", "/apis/oas/dry-run", `[]`, more},
		{"POST", "/apis/oas/import", `{`, more + `not valid JSON`},
		{"PUT", "/apis/oas/o", `{`, more + `not valid JSON`},
		{"POST", "/mcps", `{`, more + `not valid JSON`},
	} {
		w.Want("admin", row.method, row.path, row.body, 400, row.want)
	}
}

// A path parameter without name or place is refused by its schema, also where path
// parameters are read before the schema check.
func TestParametersWithoutNames(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Done("admin", "POST", "/apis/oas", apistest.Document("o", "O", "/o/"))
	const rest = `"schema":{"type":"string"}}],"get":{"responses":{"200":{"description":"d"}}}}}}`
	const plain = `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{"/b/{id}":{"parameters":[{`
	for parameter, lacks := range map[string]string{`"in":"path","required":true,`: "lacks name", `"name":"id",`: "lacks in"} {
		for _, at := range []string{"POST /apis/oas/import?upstreamURL=http://u&listenPath=/b/", "PATCH /apis/oas/o", "POST /apis/oas/dry-run?upstreamURL=http://u"} {
			method, path, _ := strings.Cut(at, " ")
			body := plain + parameter + rest
			if strings.Contains(path, "dry-run") {
				body = `{"oas":` + body + `}`
			}
			w.Want("admin", method, path, body, 400, "paths./b/{id}.parameters.0: "+lacks)
		}
	}
}

// The response to a dry run has the organisation in which the document would be saved.
func TestDryRunOrganisation(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	const plain = `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{}}`
	foreign := strings.Replace(apistest.Document("o", "O", "/o/"), `"info":{"name"`, `"info":{"orgId":"b","name"`, 1)
	for _, body := range []string{`{"oas":` + plain + `}`, `{"tyk_oas":` + foreign + `}`, `{"oas":` + plain + `,"tyk_oas":` + foreign + `}`} {
		w.Want("admin", "POST", "/apis/oas/dry-run?upstreamURL=http://u", body, 200, `"orgId":"a"`)
	}
	w.Want("other", "POST", "/apis/oas/dry-run", `{"tyk_oas":`+foreign+`}`, 200, `"orgId":"b"`)
}
