package main

import (
	"path/filepath"
	"testing"
)

// TestRulesCommand runs the tests in the guide, and reports failures, missing coverage,
// and files that are no tests.
func TestRulesCommand(t *testing.T) {
	s := newShell(t)
	const rules = "package dashboard_users\n\ndeny[\"x\"] {\n\tinput.x == 1\n}\n\ndeny[\"y\"] {\n\tinput.y == 1\n\tinput.z == 1\n}\n"
	s.says(0, "6 passed, 0 failed; 100.0 % of dashboard.rego covered", "rules", "test", "../../../docs/examples/rules", "--cover", "100")
	s.says(0, "ok    test_names_change  dashboard_test.rego:…1 passed", "rules", "test", "../../../docs/examples/rules", "-v", "--run", "names")
	half := folderWith(t, "dashboard.rego", rules, "dashboard_test.rego", "package dashboard_users\n\ntest_x {\n\tdeny.x with input as {\"x\": 1}\n}\n")
	s.says(0, "1 passed, 0 failed; …not covered: lines …9", "rules", "test", half)
	s.says(1, "tests of rules fail: …are covered, 90.0 % are wanted", "rules", "test", half, "--cover", "90")
	s.says(1, "FAIL  test_x  dashboard_test.rego:3…seen…0 passed, 1 failed…tests of rules fail: 1 of 1", "rules", "test",
		folderWith(t, "dashboard.rego", rules, "dashboard_test.rego", "package dashboard_users\n\ntest_x { print(\"seen\"); deny.x with input as {\"x\": 2} }"))
	s.says(1, "none was run", "rules", "test", folderWith(t, "dashboard_test.rego", "package dashboard_users\n\nx { true }"))
	s.says(1, "there are no tests", "rules", "test", folderWith(t, "dashboard.rego", rules))
	s.says(1, "dashboard.rego:…rego_parse_error", "rules", "test", folderWith(t, "dashboard.rego", "package dashboard_users\ndeny[", "a_test.rego", "package x"))
	s.says(1, "no such file", "rules", "test", filepath.Join(half, "gone"))
}
