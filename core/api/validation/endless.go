package validation

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// maxSchemas is the maximum number of schemas that gateways visit for one example, or for one
// value of a request.
const maxSchemas = 100_000

// endless requires that the examples which gateways make from schemas, and the validation of
// requests, terminate (docs/wire/conversion.md#validation).
func (p *problems) endless(d *doc.Node) {
	const field = gatewayExtension + ".middleware.operations"
	for _, e := range Endless(d, d.Get(gatewayExtension, "middleware", "operations")) {
		if e.Response != "" {
			p.add(at(field, e.ID, e.Setting, "fromOASExamples"), "would make an example of a schema that has no end; give the response %s an example", doc.Short(e.Response))
			continue
		}
		p.add(at(field, e.ID, e.Setting), "would hold a request against a schema that has no end: it is part of itself, by allOf, anyOf, oneOf or not, or has no type and consists of itself")
	}
}

// Settings of an operation that may not terminate.
const (
	MockResponse    = "mockResponse"
	ValidateRequest = "validateRequest"
)

// EndlessSetting is a setting of an operation that makes gateways overflow their stack: their
// process ends with the first request, for the APIs of all organisations.
type EndlessSetting struct {
	ID       string // of the operation
	Setting  string
	Response string // of MockResponse: the status of the response
}

// Endless returns the settings of a document's operations that do not terminate.
func Endless(d, settings *doc.Node) (list []EndlessSetting) {
	if settings.Len() == 0 {
		return nil
	}
	refs := resolver{root: d, known: map[string]*doc.Node{}}
	examples := counter{resolve: refs.resolve, next: inExample, known: map[*doc.Node]int{}}
	checks := checker{resolver: refs, seen: map[*doc.Node]bool{}, above: map[*doc.Node][]*doc.Node{}}
	operations := oas.Operations(d)
	for _, o := range operations {
		own := settings.Get(o.ID())
		if mock := own.Get(MockResponse); mock.Get("enabled").True() && mock.Get("fromOASExamples", "enabled").True() {
			for status, response := range o.Node.Get("responses").Members() {
				if examples.response(response) > maxSchemas {
					list = append(list, EndlessSetting{o.ID(), MockResponse, status})
				}
			}
		}
		if own.Get(ValidateRequest, "enabled").True() {
			checks.request(o)
		}
	}
	endless := checks.endless()
	for _, o := range operations {
		bad := slices.ContainsFunc(checks.parts(o), func(n *doc.Node) bool { return endless[n] })
		if bad && settings.Get(o.ID(), ValidateRequest, "enabled").True() {
			list = append(list, EndlessSetting{o.ID(), ValidateRequest, ""})
		}
	}
	return list
}

// endlessSchema reports whether a JSON schema, or one in it, is made of itself.
func endlessSchema(root *doc.Node) bool {
	ways := counter{resolve: func(n *doc.Node) *doc.Node { return n }, known: map[*doc.Node]int{}, next: func(n *doc.Node) []*doc.Node {
		if ref := n.Get("$ref"); ref.Is(doc.TypeString) {
			return []*doc.Node{oas.Follow(root, ref.Text())}
		}
		return append(sameValue(n), n.Get("if"), n.Get("then"), n.Get("else"))
	}}
	for left := []*doc.Node{root}; len(left) > 0; {
		n := left[len(left)-1]
		left = left[:len(left)-1]
		if ways.count(n) > maxSchemas {
			return true
		}
		left = append(append(left, n.Items()...), values(n)...)
	}
	return false
}

// resolver resolves the references of a document, each of them once.
type resolver struct {
	root  *doc.Node
	known map[string]*doc.Node
}

// resolve returns the final target of a reference; nil if it dangles or is circular, which
// other checks refuse.
func (r resolver) resolve(n *doc.Node) *doc.Node {
	ref := n.Get("$ref")
	if !ref.Is(doc.TypeString) {
		return n
	}
	target, met := r.known[ref.Text()]
	if !met {
		r.known[ref.Text()] = nil // until the target is known
		target = r.resolve(oas.Follow(r.root, ref.Text()))
		r.known[ref.Text()] = target
	}
	return target
}

// counter counts the schemas that are visited from a schema.
type counter struct {
	resolve func(*doc.Node) *doc.Node
	next    func(*doc.Node) []*doc.Node
	known   map[*doc.Node]int
}

// count returns maxSchemas+1 if there are more, or if they do not terminate.
func (c counter) count(n *doc.Node) int {
	n = c.resolve(n)
	if !n.Is(doc.TypeObject) {
		return 0
	}
	if total, met := c.known[n]; met {
		return total
	}
	c.known[n] = maxSchemas + 1 // a circular path finds this value
	total := 1
	for _, child := range c.next(n) {
		total = min(total+c.count(child), maxSchemas+1)
	}
	c.known[n] = total
	return total
}

// response counts the schemas of an example of a response. c counts each of them once.
func (c counter) response(n *doc.Node) (total int) {
	n = c.resolve(n)
	if total, met := c.known[n]; met {
		return total
	}
	defer func() { c.known[n] = total }()
	for _, header := range n.Get("headers").Members() {
		total = max(total, c.count(c.resolve(header).Get("schema")))
	}
	for _, media := range n.Get("content").Members() {
		if media.Get("example").Is(doc.Absent, doc.TypeNull) && media.Get("examples").Len() == 0 {
			total = max(total, c.count(media.Get("schema")))
		}
	}
	return total
}

// inExample returns the schemas from which the example of a schema is made.
func inExample(n *doc.Node) (list []*doc.Node) {
	kind := n.Get("type")
	if kind.Len() == 1 && kind.Is(doc.TypeArray) {
		kind = kind.Item(0)
	}
	switch {
	case !n.Get("example").Is(doc.Absent, doc.TypeNull):
	case kind.Text() == "object":
		return values(n.Get("properties"))
	case kind.Text() == "array":
		return []*doc.Node{n.Get("items")}
	}
	return nil
}

// checker visits the schemas against which requests are validated.
type checker struct {
	resolver
	seen    map[*doc.Node]bool
	above   map[*doc.Node][]*doc.Node // parents of a part or schema
	schemas []*doc.Node
}

// parts returns the parts of an operation that contain schemas. Operations may share them.
func (c *checker) parts(o oas.Operation) []*doc.Node {
	return []*doc.Node{c.resolve(o.Node.Get("requestBody")), o.Item.Get("parameters"), o.Node.Get("parameters")}
}

// find records the children of a part or schema, and returns the new ones.
func (c *checker) find(n *doc.Node, list ...*doc.Node) (found []*doc.Node) {
	for _, child := range list {
		if child = c.resolve(child); child == nil {
			continue
		}
		c.above[child] = append(c.above[child], n)
		if !c.seen[child] {
			c.seen[child] = true
			found = append(found, child)
		}
	}
	return found
}

// request finds the schemas against which a request is validated.
func (c *checker) request(o oas.Operation) {
	var left []*doc.Node
	content := func(n *doc.Node) {
		for _, media := range n.Get("content").Members() {
			left = append(left, c.find(n, media.Get("schema"))...)
		}
	}
	for i, part := range c.parts(o) {
		if part == nil || c.seen[part] {
			continue
		}
		c.seen[part] = true
		if i == 0 {
			content(part)
		}
		for _, parameter := range c.find(part, part.Items()...) {
			left = append(left, c.find(parameter, parameter.Get("schema"))...)
			content(parameter)
		}
	}
	for len(left) > 0 {
		n := left[len(left)-1]
		c.schemas = append(c.schemas, n)
		left = append(left[:len(left)-1], c.find(n, below(n)...)...)
	}
}

// up adds some nodes and all their ancestors to a set.
func (c *checker) up(set map[*doc.Node]bool, some []*doc.Node) {
	for len(some) > 0 {
		n := some[len(some)-1]
		some = some[:len(some)-1]
		if !set[n] {
			set[n] = true
			some = append(some, c.above[n]...)
		}
	}
}

// endless returns the schemas that do not terminate, and their ancestors. Before gateways
// validate a value against a schema, they check whether it has any constraint: its own, or one
// of a schema below it.
func (c *checker) endless() map[*doc.Node]bool {
	says := map[*doc.Node]bool{}
	for _, n := range c.schemas {
		if constrains(n) {
			c.up(says, []*doc.Node{n})
		}
	}
	count := func(next func(*doc.Node) []*doc.Node) counter {
		return counter{resolve: c.resolve, next: next, known: map[*doc.Node]int{}}
	}
	ways := []counter{
		count(sameValue),
		count(func(n *doc.Node) []*doc.Node { // visited before the properties, which therefore do not matter
			if constrains(n) {
				return nil
			}
			return inValue(n)
		}),
		count(func(n *doc.Node) []*doc.Node {
			if says[n] {
				return nil
			}
			return below(n)
		}),
	}
	bad := map[*doc.Node]bool{}
	for _, n := range c.schemas {
		if slices.ContainsFunc(ways, func(w counter) bool { return w.count(n) > maxSchemas }) {
			c.up(bad, []*doc.Node{n})
		}
	}
	return bad
}

// sameValue returns the schemas against which the same value is validated.
func sameValue(n *doc.Node) []*doc.Node {
	return slices.Concat(n.Get("oneOf").Items(), n.Get("anyOf").Items(), n.Get("allOf").Items(), []*doc.Node{n.Get("not")})
}

// inValue returns the schemas of the items of a value, and of its members without fixed names.
func inValue(n *doc.Node) []*doc.Node {
	return []*doc.Node{n.Get("additionalProperties"), n.Get("items")}
}

// below returns all direct subschemas.
func below(n *doc.Node) []*doc.Node {
	return slices.Concat(sameValue(n), inValue(n), values(n.Get("properties")))
}

func values(n *doc.Node) (list []*doc.Node) {
	for _, v := range n.Members() {
		list = append(list, v)
	}
	return list
}

// constrains reports whether a schema has a constraint of its own.
func constrains(n *doc.Node) bool {
	for name, v := range n.Members() {
		switch name {
		case "type", "format", "enum", "required", "pattern":
			if v.Text() != "" || v.Len() > 0 {
				return true
			}
		case "uniqueItems", "exclusiveMinimum", "exclusiveMaximum", "nullable", "readOnly", "writeOnly", "allowEmptyValue", "minLength", "minItems", "minProperties":
			if v.True() || v.Float() != 0 {
				return true
			}
		case "minimum", "maximum", "multipleOf", "maxLength", "maxItems", "maxProperties":
			if v.Is(doc.TypeNumber) {
				return true
			}
		case "additionalProperties":
			if v.Is(doc.TypeBool) && !v.True() {
				return true
			}
		}
	}
	return false
}
