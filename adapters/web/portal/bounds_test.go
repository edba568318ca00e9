package portal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/yaml"
)

// TestLocal states where a login leads to.
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

// TestReferenceBounds draws descriptions that are large, refer to themselves, or are none.
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
