package opa_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

func TestPatchRequest(t *testing.T) {
	for _, c := range []struct{ name, rule, body, patch, after string }{
		{"none", `deny["x"] { false } patch_request[x] { false; x := {} }`, `{"a":1}`, ``, `{"a":1}`},
		{"one", `patch_request[x] { x := {"a": null, "b": {"c": input.user.id}} }`, `{"a":1,"b":{"d":2}}`, `{"a":null,"b":{"c":"u1"}}`, `{"b":{"d":2,"c":"u1"}}`},
		{"several", `patch_request[{"a": 2}] { true } patch_request[{"b": 2}] { true }`, `{"a":1}`, `{"a":2,"b":2}`, `{"a":2,"b":2}`},
		{"the last one wins", `patch_request[{"a": 2}] { true } patch_request[{"a": 1}] { true }`, `{}`, `{"a":2}`, `{"a":2}`},
		{"at depth", `patch_request[{"a": {"b": 1, "c": null}}] { true } patch_request[{"a": {"b": null, "d": 1}}] { true }`, `{"a":{"b":0,"c":0}}`, `{"a":{"b":1,"c":null,"d":1}}`, `{"a":{"b":1,"d":1}}`},
		{"plain text", `patch_request[x] { x := {"a": "<&>"} }`, `{}`, `{"a":"<&>"}`, `{"a":"<&>"}`},
		{"with a denial", `deny["no"] { true } patch_request[x] { x := {"a": 1} }`, `{}`, `{"a":1}`, `{"a":1}`},
	} {
		e := engine(t, opa.Config{OrgRules: orgRules("package dashboard_users\n" + c.rule)})
		in := call(t, things, "apis.update", "/api/apis/1", nil)
		in.Body = []byte(c.body)
		v := decide(t, e, in)
		if string(v.Patch) != c.patch || (len(v.Denials) > 0) != (c.name == "with a denial") {
			t.Errorf("%s: %s, %v", c.name, v.Patch, v.Denials)
		}
		if v.Patch == nil {
			continue
		}
		if after, err := doc.Merge(in.Body, v.Patch); err != nil || string(after) != c.after {
			t.Errorf("%s: %s, %v", c.name, after, err)
		}
	}
}

func TestDenialsAreSortedAndVerbatim(t *testing.T) {
	e := engine(t, opa.Config{OrgRules: orgRules("package dashboard_users\ndeny[x] { x := [\"b <b>\", \"a\", \"\", \"ä\"][_] }")})
	v := decide(t, e, call(t, things, "apis.get", "/api/apis/1", nil))
	if !slices.Equal(v.Denials, []string{"", "a", "b <b>", "ä"}) {
		t.Errorf("%q", v.Denials)
	}
}
