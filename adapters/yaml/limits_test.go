package yaml_test

import (
	"errors"
	"strings"
	"testing"

	library "go.yaml.in/yaml/v3"

	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	port "github.com/gatehouse-io/gatehouse/ports/yaml"
)

// Small texts that would become large, and large ones.
var large = map[string]string{
	"an alias of a long text":             "a: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a,", 20_000) + "*a]\n",
	"aliases that make 100 times as much": "a: &a " + strings.Repeat("x", 5_000) + "\nb: [" + strings.Repeat("*a,", 400) + "*a]\n",
	"an alias of a long key":              "a: &a {" + strings.Repeat("x", 1_000) + ": 1}\nb: [" + strings.Repeat("*a,", 40_000) + "*a]\n",
	"an alias of control bytes":           `a: &a "` + strings.Repeat(`\0`, 50_000) + "\"\nb: [" + strings.Repeat("*a,", 20_000) + "*a]\n",
	"aliases of aliases":                  doubling("a: &a0 [x,x]\n", func(i, j string) string { return "b" + i + ": &a" + i + " [*a" + j + ",*a" + j + "]\n" }),
	"merges of merges":                    doubling("a: &a0 {x: 1}\n", func(i, j string) string { return "b" + i + ": &a" + i + " {<<: [*a" + j + ",*a" + j + "]}\n" }),
	"a plain list":                        strings.Repeat("- a\n", 1_100_000),
	"a list in brackets":                  "[" + strings.Repeat("a,", 1_100_000) + "]",
	"members without values":              "{" + strings.Repeat("a,", 1_100_000) + "}",
	"keys without names":                  strings.Repeat("- ? \n", 600_000),
	"lists in lists":                      strings.Repeat("- - - a\n", 400_000),
	"in UTF-16":                           "\xff\xfe" + strings.Repeat("-\x00 \x00a\x00\n\x00", 200_000),
	"items after breaks of Unicode":       strings.Repeat("-\u2028", 1_100_000),
}

func doubling(first string, line func(i, below string) string) string {
	for c := 1; c < 40; c++ {
		first += line(strings.Repeat("i", c), strings.Repeat("i", c-1))
	}
	return strings.ReplaceAll(first, "&a0", "&a")
}

func TestParseBoundsWhatTextsBecome(t *testing.T) {
	for name, text := range large {
		if _, err := codec.Parse([]byte(text), limits); !errors.Is(err, port.ErrLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"a few aliases":  "a: &a " + strings.Repeat("x", 1000) + "\nb: [" + strings.Repeat("*a,", 50) + "*a]\n",
		"a long text":    "a: |\n" + strings.Repeat("  a line - with, some: marks? and [brackets]\n", 20_000),
		"many members":   strings.Repeat("- {a: 1, b: 2, c: [3, 4]}\n", 60_000),
		"an and, a star": "a: this & that\nb: '*/*'\nc: a=1&b=2\n",
	} {
		if _, err := codec.Parse([]byte(text), limits); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := codec.Parse([]byte("[1,2,3]"), port.Limits{Bytes: 100, Values: 1}); !errors.Is(err, port.ErrLarge) {
		t.Error(err)
	}
	if _, err := codec.Parse([]byte("a: aaaaaaaaaaaaaaaaaaaaaaaaaaa"), port.Limits{Bytes: 20, Values: 10}); !errors.Is(err, port.ErrLarge) {
		t.Error(err)
	}
}

// FuzzCount compares the count with the nodes that the library makes, and the estimate
// with the result.
func FuzzCount(f *testing.F) {
	for _, text := range large {
		f.Add(text[:min(len(text), 200)])
	}
	for _, text := range []string{"[a: b,{c,d},\"\":,? e]", "? ? a\n: - b\n", "{:,:,:}", "- &a *b\n--- c\n...\n", "a:\n- b\n-\n-\tc\n", "\ufeff- a", "[?,?,?]", "{a: b}: c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var root library.Node
		if len(text) > 1<<16 || library.Unmarshal([]byte(text), &root) != nil {
			return
		}
		if n, most := nodes(&root), 2*yaml.Count([]byte(text))+1; n > most {
			t.Fatalf("%q: %d nodes, at most %d were expected", text, n, most)
		}
		n, err := codec.Parse([]byte(text), limits)
		if err != nil {
			return
		}
		if may, _ := codec.Weigh([]byte(text), limits); strings.Contains(text, "*") && len(n.JSON()) > 6*may.Bytes+4*may.Values {
			t.Fatalf("%q became %d bytes, %+v were expected", text, len(n.JSON()), may)
		}
	})
}

func nodes(n *library.Node) int {
	sum := 1
	for _, c := range n.Content {
		sum += nodes(c)
	}
	return sum
}
