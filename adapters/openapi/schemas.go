package openapi

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/pattern"
)

// entry is a form whose schema is composed and compiled on first use.
type entry struct {
	document func() (object, error)
	text     func() (json.RawMessage, error)
	compiled func() (*jsonschema.Schema, error)
}

// catalogue holds all forms.
type catalogue map[form]entry

func (c catalogue) add(f form) {
	document := sync.OnceValues(func() (object, error) { return compose(f) })
	text := sync.OnceValues(func() (json.RawMessage, error) {
		schema, err := document()
		if err != nil {
			return nil, err
		}
		return json.Marshal(schema)
	})
	c[f] = entry{document: document, text: text, compiled: sync.OnceValues(func() (*jsonschema.Schema, error) {
		t, err := text()
		if err != nil {
			return nil, err
		}
		return compile(t)
	})}
}

// version returns the version of OpenAPI whose schema validates a document, given the
// full version in the document; an empty version counts as 3.0
// (docs/wire/conversion.md#validation).
func version(full string) (string, bool) {
	if full == "" {
		return "3.0", true
	}
	for _, v := range []string{"3.0", "3.1"} {
		patch, has := strings.CutPrefix(full, v+".")
		if _, err := strconv.ParseUint(patch, 10, 16); full == v || has && err == nil {
			return v, true
		}
	}
	return "", false
}

// noFiles is a schema loader that refuses to load other schemas.
type noFiles struct{}

// Load implements jsonschema.URLLoader.
func (noFiles) Load(string) (any, error) { return nil, fs.ErrNotExist }

func compile(text json.RawMessage) (*jsonschema.Schema, error) {
	var schema any
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, fmt.Errorf("openapi: schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noFiles{})
	c.UseRegexpEngine(readRegexp)
	c.AssertFormat()
	for name, check := range formats {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: check})
	}
	const name = "gatehouse:document"
	if err := c.AddResource(name, schema); err != nil {
		return nil, fmt.Errorf("openapi: schema: %w", err)
	}
	s, err := c.Compile(name)
	if err != nil {
		return nil, fmt.Errorf("openapi: schema: %w", err)
	}
	return s, nil
}

// codePoint matches an ECMAScript escape of a character, which Go spells \x{…}.
var codePoint = regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`)

// goPattern returns a pattern in Go's syntax.
func goPattern(text string) string { return codePoint.ReplaceAllString(text, `\x{$1}`) }

// expression is a regular expression that is compiled on first use: patterns of
// documents are never used, and may be large.
type expression struct {
	text    string
	compile func() *regexp.Regexp
}

// String implements jsonschema.Regexp.
func (e *expression) String() string { return e.text }

// MatchString implements jsonschema.Regexp.
func (e *expression) MatchString(s string) bool { return e.compile().MatchString(s) }

// readRegexp parses a pattern of a document as gateways do, without look-around and
// back-references.
func readRegexp(text string) (jsonschema.Regexp, error) {
	text = goPattern(text)
	if _, err := pattern.Check(text); err != nil {
		return nil, err
	}
	return &expression{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}, nil
}

// patterns returns the cost of all patterns of a document, if every text in it were a
// pattern.
func patterns(n *doc.Node) int {
	cost := pattern.Cost(n.Text())
	for name, v := range n.Members() {
		cost += pattern.Cost(name) + patterns(v)
	}
	for _, v := range n.Items() {
		cost += patterns(v)
	}
	return cost
}
