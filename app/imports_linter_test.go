package app_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The lines of the linter's settings between which the table stands.
const (
	linterFile  = "../.golangci.yml"
	linterBegin = "      # Made from the table of app/imports_test.go: go test ./app -run TestImportLinter -update\n"
	linterEnd   = "      # The end of what is made from the table.\n"
)

// linterRules returns the table as settings of depguard. The last rule is that of
// folders without a row.
func linterRules(rules []rule) string {
	var b strings.Builder
	b.WriteString("      rules:\n")
	rest := []string{"${config-path}/**"}
	for _, r := range rules {
		tree, all := strings.CutSuffix(r.folder, "/...")
		files := "${config-path}/" + tree + "/*.go"
		if all {
			files = "${config-path}/" + tree + "/**"
		}
		linterRule(&b, strings.ReplaceAll(tree, "/", "-"), r, files)
		rest = append(rest, "!"+files)
	}
	linterRule(&b, "folders-without-a-row", rule{}, rest...)
	return b.String()
}

// linterRule writes a row: a strict list, or for a row that allows any module a lax
// one, which refuses this module except for what the row lists.
func linterRule(b *strings.Builder, name string, r rule, files ...string) {
	if !r.tests {
		files = append(files, "!$test")
	}
	mode, allow, deny := "strict", []string{"$gostd"}, r.never
	others := r.others
	if len(others) > 0 && others[0] == "*" {
		mode, allow, others, deny = "lax", nil, nil, append([]string{module}, deny...)
	}
	for _, own := range r.own {
		tree, all := strings.CutSuffix(own, "/...")
		allow = append(allow, prefixes(module+tree, all)...)
	}
	for _, o := range others {
		allow = append(allow, prefixes(o, true)...)
	}
	fmt.Fprintf(b, "        %s:\n          list-mode: %s\n          files: %s\n          allow: %s\n", name, mode, linterList(files), linterList(allow))
	if len(deny) > 0 {
		b.WriteString("          deny:\n")
	}
	for _, d := range deny {
		why := reasons[d]
		if why == "" {
			why = "the row of this folder in app/imports_test.go does not list it"
		}
		fmt.Fprintf(b, "            - {pkg: %s, desc: %s}\n", d, why)
	}
}

// prefixes returns what stands for a package, and for those below it, in lists that
// compare beginnings.
func prefixes(path string, all bool) []string {
	if all {
		return []string{path + "$", path + "/"}
	}
	return []string{path + "$"}
}

func linterList(items []string) string {
	if len(items) == 0 {
		return "[]"
	}
	return `["` + strings.Join(items, `", "`) + `"]`
}

// TestImportLinter checks that the linter is told what the table says.
func TestImportLinter(t *testing.T) {
	text, err := os.ReadFile(linterFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(text), linterBegin)
	have, after, ended := strings.Cut(rest, linterEnd)
	want := linterRules(importRules)
	switch {
	case !begun || !ended:
		t.Fatalf("%s lacks the lines between which the table stands:\n%s%s", linterFile, linterBegin, linterEnd)
	case have == want:
	case !*update:
		t.Errorf("%s differs from the table (run with -update):\n%s", linterFile, firstDifference(want, have))
	default:
		if err := os.WriteFile(linterFile, []byte(before+linterBegin+want+linterEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestImportLinterSeesRows checks that a row, and its loss, show in the linter's rules.
func TestImportLinterSeesRows(t *testing.T) {
	table := []rule{{folder: "core/...", never: []string{"os"}}, {folder: "app", own: []string{"core/..."}, others: everywhere, tests: true}}
	want := `      rules:
        core:
          list-mode: strict
          files: ["${config-path}/core/**", "!$test"]
          allow: ["$gostd"]
          deny:
            - {pkg: os, desc: there is no input or output here}
        app:
          list-mode: lax
          files: ["${config-path}/app/*.go"]
          allow: ["` + module + `core$", "` + module + `core/"]
          deny:
            - {pkg: ` + module + `, desc: the row of this folder in app/imports_test.go does not list it}
        folders-without-a-row:
          list-mode: strict
          files: ["${config-path}/**", "!${config-path}/core/**", "!${config-path}/app/*.go", "!$test"]
          allow: ["$gostd"]
`
	if have := linterRules(table); have != want {
		t.Error(firstDifference(want, have))
	}
}
