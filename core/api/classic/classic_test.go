package classic_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// wrongAndRight are two values for each type word in the list of fields: one that a gateway
// refuses and one that it accepts.
var wrongAndRight = map[string][2]string{
	"id": {`"a1"`, `"5f0000000000000000000001"`}, "string": {`60`, `"x"`}, "bool": {`"true"`, `true`}, "integer": {`"60"`, `60`}, "number": {`"1"`, `1.5`},
	"duration": {`null`, `"5s"`}, "time": {`"today"`, `"2026-01-02T03:04:05Z"`}, "any": {"", `{"a":[1]}`},
}

// at puts a value at a path such as "proxy.target_list[]".
func at(path, value string) string {
	parts := strings.Split(path, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		name := strings.TrimRight(parts[i], "[]")
		lists := strings.Count(parts[i], "[]")
		value = `{"` + strings.Replace(name, "{}", "free", 1) + `":` + strings.Repeat("[", lists) + value + strings.Repeat("]", lists) + "}"
	}
	return value
}

// TestFields tests every row in the simulated gateway's list of fields, which was written
// independently of the table in this package.
func TestFields(t *testing.T) {
	list, err := os.ReadFile("../../../e2e/gatewaysim/fields/api.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(list)) {
		path, kind, ok := strings.Cut(strings.TrimSpace(line), " ")
		values, known := wrongAndRight[kind]
		if !ok || !known {
			continue
		}
		n++
		if ps := classic.Check(doctest.Node(t, at(path, values[1]))); ps != nil {
			t.Errorf("%s: %v", line, ps)
		}
		if values[0] == "" {
			values[0] = `1e999`
			if strings.HasSuffix(path, "config") {
				continue // gateways store it as text
			}
		}
		if ps := classic.Check(doctest.Node(t, at(path, values[0]))); len(ps) != 1 {
			t.Errorf("%s: %v", line, ps)
		}
		if ps := classic.Check(doctest.Node(t, strings.ToUpper(at(path, `[[[]]]`)))); len(ps) == 0 && kind != "any" {
			t.Errorf("%s in capitals is not checked", path)
		}
	}
	if n < 500 {
		t.Errorf("%d fields", n)
	}
}

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		`{"api_id":"a1","name":"min","use_keyless":true,"proxy":{"listen_path":"/min/"},"x":5}`: "",
		`null`:                                 "want an object, got nothing",
		`[]`:                                   "want an object, got a list",
		`{"jwt_issued_at_validation_skew":-1}`: "jwt_issued_at_validation_skew: want a whole number of at least 0, got another number",
		`{"proxy":{"transport":{"ssl_min_version":65536}}}`:  "proxy.transport.ssl_min_version: want a whole number from 0 to 65535, got another number",
		`{"uptime_tests":{"check_list":[{"timeout":"1s"}]}}`: "uptime_tests.check_list[0].timeout: want a whole number, got a string",
		`{"name":"a","Use_Keyless":true}`:                    `Use_Keyless must be spelled use_keyless`,
		`{"proxy":{"Listen_Path":5}}`:                        `proxy.Listen_Path must be spelled listen_pathproxy.Listen_Path: want a string, got a number`,
	} {
		have := ""
		for _, p := range classic.Check(doctest.Node(t, text)) {
			have += p.String()
		}
		if have != want {
			t.Errorf("%s\nhave %s\nwant %s", text, have, want)
		}
	}
	if len(classic.Check(nil)) != 1 {
		t.Error("nothing is a definition")
	}
}

func TestZeroIsRight(t *testing.T) {
	z := classic.Zero()
	if ps := classic.Check(z); ps != nil {
		t.Error(ps)
	}
	for path, want := range map[string]string{
		"is_oas": "true", "auth_configs": "{}", "tags": "null", "analytics_plugin": "{}", "id": "null", "error_overrides": "null",
	} {
		if have := string(z.Get(path).JSON()); have != want {
			t.Errorf("%s: %s, want %s", path, have, want)
		}
	}
	z.Put(doc.NewString("x"), "proxy", "listen_path")
	z.Get("version_data", "versions").Set("v2", doc.NewObject())
	if again := classic.Zero(); again.Get("proxy", "listen_path").Text() != "" || again.Get("version_data", "versions").Len() != 1 {
		t.Error("two zero definitions are one")
	}
}

// TestZeroOfGateways compares Zero with the form recorded from a gateway.
func TestZeroOfGateways(t *testing.T) {
	raw, err := os.ReadFile("../testdata/vectors/classic-zero.json")
	if err != nil {
		t.Fatal(err)
	}
	differ(t, "", doctest.Node(t, string(raw)), classic.Zero())
}

// differ reports the places where two values differ.
func differ(t *testing.T, path string, want, have *doc.Node) {
	if !want.Is(doc.TypeObject) || !have.Is(doc.TypeObject) {
		if !want.Equal(have) {
			t.Errorf("%s: have %s, want %s", path, have.JSON(), want.JSON())
		}
		return
	}
	for name, v := range want.Members() {
		differ(t, path+"."+name, v, have.Get(name))
	}
	for name, v := range have.Members() {
		if want.Get(name) == nil {
			t.Errorf("%s.%s is too much: %s", path, name, v.JSON())
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	z := classic.Zero()
	for b.Loop() {
		classic.Check(z)
	}
}
