package linear_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

// describe formats a request and its answer on one line.
func describe(in input, out output) string {
	var b strings.Builder
	b.WriteString(string(in.Verb))
	for _, word := range []struct{ name, value string }{
		{"", in.API}, {"name=", in.Name}, {"if-match=", in.Match}, {"if-none-match=", in.NoneMatch},
		{"", text(in.Mappings)}, {"", text(in.Patch)},
	} {
		if word.value != "" {
			b.WriteString(" " + word.name + word.value)
		}
	}
	if out.Unknown {
		return b.String() + " -> no answer"
	}
	fmt.Fprintf(&b, " -> %d", out.Status)
	if out.Tag != "" {
		fmt.Fprintf(&b, " tag=%s", out.Tag)
	}
	if out.Mappings != nil {
		fmt.Fprintf(&b, " name=%s %s", out.Name, text(out.Mappings))
	}
	return b.String()
}

// String implements fmt.Stringer.
func (s state) String() string {
	if !s.Exists {
		return "absent"
	}
	return fmt.Sprintf("tag=%s name=%s %s", s.Tag, s.Name, text(s.Mappings))
}

// text returns a table or a patch as JSON, "" if there is none.
func text[M ~map[string]V, V any](m M) string {
	if m == nil {
		return ""
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
