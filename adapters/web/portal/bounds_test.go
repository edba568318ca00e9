package portal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/yaml"
)

// TestLocal states which targets a login may have.
func TestLocal(t *testing.T) {
	for at, want := range map[string]string{
		"": "/home", "/": "/", "/portal/private/profile?done=saved": "/portal/private/profile?done=saved", "https://evil.example/": "/home", "//evil.example/": "/home", `/\evil.example`: "/home",
		"javascript:alert(1)": "/home", "evil": "/home", "/\tevil": "/home", "/%2f/evil.example": "/%2f/evil.example", "http:/evil": "/home", "/a\r\nb": "/home",
	} {
		if got := local(at, "/home"); got != want {
			t.Errorf("%q: %q, want %q", at, got, want)
		}
	}
}

// TestReferenceBounds converts descriptions that are large, refer to themselves, or are invalid.
func TestReferenceBounds(t *testing.T) {
	s := &server{Config: Config{YAML: yaml.Codec{}}}
	many := strings.Builder{}
	for i := range maxOperations + 10 {
		fmt.Fprintf(&many, "  /p%d: {get: {}}\n", i)
	}
	ref, err := s.reference(described{Text: "openapi: 3.0.3\npaths:\n" + many.String()})
	if err != nil || !ref.Cut || len(ref.Groups) != 1 || len(ref.Groups[0].Operations) != maxOperations {
		t.Error(err, ref.Cut, len(ref.Groups))
	}
	knot := `{"openapi":"3.0.3","paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}}},"components":{"schemas":{"A":{"properties":{`
	for i := range 40 {
		knot += fmt.Sprintf(`"m%d":{"$ref":"#/components/schemas/A"},`, i)
	}
	knot += `"l":{"$ref":"#/components/schemas/Loop"}}},"Loop":{"$ref":"#/components/schemas/Loop"}}}}`
	ref, err = s.reference(described{Text: knot})
	if err != nil || len(ref.Groups) != 1 || len(ref.Groups[0].Operations[0].Responses[0].Fields) > maxFields {
		t.Errorf("%v %d", err, len(ref.Groups))
	}
	for _, text := range []string{"", "x", "[]", "{", "paths: 1", `{"paths":{"/a":1,"/b":{"get":[],"put":{"parameters":[1,{"in":3}],"responses":7,"tags":[4]}}},"tags":"x","servers":{}}`, strings.Repeat(" ", maxReference+1)} {
		_, _ = s.reference(described{Text: text}) // it must not panic
	}
}

// describing returns a description with operations whose body and response have a schema.
func describing(operations int, schemas string) string {
	content := `{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}}`
	paths := make([]string, operations)
	for i := range paths {
		paths[i] = fmt.Sprintf(`"/p%d":{"post":{"requestBody":%s,"responses":{"200":%s}}}`, i, content, content)
	}
	return `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{` + strings.Join(paths, ",") + `},"components":{"schemas":{` + schemas + `}}}`
}

// TestReferenceParts converts schemas whose parts are cyclic, or double in size.
func TestReferenceParts(t *testing.T) {
	s := &server{Config: Config{YAML: yaml.Codec{}}}
	double := ""
	for i := range 40 {
		double += fmt.Sprintf(`"S%d":{"allOf":[{"$ref":"#/components/schemas/S%d"},{"$ref":"#/components/schemas/S%d"}]},`, i, i+1, i+1)
	}
	long := ""
	for i := range 10 * maxParts {
		long += fmt.Sprintf(`"S%d":{"allOf":[{"$ref":"#/components/schemas/S%d"}],"properties":{"m%d":{}}},`, i, i+1, i)
	}
	for name, c := range map[string]struct {
		schemas string
		fields  int
		cut     bool
	}{
		"list of itself":      {`"S0":{"type":"array","items":{"$ref":"#/components/schemas/S0"}}`, 0, false},
		"part of itself":      {`"S0":{"allOf":[{"$ref":"#/components/schemas/S0"}],"properties":{"id":{"type":"string"}}}`, 1, false},
		"parts of each other": {`"S0":{"allOf":[{"$ref":"#/components/schemas/S1"}],"properties":{"a":{}}},"S1":{"allOf":[{"$ref":"#/components/schemas/S0"}],"properties":{"b":{}}}`, 2, false},
		"trees":               {`"S0":{"properties":{"below":{"type":"array","items":{"$ref":"#/components/schemas/S0"}}}}`, maxLevels, false},
		"doubling":            {double + `"S40":{"properties":{"id":{}}}`, 0, true},
		"a long chain":        {long + `"S160":{}`, maxParts, true},
	} {
		ref, err := s.reference(described{Text: describing(1, c.schemas)}) // work that doubles would not end
		if err != nil || len(ref.Groups) != 1 || ref.Cut != c.cut {
			t.Errorf("%s: %v %v %v", name, err, len(ref.Groups), ref.Cut)
			continue
		}
		if o := ref.Groups[0].Operations[0]; len(o.Body) != c.fields {
			t.Errorf("%s: %d fields", name, len(o.Body))
		}
	}
}

// TestReferenceWeight converts short descriptions of long references: a part that is referenced
// often counts each time.
func TestReferenceWeight(t *testing.T) {
	s := &server{Config: Config{YAML: yaml.Codec{}}}
	answers, parameters, long := []string{}, []string{}, strings.Repeat("x", 100_000)
	for i := range 10_000 {
		answers = append(answers, fmt.Sprintf(`"a%d":{}`, i))
		parameters = append(parameters, `{"name":"p"}`)
	}
	paths := []string{}
	for i := range maxOperations {
		paths = append(paths, fmt.Sprintf(`"/p%d":{"$ref":"#/components/pathItems/all"}`, i))
	}
	for name, operation := range map[string]string{
		"answers":    `{"responses":{` + strings.Join(answers, ",") + `}}`,
		"parameters": `{"parameters":[` + strings.Join(parameters, ",") + `]}`,
		"texts":      `{"description":"` + long + `"}`,
		"names":      `{"requestBody":{"content":{"a/b":{"schema":{"properties":{"` + long + `":{}}}}}}}`,
	} {
		ref, err := s.reference(described{Text: `{"servers":[{"url":"https://` + long + `"}],"paths":{` + strings.Join(paths, ",") + `},"components":{"pathItems":{"all":{"get":` + operation + `}}}}`})
		if weight := ref.weight(); err != nil || !ref.Cut || weight > 4<<20 {
			t.Errorf("%s: %v, cut %v, %d bytes", name, err, ref.Cut, weight)
		}
	}
}

// TestReferenceWork converts descriptions that take long to read and have little output: lists
// and long references that many operations share.
func TestReferenceWork(t *testing.T) {
	s := &server{Config: Config{YAML: yaml.Codec{}}}
	repeated := func(text string, n int) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	members := make([]string, maxFields)
	for i := range members {
		members[i] = fmt.Sprintf(`"m%d":{}`, i)
	}
	paths := make([]string, maxOperations)
	for i := range paths {
		paths[i] = fmt.Sprintf(`"/p%d":{"$ref":"#/all"}`, i)
	}
	for name, c := range map[string]struct{ operation, schema string }{
		"parameters":     {`{"parameters":[` + repeated(`{"$ref":"#/x"}`, 100_000) + `]}`, `{}`},
		"long reference": {`{"requestBody":{"content":{"a/b":{"schema":{"$ref":"#/schema"}}}}}`, `{"allOf":[` + repeated(`{"$ref":"#/long"}`, maxSchemas-100) + `]}`},
		"required":       {`{"requestBody":{"content":{"a/b":{"schema":{"$ref":"#/schema"}}}}}`, `{"required":[` + repeated(`"a"`, 200_000) + `],"properties":{` + strings.Join(members, ",") + `}}`},
	} {
		text := `{"openapi":"3.0.3","paths":{` + strings.Join(paths, ",") + `},"all":{"get":` + c.operation + `},"schema":` + c.schema + `,"long":{"$ref":"#/` + strings.Repeat("~1", 300_000) + `"}}`
		if ref, err := s.reference(described{Text: text}); err != nil || !ref.Cut {
			t.Errorf("%s: %v, cut %v", name, err, ref.Cut)
		}
	}
}

// TestMarkdownBounds renders texts that would take long.
func TestMarkdownBounds(t *testing.T) {
	takes := func(text string) time.Duration {
		begun := time.Now()
		safeMarkdown(text)
		return time.Since(begun)
	}
	for _, part := range []string{
		"*a_ ", ">", "> ", "[a](", "[", "![", "]", "a**b", "~a", "~~a ", "`", "` `` ", "- ", "1. ", "-\n", "+ a\n", "<", "<a ", "<!--", "&", "&a;", "\\", "www.", "http://a ", "a@a.", "a@", "@",
		"[a]: b\n", "[a]\n", "# ", "|", "|a", "a|\n", ":-|", "\t", " ", "\n", "a\n", "a \n", "```\n", "~~~\n", "<div>\n", "_a", "__a__ ", "***a*** ", "(", "[](", "[a][", "a:", "x", "\x00", "é", "    a\n", "* * *\n", "=\n", "a\n=\n", "[ ] ", "- [ ] a\n",
	} {
		for _, length := range []int{maxMarks, maxMarkdown, 1 << 20} {
			// The worst text takes 400 times as long as plain words. Both are timed side by
			// side, and again if other load may have disturbed them.
			const most = 2000
			text, words := strings.Repeat(part, length/len(part)), strings.Repeat("word ", length/5)
			for try := 0; ; try++ {
				ratio := takes(text).Seconds() / takes(words).Seconds()
				if ratio <= most {
					break
				}
				if try == 3 {
					t.Errorf("%q of %d takes %.0f times as long as words, %d at most are wanted", part, length, ratio, most)
					break
				}
			}
		}
	}
	wide := strings.Repeat("|a", 1000) + "|\n" + strings.Repeat("|-", 1000) + "|\n" + strings.Repeat("|\n", 5000)
	if out := safeMarkdown(wide); len(out) > len(wide) {
		t.Errorf("a table of %d bytes became %d", len(wide), len(out))
	}
	if got := safeMarkdown("**a** " + strings.Repeat("é ", maxMarkdown) + "<b>"); !strings.HasPrefix(string(got), "<p><strong>a</strong> é") || !strings.HasSuffix(string(got), "é &lt;b&gt;") {
		t.Errorf("%.40s", got)
	}
}
