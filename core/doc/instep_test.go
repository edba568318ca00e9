package doc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

func TestInStep(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{`{}`, `{}`, ``},
		{`{"a":1,"b":2}`, `{"a":1,"b":2}`, ``},
		{`{"a":1,"b":2}`, `{"a":12,"b":2}`, `a 1 12`},
		{`{"a":12}`, `{"a":1}`, `a 12 1`},
		{`{"a":1,"b":{"c":1},"d":3}`, `{"a":1,"b":{"c":2},"d":4}`, `b {"c":1} {"c":2}; d 3 4`},
		{` { "a" : 1 , "b" : 2 } `, `{"a":1,"b":3}`, `b 2 3`},
		{`{"a":1 ,"b":2}`, `{"a":1,"b":2}`, ``},
		{`{"a\u0020":"x\"y"}`, `{"a\u0020":"x\"z"}`, `a  "x\"y" "x\"z"`},
		{`{"a":1,"b":2}`, `{"a":1}`, `no`},
		{`{"a":1}`, `{"a":1,"b":2}`, `no`},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, `no`},
		{`{"a":1}`, `{"ab":1}`, `no`},
		{`[1]`, `[1]`, `no`},
		{`{`, `{}`, `no`},
		{`{"a"`, `{"b"`, `no`},
		{``, `{}`, `no`},
	} {
		pairs, ok := doc.InStep([]byte(c.before), []byte(c.after))
		var got []string
		for _, p := range pairs {
			got = append(got, fmt.Sprintf("%s %s %s", p.Name, p.Before, p.After))
		}
		if !ok {
			got = []string{"no"}
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s and %s: %q, want %q", c.before, c.after, strings.Join(got, "; "), c.want)
		}
	}
}

// FuzzInStep: InStep finds the same as a comparison of all members, and never reads past the
// end of any text.
func FuzzInStep(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":{"c":[1,2]},"d":"x"}`), []byte(`{"a":1,"b":{"c":[1,3]},"d":"x"}`))
	f.Add([]byte(`{"a":1 , "b":2}`), []byte(`{"a":12, "b":2 }`))
	f.Add([]byte(`{"a":`), []byte(`{"a":1`))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		pairs, ok := doc.InStep(before, after)
		a, errA := doc.ParseObject(before)
		b, errB := doc.ParseObject(after)
		if errA != nil || errB != nil || doc.Repeats(before) || doc.Repeats(after) {
			return
		}
		var differ []string
		var names, others []string
		for name, was := range a.All() {
			names = append(names, name)
			if is, _ := b.Get(name); !bytes.Equal(was, is) {
				differ = append(differ, name+" "+string(was)+" "+string(is))
			}
		}
		for name := range b.All() {
			others = append(others, name)
		}
		if !ok {
			return
		}
		var got []string
		for _, p := range pairs {
			got = append(got, p.Name+" "+string(p.Before)+" "+string(p.After))
		}
		if strings.Join(names, "\n") != strings.Join(others, "\n") || strings.Join(got, "\n") != strings.Join(differ, "\n") {
			t.Errorf("%s and %s: %q, want %q", before, after, got, differ)
		}
	})
}

// BenchmarkInStep compares two objects of 64 KiB with one different member, and for comparison
// loads both.
func BenchmarkInStep(b *testing.B) {
	all := map[string]any{}
	for i := range 500 {
		all[fmt.Sprintf("member-%04d", i)] = map[string]any{"name": strings.Repeat("v", 80), "list": []int{1, 2, 3}}
	}
	before, _ := json.Marshal(all)
	all["member-0250"] = 1
	after, _ := json.Marshal(all)
	b.Run("in step", func(b *testing.B) {
		for b.Loop() {
			if pairs, ok := doc.InStep(before, after); !ok || len(pairs) != 1 {
				b.Fatal(pairs)
			}
		}
	})
	b.Run("objects", func(b *testing.B) {
		for b.Loop() {
			_, _ = doc.LoadObject(before)
			_, _ = doc.LoadObject(after)
		}
	})
}
