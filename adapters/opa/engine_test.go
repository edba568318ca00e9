package opa_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

func TestVersions(t *testing.T) {
	for name, text := range map[string]string{
		"v0":                 "package dashboard_users\ndeny[x] { x := input.request.method }",
		"v0 with old names":  "package dashboard_users\ndeny[x] { re_match(\"^P\", input.request.method); x = input.request.method }",
		"v1":                 "package dashboard_users\ndeny contains x if { x := input.request.method }",
		"v1 said":            "package dashboard_users\nimport rego.v1\ndeny contains x if x := input.request.method",
		"v0 with new words":  "package dashboard_users\nimport future.keywords\ndeny contains x if { re_match(\"^P\", input.request.method); x := input.request.method }",
		"a complete rule":    "package dashboard_users\ndeny := {input.request.method}",
		"a function of ours": "package dashboard_users\ndeny[x] { isTykOas() == false; x := input.request.method }",
	} {
		t.Run(name, func(t *testing.T) {
			e := engine(t, opa.Config{OrgRules: orgRules(text)})
			v := decide(t, e, call(t, things, "apis.update", "/api/apis/1", nil))
			if !slices.Equal(v.Denials, []string{"PUT"}) {
				t.Error(v.Denials)
			}
		})
	}
}

func TestInput(t *testing.T) {
	c := call(t, things, "apis.update", "/api/apis/1", access.Map{"apis": "read"})
	c.Principal.GroupID = "g1"
	c.Query = map[string][]string{"p": {"1", "2"}, "access_token": {"hunter2"}}
	c.Header = map[string]string{"Authorization": "hunter2", "Cookie": "hunter2", "If-Match": `"7"`}
	c.Body = []byte(`{"n":12345678901234567890,"a":[null]}`)
	const all = "package dashboard_users\ndeny[x] { x := json.marshal(input) }"
	want := `{"config":{"security":{"allow_admin_reset_password":true}},` +
		`"operation":{"id":"apis.update","intent":"write","permission":"apis"},` +
		`"permissions":[{"permission":"apis","rx":"^/api/apis/[^/]+/?$"}],` +
		`"request":{"body":{"a":[null],"n":12345678901234567890},"headers":{"If-Match":"\"7\""},"method":"PUT","path":"/api/apis/1","query":{"p":["1","2"]}},` +
		`"user":{"active":true,"email_address":"u1@example.com","group_id":"g1","group_name":"","id":"u1","org_id":"org1","user_permissions":{"apis":"read"}}}`
	e := engine(t, opa.Config{OrgRules: orgRules(all), Security: map[string]any{"allow_admin_reset_password": true}})
	if v := decide(t, e, c); len(v.Denials) != 1 || v.Denials[0] != want {
		t.Errorf("got  %s\nwant %s", v.Denials, want)
	}
}

func TestBodyInInput(t *testing.T) {
	const none = "none"
	for _, c := range []struct{ name, op, body, refers, want string }{
		{"a write", "apis.update", `{"x":"b"}`, `input.request.body.x`, "b"},
		{"a read", "apis.get", `{"x":"b"}`, `input.request.body.x`, none},
		{"no JSON", "apis.update", `x: b`, `input.request.body`, none},
		{"empty", "apis.update", ``, `input.request.body`, none},
		{"by a computed name", "apis.update", `{"x":"b"}`, `input.request[concat("", ["bo", "dy"])].x`, "b"},
		{"by way of the request", "apis.update", `{"x":"b"}`, `r.body.x`, "b"},
		{"by walking the whole input", "apis.update", `{"x":"b"}`, `[v | walk(input, [p, v]); p[count(p)-1] == "x"][0]`, "b"},
	} {
		rule := "package dashboard_users\nimport input.request as r\ndefault x = \"none\"\nx = y { y := " + c.refers + " }\ndeny[x]  { true }"
		e := engine(t, opa.Config{OrgRules: orgRules(rule)})
		in := call(t, things, c.op, "/api/apis/1", nil)
		in.Body = []byte(c.body)
		if v := decide(t, e, in); !slices.Equal(v.Denials, []string{c.want}) {
			t.Errorf("%s: %v", c.name, v.Denials)
		}
	}
}

func TestWholeTable(t *testing.T) {
	const count = "package dashboard_users\ndeny[x] { x := sprintf(\"%v\", [count(input.permissions)]) }"
	for whole, want := range map[bool]string{false: "1", true: "11"} {
		e := engine(t, opa.Config{OrgRules: orgRules(count), WholeTable: whole})
		if v := decide(t, e, call(t, things, "apis.update", "/api/apis/1", nil)); v.Denials[0] != want {
			t.Errorf("%v: %v", whole, v.Denials)
		}
	}
}

func TestWhichRules(t *testing.T) {
	orgs := map[tenant.ID]string{"org1": always("organisation")}
	lookup := func(_ context.Context, org tenant.ID) (string, error) { return orgs[org], nil }
	e := engine(t, opa.Config{File: written(t, always("file")), OrgRules: lookup})
	for _, c := range []struct {
		org  tenant.ID
		text string
		want string
	}{
		{"org1", always("organisation"), "organisation"},
		{"org2", "", "file"},
		{"", "", "file"},
		{"org1", always("changed"), "changed"},
		{"org1", "", "file"},
	} {
		orgs[c.org] = c.text
		in := call(t, things, "apis.get", "/api/apis/1", nil)
		in.Principal.OrgID = c.org
		if v := decide(t, e, in); !slices.Equal(v.Denials, []string{c.want}) {
			t.Errorf("%q: %v, want %s", c.org, v.Denials, c.want)
		}
	}
}

func TestNewRefusesBrokenFiles(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no Rego": "package dashboard_users\ndeny[", "another package": "package other\ndeny[\"x\"] { true }",
		"nothing asked for": "package dashboard_users\ndenny[\"x\"] { true }", "deny is an object": "package dashboard_users\ndeny[x] = \"y\" { x := \"z\" }", "deny is a text": "package dashboard_users\ndeny = \"no\" { true }",
		"deny is true": "package dashboard_users\ndeny { true }", "deny is true or false": "package dashboard_users\ndefault deny = false\ndeny = true { input.user.active }",
		"a change is a text": "package dashboard_users\npatch_request[\"no object\"] { true }", "changes are an object": "package dashboard_users\npatch_request = {\"a\": 1} { true }",
		"unknown function": "package dashboard_users\ndeny[\"x\"] { TykDelete(1) }",
	} {
		if _, err := opa.New(opa.Config{File: written(t, text)}, things); !errors.Is(err, opa.ErrRules) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := opa.New(opa.Config{File: t.TempDir() + "/none"}, things); err == nil {
		t.Error("a missing file")
	}
	if _, err := opa.New(opa.Config{Security: map[string]any{"f": func() {}}}, things); err == nil {
		t.Error("settings that are no JSON")
	}
}

func TestFailsClosed(t *testing.T) {
	for name, body := range map[string]string{
		"deny is undefined":          `deny = {"x"} { input.absent }`,
		"deny holds too much":        `deny[x] { x := numbers.range(1, 20000) }`,
		"patch is no object":         `patch_request[x] { x := "y" }`,
		"patch is undefined":         `deny["x"] { false } patch_request = {"x"} { false }`,
		"patches contradict":         `patch_request[x] { x := [{"a": 1, "b": 0}, {"a": {"b": 2}}][_] }`,
		"a built-in error":           `deny[x] { to_number(input.request.body.password) == 1; x := "y" }`,
		"conflicting complete rules": `a = 1 { true } a = 2 { true } deny["x"] { a == 3 }`,
		"an unknown look-up":         `deny["x"] { TykAPIGet("/api/apis/1").x }`,
	} {
		e := engine(t, opa.Config{OrgRules: orgRules("package dashboard_users\n" + body)})
		c := call(t, things, "apis.update", "/api/apis/1", access.Map{"IsAdmin": "admin"})
		c.Body = []byte(`{"password":"hunter2"}`)
		v, err := e.Decide(t.Context(), c)
		if !errors.Is(err, opa.ErrNoVerdict) || v.Denials != nil || v.Patch != nil {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: a password in %q", name, err)
		}
	}
}

// TestReasonsAreAnyValues states that every value of deny refuses, not only texts.
func TestReasonsAreAnyValues(t *testing.T) {
	e := engine(t, opa.Config{OrgRules: orgRules("package dashboard_users\n" +
		`deny[x] { x := ["text", "", 1, true, null, [1, "a"], {"b": {"c": 2}}, {3}][_] }`)})
	v := decide(t, e, call(t, things, "apis.get", "/api/apis/1", nil))
	if want := []string{"", "1", "[1,\"a\"]", "[3]", "null", "text", "true", `{"b":{"c":2}}`}; !slices.Equal(v.Denials, want) {
		t.Errorf("%q, want %q", v.Denials, want)
	}
}

func TestFailsClosedWithoutRules(t *testing.T) {
	c := call(t, things, "apis.get", "/api/apis/1", access.Map{"IsAdmin": "admin"})
	down := fault.New(fault.Unavailable, "store", "down")
	e := engine(t, opa.Config{OrgRules: func(context.Context, tenant.ID) (string, error) { return "", down }})
	if _, err := e.Decide(t.Context(), c); !errors.Is(err, down) {
		t.Error(err)
	}
	stranger := *c
	stranger.Spec = &operation.Spec{ID: "stranger", Method: "GET"}
	if _, err := engine(t, opa.Config{}).Decide(t.Context(), &stranger); !errors.Is(err, opa.ErrNoVerdict) {
		t.Error(err)
	}
}

// A rule about the path or the method applies to every spelling of the path, and to HEAD.
func TestOneSpellingOfPaths(t *testing.T) {
	e := engine(t, opa.Config{OrgRules: orgRules(`package dashboard_users
deny[x] { x := sprintf("%v %v", [input.request.method, input.request.path]) }`)})
	for sent, seen := range map[string]string{
		"/api/apis/1": "/api/apis/1", "/api/apis/1/": "/api/apis/1", "/%61pi/apis/%31": "/api/apis/1", "/api/apis/a%2fb%7e": "/api/apis/a%2Fb~",
		"/api/apis/a%3Ab": "/api/apis/a:b", "/api/apis/a:b": "/api/apis/a:b", "/api/apis/%": "/api/apis/%",
	} {
		c := call(t, things, "apis.get", sent, nil)
		for _, c.Method = range []string{"", "HEAD"} {
			if v := decide(t, e, c); !slices.Equal(v.Denials, []string{cmp.Or(c.Method, "GET") + " " + seen}) {
				t.Error(sent, c.Method, v.Denials)
			}
		}
	}
}

func TestBrokenRulesOfAnOrganisation(t *testing.T) {
	var log bytes.Buffer
	e := engine(t, opa.Config{OrgRules: orgRules("package dashboard_users\ndeny["), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 3 {
		if _, err := e.Decide(t.Context(), call(t, things, "apis.get", "/api/apis/1", nil)); !errors.Is(err, opa.ErrRules) {
			t.Error(err)
		}
	}
	if text := log.String(); strings.Count(text, "org_id=org1") != 1 || !strings.Contains(text, "rules.rego:2") {
		t.Error(text)
	}
}

func TestTimeout(t *testing.T) {
	for name, rule := range map[string]string{
		"many ranges":   `deny["x"] { r := numbers.range(1, 1000000); r[a]; numbers.range(a, 1000000)[_] == 0 }`,
		"nested loops":  `r = numbers.range(1, 2000) deny["x"] { r[a]; r[b]; r[c]; a + b + c == 1 }`,
		"a slow object": `deny["x"] { TykAPIGet("/slow") == 1 }`,
	} {
		e := engine(t, opa.Config{
			OrgRules: orgRules("package dashboard_users\n" + rule), Timeout: 5 * time.Millisecond,
			Lookup: func(ctx context.Context, _ *operation.Call, _ string) (any, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
		start := time.Now()
		_, err := e.Decide(t.Context(), call(t, things, "apis.get", "/api/apis/1", nil))
		if !errors.Is(err, opa.ErrNoVerdict) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}

func TestCancelledRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := engine(t, opa.Config{
		OrgRules: orgRules("package dashboard_users\ndeny[\"x\"] { TykAPIGet(\"/x\"); count(numbers.range(1, 1000000000000)) > 0 }"),
		Timeout:  time.Hour,
		Lookup:   func(context.Context, *operation.Call, string) (any, error) { cancel(); return true, nil },
	})
	if _, err := e.Decide(ctx, call(t, things, "apis.get", "/api/apis/1", nil)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestConcurrency(t *testing.T) {
	e := engine(t, opa.Config{
		OrgRules: func(_ context.Context, org tenant.ID) (string, error) {
			if org == "org0" {
				return "", nil
			}
			return "package dashboard_users\npatch_request[x] { x := {\"org\": input.user.org_id, \"was\": input.request.body.n, \"got\": TykAPIGet(\"/x\")} }\ndeny[\"" + string(org) + "\"] { isTykOas() }", nil
		},
		Lookup: func(_ context.Context, c *operation.Call, _ string) (any, error) { return c.RequestID, nil },
		ObjectKind: func(_ context.Context, c *operation.Call) string {
			return map[bool]string{true: "oas"}[c.Principal.OrgID == "org1"]
		},
	})
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 50 {
				org := fmt.Sprint("org", (worker+i)%4)
				c := call(t, things, "apis.update", "/api/apis/1", access.Map{"apis": "write"})
				c.Principal.OrgID, c.RequestID = tenant.ID(org), fmt.Sprint(worker, "/", i)
				c.Body = fmt.Appendf(nil, `{"n":%d}`, i)
				want := fmt.Sprintf(`{"got":"%s","org":"%s","was":%d}`, c.RequestID, org, i)
				if org == "org0" {
					want = ""
				}
				v, err := e.Decide(t.Context(), c)
				if err != nil || string(v.Patch) != want || len(v.Denials) > 0 != (org == "org1") {
					t.Errorf("%s: %s, %v; want %s", org, v.Patch, err, want)
				}
			}
		})
	}
	wg.Wait()
}
