package classic

import (
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// Show changes a definition in place to the form that users read: lists and the members that
// every client reads are never null or missing, the data of plugins is an object if present,
// and timeouts of uptime tests are texts.
func Show(def *doc.Node) {
	definitionType.FillLists(def)
	fill(def, "active", doc.NewBool(false))
	fill(def, "is_oas", doc.NewBool(false))
	fill(def, "slug", doc.NewString(""))
	if graph := def.Get("graphql"); graph.Is(doc.TypeObject) {
		fill(graph, "enabled", doc.NewBool(false))
		fill(graph, "schema", doc.NewString(""))
	}
	if def.Get("event_handlers", "events").Is(doc.Absent, doc.TypeNull) { // scripts iterate over the events
		def.Put(doc.NewObject(), "event_handlers", "events")
	}
	if def.Get("config_data").Is(doc.TypeNull) {
		def.Set("config_data", doc.NewObject())
	}
	for _, version := range def.Get("version_data", "versions").Members() {
		paths := version.Get("extended_paths")
		if !paths.Is(doc.TypeObject) {
			continue
		}
		for _, name := range endpointLists {
			fill(paths, name, doc.NewArray())
		}
	}
	for _, test := range def.Get("uptime_tests", "check_list").Items() {
		if t := test.Get("timeout"); t.Is(doc.TypeNumber) {
			test.Set("timeout", doc.NewString(time.Duration(t.Int()).String()))
		}
	}
}

// fill sets a member that is missing.
func fill(n *doc.Node, name string, v *doc.Node) {
	if n.Get(name) == nil {
		n.Set(name, v)
	}
}

// endpointLists are the lists of middleware by endpoint.
var endpointLists = extendedPaths.Lists()

// ReadTimeouts changes the timeouts of uptime tests in place, from the texts that users read
// to nanoseconds for gateways. It returns problems for texts that are not durations; these
// texts stay.
func ReadTimeouts(def *doc.Node) (problems []shape.Problem) {
	for i, test := range def.Get("uptime_tests", "check_list").Items() {
		t := test.Get("timeout")
		if !t.Is(doc.TypeString) {
			continue
		}
		if d, err := time.ParseDuration(t.Text()); err == nil {
			test.Set("timeout", doc.NewInt(int64(d)))
			continue
		}
		problems = append(problems, shape.Problem{Path: fmt.Sprintf("uptime_tests.check_list[%d].timeout", i),
			Want: `a duration such as "1.5s" or "500ms", or a whole number of nanoseconds`, Got: "another string"})
	}
	return problems
}
