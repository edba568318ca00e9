package operation

import (
	"fmt"
	"reflect"
	"strings"
)

// Check returns all problems of a set of operations: a repeated ID or route, a placeholder
// without an input field or the reverse, an operation without a guard, or one that the
// documentation could not describe.
func Check(ops []Operation) error {
	ids, routes := map[string]bool{}, map[string]bool{}
	var problems []string
	complain := func(o *Operation, format string, args ...any) {
		problems = append(problems, o.ID+": "+fmt.Sprintf(format, args...))
	}
	for i := range ops {
		o := &ops[i]
		route := o.Method + " " + unnamed(o.Path)
		if o.Surface == Portal { // the portal may have its own listener
			route += " (portal)"
		}
		if ids[o.ID] {
			complain(o, "declared twice")
		}
		if routes[route] {
			complain(o, "route %s taken", route)
		}
		ids[o.ID], routes[route] = true, true
		switch {
		case o.Surface == "":
			complain(o, "no surface")
		case o.Surface == Management && o.Permission == "" && !o.Public:
			complain(o, "no permission and not public")
		case o.BySession && (o.Surface != Portal || o.Public):
			complain(o, "people call with a session on the portal only, and not anonymously")
		case o.Visited && (o.Surface != Portal || !o.Public):
			complain(o, "only what anybody may call on the portal learns of sessions that may be there")
		case o.Brokers && o.Surface != Admin && o.Surface != Management && (o.Surface != Portal || o.Public || o.BySession):
			complain(o, "nodes know no brokers, and the portal none that are anonymous or have a session")
		case o.Surface == Probe && !o.Public:
			complain(o, "a probe without credentials must say that it is public")
		}
		checkPath(o, complain)
		checkItem(o, complain)
		if o.Refuses != (o.Status >= 400) {
			complain(o, "succeeds with status %d: only a row that Refuses does that", o.Status)
		}
		if o.Summary == "" || o.Tag == "" || o.Example == nil && o.Status != 204 {
			complain(o, "needs a summary, a tag and an example answer")
		}
		if o.Surface == Management && (o.Body == reflect.TypeFor[Document]() || o.Body == reflect.TypeFor[Patch]()) && o.settle == nil {
			complain(o, "takes a document or a patch, and does not say what it comes to")
		}
		if o.Body != nil && o.Request == nil {
			complain(o, "needs an example request")
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("operation: %s", strings.Join(problems, "; "))
	}
	return nil
}

func checkPath(o *Operation, complain func(*Operation, string, ...any)) {
	bound, placed := map[string]bool{}, map[string]bool{}
	for _, p := range o.Params {
		if p.In == "path" {
			bound[p.Name] = true
		}
	}
	for seg := range strings.SplitSeq(o.Path, "/") {
		if name, ok := Placeholder(seg); ok {
			placed[name] = true
			if !bound[name] {
				complain(o, "nothing binds {%s}", name)
			}
		}
	}
	if _, ok := Placeholder(o.Path[strings.LastIndex(o.Path, "/")+1:]); o.Tail && !ok {
		complain(o, "takes the rest of a path, but does not end with a placeholder")
	}
	if o.Own != "" && !placed[o.Own] {
		complain(o, "is for the user that {%s} names, which the path does not have", o.Own)
	}
	for name := range bound {
		if !placed[name] {
			complain(o, "path has no {%s}", name)
		}
	}
}

// unnamed returns a path with the names of its placeholders removed.
func unnamed(path string) string {
	segs := strings.Split(path, "/")
	for i, s := range segs {
		if _, ok := Placeholder(s); ok {
			segs[i] = "{}"
		}
	}
	return strings.Join(segs, "/")
}
