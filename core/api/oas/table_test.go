package oas_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
)

var update = flag.Bool("update", false, "write the published table as the program has it; its notes stay")

// published is the documentation page with the table.
const published = "../../../docs/wire/extension-fields.md"

// TestTableIsPublished compares the page with the table. Only the introduction and the notes
// are written by hand.
func TestTableIsPublished(t *testing.T) {
	text, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	want := page(t, string(text))
	if *update {
		if err := os.WriteFile(published, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, lines := strings.Split(string(text), "\n"), strings.Split(want, "\n")
	for i := range max(len(have), len(lines)) {
		if i >= len(have) || i >= len(lines) || have[i] != lines[i] {
			t.Fatalf("%s, line %d, differs from the table: run go test ./core/api/oas -run Published -update and read the diff", published, i+1)
		}
	}
}

// page generates the page again, with its existing introduction and notes.
func page(t *testing.T, old string) string {
	t.Helper()
	notes := map[string]string{}
	for line := range strings.Lines(old) {
		if cells := strings.Split(strings.TrimSuffix(line, " |\n"), " | "); len(cells) == 7 {
			notes[strings.Trim(cells[0], "| `")] = cells[6]
		}
	}
	var sections []string
	rows, seen := map[string]string{}, map[string]bool{}
	for _, r := range oas.Table() {
		if seen[r.Ext] {
			t.Errorf("%s is there twice", r.Ext)
		}
		seen[r.Ext] = true
		s, required, always, twin := section(r.Ext), "", "", ""
		if rows[s] == "" {
			sections = append(sections, s)
		}
		if r.Required {
			required = "yes"
		}
		if r.Always {
			always = "always"
		}
		if r.Classic != "" {
			twin = "`" + r.Classic + "`"
		}
		rows[s] += fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s | %s |\n", r.Ext, r.Type, required, always, twin, r.Rule, notes[r.Ext])
	}
	introduction, _, _ := strings.Cut(old, "\n## ")
	var b strings.Builder
	b.WriteString(introduction)
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n| member | type | required | written | classic twin | rule | notes |\n|---|---|---|---|---|---|---|\n%s", s, rows[s])
	}
	return b.String()
}

// section is the block of the extension to which a member belongs.
func section(ext string) string {
	if name, _, is := strings.Cut(strings.TrimPrefix(ext, "<"), ">"); is {
		return name
	}
	parts := strings.Split(ext, ".")
	if parts[0] == "middleware" || strings.HasPrefix(ext, "server.authentication.") {
		return parts[0] + "." + parts[1]
	}
	return parts[0]
}
