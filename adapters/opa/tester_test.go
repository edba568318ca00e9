package opa_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
)

// files reads the files of a folder.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*.rego"))
	if err != nil || len(found) == 0 {
		t.Fatal(folder, err)
	}
	out := map[string]string{}
	for _, name := range found {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = string(text)
	}
	return out
}

// The rules of the guide and those in testdata, in either version of Rego, pass their
// tests, are covered by them, and can be put in force.
func TestRuleSetsOfPeople(t *testing.T) {
	folders, err := filepath.Glob("testdata/rulesets/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range append(folders, "../../docs/examples/rules") {
		all := files(t, folder)
		got, err := opa.RunTests(t.Context(), opa.Tests{Files: all})
		if err != nil {
			t.Fatal(folder, err)
		}
		for _, r := range got.Results {
			if !r.Passed {
				t.Errorf("%s: %+v", folder, r)
			}
		}
		if got.Coverage < 100 || len(got.Missed) > 0 {
			t.Errorf("%s: %.1f %%, not covered: %v", folder, got.Coverage, got.Missed)
		}
		if err := engine(t, opa.Config{}).Check(t.Context(), "org1", all[got.Rules]); err != nil {
			t.Error(folder, err)
		}
	}
}

func TestRunTests(t *testing.T) {
	const rules = "package dashboard_users\n\ndeny[\"x\"] {\n\tinput.a == 1\n}\n\ndeny[\"y\"] {\n\tto_number(input.b) == 1\n}\n\ndeny[\"z\"] {\n\tTykAPIGet(\"/api/apis\") == 1\n}\n"
	run := func(tests string) (opa.Tested, error) {
		return opa.RunTests(t.Context(), opa.Tests{Files: map[string]string{"dashboard.rego": rules, "a_test.rego": "package dashboard_users\n" + tests}})
	}
	got, err := run("test_x { print(\"said\"); deny.x with input as {\"a\": 1} with TykAPIGet as 0 }\ntest_not { false }\ntest_error { deny.y with input as {\"b\": \"z\"} }\ntest_unsaid { deny.z with input as {} }")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"test_x": "", "test_not": "", "test_error": "to_number", "test_unsaid": "with TykAPIGet as"}
	for _, r := range got.Results {
		if r.Passed != (r.Name == "test_x") || !strings.Contains(r.Why, want[r.Name]) || !strings.HasPrefix(r.At, "a_test.rego:") {
			t.Errorf("%+v", r)
		}
		if r.Name == "test_x" && r.Output != "said\n" {
			t.Errorf("%q", r.Output)
		}
	}
	if len(got.Results) != 4 || got.Rules != "dashboard.rego" {
		t.Error(got)
	}
	if got, err = run("test_x { deny.x with input as {\"a\": 1} with TykAPIGet as 0 }"); err != nil || got.Coverage >= 100 || len(got.Missed) == 0 {
		t.Error(got, err)
	}
	if got, err := opa.RunTests(t.Context(), opa.Tests{Files: map[string]string{"a_test.rego": "package dashboard_users\ntest_a { deny[\"User is not active\"] with input as {\"user\": {\"active\": false}} }\ntest_b { true }"}, Run: "test_a"}); err != nil || got.Rules != opa.DefaultFile || len(got.Results) != 1 || !got.Results[0].Passed {
		t.Error(got, err)
	}
	for name, files := range map[string]map[string]string{
		"no tests":      {"dashboard.rego": rules},
		"two rule sets": {"a.rego": rules, "b.rego": rules, "a_test.rego": "package dashboard_users"},
	} {
		if _, err := opa.RunTests(t.Context(), opa.Tests{Files: files}); err == nil {
			t.Error(name)
		}
	}
	for name, files := range map[string]map[string]string{
		"syntax":          {"dashboard.rego": "package dashboard_users\ndeny[", "a_test.rego": "package x"},
		"another package": {"dashboard.rego": "package other\ndeny[1] { true }", "a_test.rego": "package x"},
		"reaches out":     {"dashboard.rego": "package dashboard_users\ndeny[\"x\"] { http.send({}) }", "a_test.rego": "package x\ntest_a { true }"},
	} {
		if _, err := opa.RunTests(t.Context(), opa.Tests{Files: files}); !errors.Is(err, opa.ErrRules) {
			t.Error(name, err)
		}
	}
}
