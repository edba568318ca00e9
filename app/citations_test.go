package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// cited is a page, with or without a section, in a comment or a text of the program.
var cited = regexp.MustCompile(`(?:^|[\s("])([A-Za-z][A-Za-z0-9_./-]*\.md)(?:#([a-z0-9-]+))?`)

// linked is a link of a page to another page below docs, or to a section.
var linked = regexp.MustCompile(`\]\(([A-Za-z0-9_./-]*\.md)?(?:#([a-z0-9-]+))?\)`)

// TestCitationsExist follows every citation of a page in comments, and every link
// between pages: what the program is built on can be looked up in a clone.
func TestCitationsExist(t *testing.T) {
	root := ".."
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, comment := range file.Comments {
			for _, c := range cited.FindAllStringSubmatch(comment.Text(), -1) {
				cite(t, name, root, c[1], c[2])
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if text, is := n.(*ast.BasicLit); is && strings.Contains(text.Value, "docs/wire/") {
				for _, c := range cited.FindAllStringSubmatch(text.Value, -1) {
					cite(t, name, root, c[1], c[2])
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{filepath.Join(root, "core/api/testdata/vectors/README.md")}
	for folder, least := range map[string]int{"": 3, "docs": 20, "docs/adr": 10, "docs/console": 1, "docs/portal": 1, "docs/wire": 10, "docs/operations": 10} {
		found, err := filepath.Glob(filepath.Join(root, folder, "*.md"))
		if err != nil || len(found) < least {
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

// cite follows a citation in a Go file: of a page at the root, or below docs.
func cite(t *testing.T, from, root, page, section string) {
	t.Helper()
	for _, folder := range []string{root, filepath.Join(root, "docs")} {
		if _, err := os.Stat(filepath.Join(folder, page)); err == nil {
			follow(t, from, filepath.Join(folder, page), section)
			return
		}
	}
	t.Errorf("%s: there is no page %s, neither here nor below docs", from, page)
}

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

// claimed is a test in a text, with the folder of its package if that stands before it.
var claimed = regexp.MustCompile("(?:`([a-z0-9/]+)` )?`((?:Test|Fuzz)\\w+)(?:/([^`]+))?`")

// TestClaimsHaveTests looks up each test that a page names as the proof of a claim.
func TestClaimsHaveTests(t *testing.T) {
	root, tests := "..", testFunctions(t)
	for _, page := range []string{"docs/threat-model.md", "docs/console/README.md", "docs/portal/README.md", "docs/adding-a-resource.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		found := claimed.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s names no test", page)
		}
		for _, c := range found {
			folder, name, sub := c[1], c[2], c[3]
			if len(tests[name]) == 0 {
				t.Errorf("%s: there is no test %s", page, name)
				continue
			}
			if info, err := os.Stat(filepath.Join(root, folder)); folder != "" && err == nil && info.IsDir() && !tests[name][folder] {
				t.Errorf("%s: %s has no test %s", page, folder, name)
			}
			if name != "TestWire" || sub == "" {
				continue
			}
			if _, err := os.Stat(filepath.Join("testdata/wire", strings.TrimSuffix(sub, ".txt")+".txt")); err != nil {
				t.Errorf("%s: there is no transcript %s", page, sub)
			}
		}
	}
}

// testFunction is a test in a Go file, or one of a suite that tests run.
var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// testFunctions returns the folders of all tests of the module, by their names.
func testFunctions(t *testing.T) map[string]map[string]bool {
	t.Helper()
	out := map[string]map[string]bool{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(file), ".."+string(filepath.Separator)))
		for _, f := range testFunction.FindAllStringSubmatch(string(text), -1) {
			if out[f[1]] == nil {
				out[f[1]] = map[string]bool{}
			}
			out[f[1]][folder] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
