package opa_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// wide begins a rule with a text of 900,000 characters.
const wide = `deny[x] { y := sprintf("%900000d", [1]); `

// Functions that would use up memory yield no verdict.
func TestFunctionsAreBounded(t *testing.T) {
	for name, rule := range map[string]string{
		"a wide text":              `deny[x] { x := sprintf("` + strings.Repeat("%999999d", 20) + `", numbers.range(1, 20)) }`,
		"one operand many times":   wide + `x := sprintf("` + strings.Repeat("%[1]s", 20) + `", [y]) }`,
		"a replacement that grows": wide + `x := replace(y, " ", y) }`,
		"an expression that grows": wide + `x := regex.replace(y, ".", y) }`,
		"a separator that grows":   wide + `x := concat(y, [s | s := sprintf("%d", [numbers.range(1, 2000)[_]])]) }`,
		"a large expression":       `deny["x"] { regex.match(concat("", ["a{1000}" | numbers.range(1, 3000)[_]]), "a") }`,
		"a large expression alone": `deny["x"] { regex.is_valid(concat("", ["a{1000}" | numbers.range(1, 3000)[_]])) }`,
		"a shift":                  `deny["x"] { bits.lsh(1, 99999999999) > 0 }`,
		"a range":                  `deny["x"] { count(numbers.range(1, 1000000000000)) > 0 }`,
		"a number in few letters":  `deny["x"] { floor(to_number("1e999999999")) > 0 }`,
		"a product":                `deny["x"] { product(numbers.range(1, 100000)) > 0 }`,
		"a reason without end":     wide + `x := y }`,
	} {
		e := engine(t, opa.Config{OrgRules: orgRules("package dashboard_users\n" + rule)})
		if _, err := e.Decide(t.Context(), call(t, things, "apis.get", "/api/apis/1", nil)); !errors.Is(err, opa.ErrNoVerdict) {
			t.Error(name, err)
		}
	}
}

// unhurried is an engine with a rule that denies when a body is true, and without a
// timeout.
func unhurried(t *testing.T, body string) *opa.Engine {
	t.Helper()
	rules := "package dashboard_users\nall = [input.user.id | numbers.range(1, 4000)[_]]\ndeny[\"x\"] { " + body + " }"
	return engine(t, opa.Config{OrgRules: orgRules(rules), Timeout: time.Hour})
}

// Comparisons that would need more stack than a process may have yield no verdict:
// large values, and small texts that repeat one value many times.
func TestComparisonsAreBounded(t *testing.T) {
	const list = `[{"a": x} | x := numbers.range(1, 1000)[_]]`
	for name, rule := range map[string]string{
		"values that share parts": `c := LIST; a := [c | numbers.range(1, 4000)[_]]; b := [c | numbers.range(1, 4000)[_]]; a == b`,
		"in objects":              `c := LIST; a := {x: c | x := numbers.range(1, 4000)[_]}; b := {x: c | x := numbers.range(1, 4000)[_]}; a == b`,
		"in patterns":             `c := LIST; a := [[1, c] | numbers.range(1, 4000)[_]]; [1, x] = a[i]; [1, x] = a[j]; i < j; i > j`,
		"of rules":                `c := LIST; a := all with input.user.id as c; b := all with input.user.id as c; a == b`,
	} {
		e := unhurried(t, strings.ReplaceAll(rule, "LIST", list))
		if _, err := e.Decide(t.Context(), call(t, things, "apis.get", "/api/apis/1", nil)); !errors.Is(err, opa.ErrNoVerdict) || !strings.Contains(err.Error(), "pairs of values") {
			t.Error(name, err)
		}
	}
	e := unhurried(t, "a := "+list+"; b := "+list+"; a == b")
	if v, err := e.Decide(t.Context(), call(t, things, "apis.get", "/api/apis/1", nil)); err != nil || len(v.Denials) != 1 {
		t.Error("a thousand entries:", v, err)
	}
}

// Functions have a limit for nested values.
func TestNestingIsBounded(t *testing.T) {
	const deep = `d := json.unmarshal(sprintf("%s1%s", [concat("", ["[" | numbers.range(1, 9000)[_]]), concat("", ["]" | numbers.range(1, 9000)[_]])])); p := concat("", ["/0" | numbers.range(1, 9000)[_]]); `
	for rule, ends := range map[string]bool{
		`count(json.marshal(d)) > 0`: false,
		`e := json.patch(d, [{"op": "replace", "path": p, "value": d}]); count(json.marshal(e)) > 0`: true,
	} {
		e := unhurried(t, deep+rule)
		if _, err := e.Decide(t.Context(), call(t, things, "apis.get", "/api/apis/1", nil)); errors.Is(err, opa.ErrNoVerdict) != ends {
			t.Errorf("%.40s: %v", rule, err)
		}
	}
}

// tower returns 40 lines, each of which uses the line before it twice.
func tower(line, end string) string {
	var b strings.Builder
	for i := range 40 {
		b.WriteString(strings.NewReplacer("NEXT", "v"+strconv.Itoa(i+1), "LAST", "v"+strconv.Itoa(i)).Replace(line) + "\n")
	}
	return b.String() + end
}

// Values of 2^40 parts, in 40 lines, are refused before the type check.
func TestTowersAreRefused(t *testing.T) {
	inside := func(line, end string) string {
		return "deny[r] {\n\tv0 := [input.user.id]\n" + tower(line, end) + "\n}"
	}
	for name, rules := range map[string]string{
		"in a body":              inside("NEXT := [LAST, LAST]", `r := sprintf("%v", [v40])`),
		"in objects":             inside(`NEXT := {"a": LAST, "b": LAST}`, `r := json.marshal(v40)`),
		"by unification":         inside("[LAST, LAST] = NEXT", `r := json.marshal(v40)`),
		"by functions":           inside("NEXT := array.concat(LAST, LAST)", `r := json.marshal(v40)`),
		"by comprehensions":      inside("NEXT := [x | x := [LAST, LAST]]", `r := json.marshal(v40)`),
		"of complete rules":      "v0 = [1]\n" + tower("NEXT = [LAST, LAST]", `deny["x"] { v40 == 1 }`),
		"of rules in a choice":   "v0 = [1]\n" + tower("NEXT = LAST\nNEXT = [LAST] { input.never }", `deny["x"] { v40 == 1 }`),
		"of else":                "v0 = [1]\n" + tower("NEXT = LAST { input.never } else = [LAST]", `deny["x"] { v40 == 1 }`),
		"of sets":                "v0[1]\n" + tower("NEXT[x] { x := [LAST, LAST] }", `deny["x"] { v40[1] }`),
		"of functions":           "v0(x) = [x, x]\n" + tower("NEXT(x) = LAST([x, x])", `deny["x"] { v40(1) == 1 }`),
		"of functions of others": "v0(x) = x\n" + tower("NEXT(x) = [LAST(x), LAST(x)]", `deny["x"] { v40(1) == 1 }`),
		"of every":               `deny["x"] { v0 := [1]` + "\n" + tower("every NEXT in [[LAST, LAST]] {", "true "+strings.Repeat("}", 40)) + "}",
	} {
		e := engine(t, opa.Config{})
		if name == "of every" {
			rules = "import rego.v1\n" + strings.Replace(rules, `deny["x"]`, `deny contains "x" if`, 1)
		}
		err := e.Check(t.Context(), "org1", "package dashboard_users\n"+rules)
		if !errors.Is(err, opa.ErrRules) || !strings.Contains(err.Error(), "more than 10000 parts") {
			t.Error(name, err)
		}
	}
}

// Rules cannot use the network, read files or compute without end, and texts have
// limits.
func TestTextsThatAreRefused(t *testing.T) {
	rule := func(expr string) string { return "package dashboard_users\ndeny[\"x\"] { " + expr + " }" }
	for _, text := range []string{
		rule(`http.send({"method": "get", "url": "http://127.0.0.1/"})`), rule(`net.lookup_ip_addr("localhost")`), rule(`opa.runtime()`),
		rule(`json.match_schema({}, {"$ref": "file:///etc/passwd"})`), rule(`json.verify_schema({"$ref": "file:///etc/passwd"})`),
		rule(`rego.parse_module("x", "package x")`), rule(`strings.render_template("{{.}}", {})`), rule(`regex.globs_match("a*", "b*")`),
		rule(`count(1)`), rule(`unknown(1)`), rule(`x`), "", "package other", "package dashboard_users", "package dashboard_users\ndeny[",
		rule("x := " + strings.Repeat("[", 300) + strings.Repeat("]", 300)),
		rule("true #" + strings.Repeat("x", 128<<10) + "\n"),
	} {
		e := engine(t, opa.Config{})
		if err := e.Check(t.Context(), "org1", text); !errors.Is(err, opa.ErrRules) {
			t.Errorf("%.80s: %v", text, err)
		}
	}
	for _, text := range []string{
		opa.DefaultRules(), always("x"), rule("input.path == \"" + strings.Repeat("[", 300) + "\" # " + strings.Repeat("(", 300) + "\n"),
		rule("input.path == `" + strings.Repeat("{\n", 300) + "`"), rule(`net := 1; net == 1`),
		"package dashboard_users\nimport rego.v1\ndeny contains \"x\" if input.user.id == \"y\"",
	} {
		e := engine(t, opa.Config{})
		if err := e.Check(t.Context(), "org1", text); err != nil {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

// An evaluation that cannot be stopped is abandoned, and the organisation may have at
// most two of them.
func TestStuckEvaluations(t *testing.T) {
	const slow = "package dashboard_users\ndeny[\"x\"] { TykAPIGet(\"/slow\") }"
	end := make(chan struct{})
	e := engine(t, slowly(end, opa.Config{OrgRules: orgRules(slow), Timeout: 20 * time.Millisecond}))
	for stuck, refused := 0, false; !refused; stuck++ { // on a busy machine some evaluations time out before they get stuck
		_, err := e.Decide(t.Context(), call(t, things, "apis.get", "/api/apis/1", nil))
		if !errors.Is(err, opa.ErrNoVerdict) || stuck > 200 {
			t.Fatal(stuck, err)
		}
		if refused = strings.Contains(err.Error(), "have not ended"); refused && stuck < 2 {
			t.Errorf("refused after %d", stuck)
		}
	}
	other := call(t, things, "apis.get", "/api/apis/1", nil)
	other.Principal.OrgID = "org2"
	if _, err := e.Decide(t.Context(), other); err == nil || strings.Contains(err.Error(), "have not ended") {
		t.Error("another organisation:", err)
	}
	close(end)
	for {
		if v, err := e.Decide(t.Context(), call(t, things, "apis.get", "/api/apis/1", nil)); err == nil {
			if len(v.Denials) != 1 {
				t.Error(v)
			}
			return
		}
	}
}

// A trial returns the decision and its trace, and does not change the rules in force.
func TestTry(t *testing.T) {
	e := engine(t, opa.Config{})
	c := call(t, things, "apis.update", "/api/apis/1", access.Map{"apis": "write"})
	c.Body = []byte(`{"name":"secret-name"}`)
	try := func(text string) (rules.Trial, error) {
		k, err := e.Read(t.Context(), "org1", text)
		if err != nil {
			return rules.Trial{}, err
		}
		return k.Try(t.Context(), c, true)
	}
	got, err := try("package dashboard_users\ndeny[\"no\"] {\n\tinput.request.body.name == \"secret-name\"\n}\npatch_request[{\"a\": 1}]")
	if err != nil || len(got.Denials) != 1 || string(got.Patch) != `{"a":1}` || got.Failure != "" || got.Cut {
		t.Fatal(got, err)
	}
	seen := false
	for _, s := range got.Trace {
		seen = seen || s.Op == "Eval" && s.Row == 3 && strings.HasPrefix(s.Text, "input.request.body.name ==")
	}
	if !seen {
		t.Error(got.Trace)
	}
	if v := decide(t, e, c); len(v.Denials) > 0 {
		t.Error("in force:", v)
	}
	if e.Shared() != opa.DefaultRules() {
		t.Error("shared rules")
	}
	if got, err = try("package dashboard_users\ndeny[\"x\"] { r := numbers.range(1, 3000); r[a]; r[b]; a + b < 0 }"); err != nil || !got.Cut && got.Failure == "" || len(got.Trace) > 500 {
		t.Error(len(got.Trace), got.Cut, got.Failure, err)
	}
	if got, err = try("package dashboard_users\ndeny[\"x\"] { 1 / input.zero == 1; to_number(input.request.body.name) == 1 }\ndeny[\"y\"] { to_number(input.request.body.name) == 1 }"); err != nil || !strings.Contains(got.Failure, "no verdict") || strings.Contains(got.Failure, "secret-name") {
		t.Error(got.Failure, err)
	}
	if _, err = try("package other"); !errors.Is(err, opa.ErrRules) {
		t.Error(err)
	}
}
