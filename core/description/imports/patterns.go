package imports

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// TranslatePatterns converts the JavaScript escapes \uXXXX and \u{X…} in schema patterns to a
// form that gateways can compile, in place, even if a YAML writer has doubled the backslash
// (docs/wire/import.md#sources).
func TranslatePatterns(document *doc.Node) { translate(document, false) }

// literal are members with data instead of a schema.
var literal = map[string]bool{"example": true, "examples": true, "default": true, "enum": true, "const": true}

// named are members whose children have free names.
var named = map[string]bool{
	"properties": true, "patternProperties": true, "dependentSchemas": true, "$defs": true, "definitions": true,
	"paths": true, "webhooks": true, "callbacks": true, "content": true, "encoding": true, "headers": true,
	"responses": true, "schemas": true, "requestBodies": true, "pathItems": true, "parameters": true, "links": true,
}

// translate walks a value; free says that its members have free names.
func translate(n *doc.Node, free bool) {
	for _, v := range n.Items() {
		translate(v, false)
	}
	for _, name := range n.Names() {
		v := n.Get(name)
		switch {
		case free:
			translate(v, false)
		case literal[name] || strings.HasPrefix(name, "x-"):
		case name == "pattern" && v.Is(doc.TypeString):
			if before := v.Text(); strings.Contains(before, `\u`) {
				n.Set(name, doc.NewString(translatePattern(before)))
			}
		default:
			translate(v, named[name] && v.Is(doc.TypeObject))
		}
	}
}

var escape = regexp.MustCompile(`\\+u(?:([0-9A-Fa-f]{4})|\{([0-9A-Fa-f]{1,6})\})`)

// translatePattern replaces the escapes of one expression. Pairs of backslashes before an
// escape are literal backslashes.
func translatePattern(pattern string) string {
	out := escape.ReplaceAllStringFunc(pattern, func(found string) string {
		m := escape.FindStringSubmatch(found)
		slashes := strings.IndexByte(found, 'u')
		kept := slashes - 1
		if slashes%2 == 0 {
			kept = slashes - 2
		}
		return strings.Repeat(`\`, kept) + `\x{` + m[1] + m[2] + "}"
	})
	return surrogates.ReplaceAllStringFunc(out, joinSurrogates)
}

var surrogates = regexp.MustCompile(`\\x\{([dD][89aAbB][0-9A-Fa-f]{2})\}\\x\{([dD][c-fC-F][0-9A-Fa-f]{2})\}`)

// joinSurrogates replaces a UTF-16 surrogate pair with its character.
func joinSurrogates(found string) string {
	m := surrogates.FindStringSubmatch(found)
	high, _ := strconv.ParseUint(m[1], 16, 32)
	low, _ := strconv.ParseUint(m[2], 16, 32)
	return `\x{` + strconv.FormatUint(0x10000+(high-0xd800)<<10+(low-0xdc00), 16) + "}"
}
