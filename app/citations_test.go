package app_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// cited is a page of the wire contract, with or without a section, in a comment or
// in a text of the program.
var cited = regexp.MustCompile(`docs/wire/([a-z-]+\.md)(?:#([a-z0-9-]+))?`)

// linked is a link of a page to another page below docs, or to a section.
var linked = regexp.MustCompile(`\]\(([A-Za-z0-9_./-]*\.md)?(?:#([a-z0-9-]+))?\)`)

// TestCitationsExist follows every citation of the wire contract in Go files, and
// every link of its pages and of the pages of operations.
func TestCitationsExist(t *testing.T) {
	root := ".."
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".go" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, c := range cited.FindAllStringSubmatch(joined(string(text)), -1) {
			follow(t, name, filepath.Join(root, "docs/wire", c[1]), c[2])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{filepath.Join(root, "core/api/testdata/vectors/README.md")}
	for _, folder := range []string{"docs/wire", "docs/operations"} { // each group links to its page
		found, err := filepath.Glob(filepath.Join(root, folder, "*.md"))
		if err != nil || len(found) < 10 {
			t.Fatalf("%d pages in %s: %v", len(found), folder, err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range linked.FindAllStringSubmatch(string(text), -1) {
			to := page
			if l[1] != "" {
				to = filepath.Join(filepath.Dir(page), l[1])
			}
			follow(t, page, to, l[2])
		}
	}
}

// joined puts comments that go on in the next line into one line, so that a citation
// may be broken after a slash.
func joined(text string) string { return brokenLine.ReplaceAllString(text, "/") }

var brokenLine = regexp.MustCompile(`/\n\s*//\s*`)

// sections holds the anchors of the headings of a page, by its name.
var sections = map[string]map[string]bool{}

func follow(t *testing.T, from, page, section string) {
	t.Helper()
	if sections[page] == nil {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Errorf("%s: there is no page %s", from, page)
			return
		}
		sections[page] = map[string]bool{"": true}
		for line := range strings.Lines(string(text)) {
			if title := strings.TrimLeft(line, "#"); title != line {
				sections[page][anchor(title)] = true
			}
		}
	}
	if !sections[page][section] {
		t.Errorf("%s: %s has no section #%s", from, page, section)
	}
}

// anchor is what a heading is called in an address.
func anchor(title string) string {
	keep := func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		}
		return -1
	}
	return strings.Map(keep, strings.ToLower(strings.TrimSpace(title)))
}
