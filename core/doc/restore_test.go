package doc_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

func TestRestore(t *testing.T) {
	const stored = `{"b":1,"tags":null,"tests":[{"t":5},{"t":6,"x":null}],"deep":{"a":{"n":1.50}}}`
	const shown = `{"b":1,"tags":[],"tests":[{"t":"5","l":[]},{"t":"6","x":[],"l":[]}],"deep":{"a":{"n":1.50,"l":[]},"l":[]},"more":[]}`
	for _, c := range []struct{ name, now, want string }{
		{"nothing changed", shown, stored},
		{"in another order", `{"more":[],"deep":{"l":[],"a":{"n":1.5,"l":[]}},"tests":[{"t":"5","l":[]},{"t":"6","x":[],"l":[]}],"tags":[],"b":1}`, stored},
		{"a value", `{"b":2,"tags":[],"tests":[{"t":"5","l":[]},{"t":"6","x":[],"l":[]}],"deep":{"a":{"n":1.50,"l":[]},"l":[]},"more":[]}`,
			`{"b":2,"tags":null,"tests":[{"t":5},{"t":6,"x":null}],"deep":{"a":{"n":1.50}}}`},
		{"what only was shown", `{"b":1,"tags":["a"],"tests":[{"t":"5","l":[1]},{"t":"7","x":[],"l":[]}],"deep":{"a":{"n":1.50,"l":[]},"l":[]},"more":[2]}`,
			`{"b":1,"tags":["a"],"tests":[{"t":5,"l":[1]},{"t":"7","x":null}],"deep":{"a":{"n":1.50}},"more":[2]}`},
		{"an item more", `{"tests":[{"t":"5","l":[]},{"t":"6","x":[],"l":[]},{"t":"9"}]}`, `{"tests":[{"t":5},{"t":6,"x":null},{"t":"9"}]}`},
		{"an item less", `{"tests":[{"t":"6","x":[],"l":[]}]}`, `{"tests":[{"t":6,"x":null}]}`},
		{"an item before", `{"tests":[{"t":"1"},{"t":"5","l":[]},{"t":"6","x":[],"l":[]}]}`, `{"tests":[{"t":"1"},{"t":5},{"t":6,"x":null}]}`},
		{"members removed", `{"b":1}`, `{"b":1}`},
		{"a member of another type", `{"b":{"x":1},"tests":{}}`, `{"b":{"x":1},"tests":{}}`},
		{"a new member", `{"b":1,"new":{"l":[]}}`, `{"b":1,"new":{"l":[]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var nodes []*doc.Node
			for _, text := range []string{stored, shown, c.now} {
				n := doctest.Node(t, text)
				nodes = append(nodes, n)
			}
			if got := string(doc.Restore(nodes[0], nodes[1], nodes[2]).JSON()); got != c.want {
				t.Errorf("have %s\nwant %s", got, c.want)
			}
			if string(nodes[0].JSON()) != stored || string(nodes[1].JSON()) != shown || string(nodes[2].JSON()) != c.now {
				t.Error("an argument was changed")
			}
		})
	}
}
