package document

import (
	"fmt"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// CheckIntrospection returns an error unless a document is the result of the introspection
// query (GraphQL, October 2021, 4), with or without the member data around it.
func CheckIntrospection(n *doc.Node) error {
	schema := n.Get("data", "__schema")
	if schema == nil {
		schema = n.Get("__schema")
	}
	if !schema.Is(doc.TypeObject) {
		return broken("the document has no __schema: it is no introspection result")
	}
	c := checker{kinds: map[string]string{}}
	if err := c.collect(schema.Get("types")); err != nil {
		return err
	}
	for _, root := range []string{"queryType", "mutationType", "subscriptionType"} {
		at := schema.Get(root)
		if at == nil || at.Is(doc.TypeNull) {
			if root == "queryType" { // the other root types are optional
				return broken("__schema has no queryType")
			}
			continue
		}
		if name := at.Get("name").Text(); c.kinds[name] != kindObject {
			return broken("%s is %q, which is no object type", root, name)
		}
	}
	for _, t := range schema.Get("types").Items() {
		if err := c.definition(t); err != nil {
			return err
		}
	}
	for _, d := range schema.Get("directives").Items() {
		if err := c.inputs(d.Get("args"), "@"+d.Get("name").Text()); err != nil {
			return err
		}
	}
	return nil
}

func broken(format string, args ...any) error {
	return fault.New(fault.Invalid, CodeJSON, "%s", fmt.Sprintf(format, args...)).At("file")
}

// Kinds of types.
const (
	kindScalar    = "SCALAR"
	kindObject    = "OBJECT"
	kindInterface = "INTERFACE"
	kindUnion     = "UNION"
	kindEnum      = "ENUM"
	kindInput     = "INPUT_OBJECT"
	kindList      = "LIST"
	kindNonNull   = "NON_NULL"
)

// Kinds of input and output types, and of wrappers.
var (
	sent     = []string{kindScalar, kindEnum, kindInput}
	answered = []string{kindScalar, kindEnum, kindObject, kindInterface, kindUnion}
	wrappers = []string{kindList, kindNonNull}
)

// checker checks the types of a schema against each other.
type checker struct{ kinds map[string]string }

// collect stores the kind of each type.
func (c checker) collect(types *doc.Node) error {
	if types.Len() == 0 || !types.Is(doc.TypeArray) {
		return broken("__schema has no types")
	}
	for _, t := range types.Items() {
		name, kind := t.Get("name").Text(), t.Get("kind").Text()
		switch {
		case name == "":
			return broken("a type has no name")
		case !slices.Contains(sent, kind) && !slices.Contains(answered, kind):
			return broken("the type %s has the kind %q", name, kind)
		case c.kinds[name] != "":
			return broken("the type %s is there twice", name)
		}
		c.kinds[name] = kind
	}
	return nil
}

func (c checker) definition(t *doc.Node) error {
	name := t.Get("name").Text()
	switch c.kinds[name] {
	case kindObject, kindInterface:
		if t.Get("fields").Len() == 0 {
			return broken("the type %s has no fields", name)
		}
		for _, f := range t.Get("fields").Items() {
			field := name + "." + f.Get("name").Text()
			if err := c.ref(f.Get("type"), field, answered); err != nil {
				return err
			}
			if err := c.inputs(f.Get("args"), field); err != nil {
				return err
			}
		}
		return c.refs(t.Get("interfaces"), name, kindInterface)
	case kindUnion:
		if t.Get("possibleTypes").Len() == 0 {
			return broken("the union %s has no types", name)
		}
		return c.refs(t.Get("possibleTypes"), name, kindObject)
	case kindEnum:
		if t.Get("enumValues").Len() == 0 {
			return broken("the enum %s has no values", name)
		}
	case kindInput:
		return c.inputs(t.Get("inputFields"), name)
	}
	return nil
}

func (c checker) inputs(list *doc.Node, of string) error {
	for _, v := range list.Items() {
		if err := c.ref(v.Get("type"), of+"."+v.Get("name").Text(), sent); err != nil {
			return err
		}
	}
	return nil
}

func (c checker) refs(list *doc.Node, of, kind string) error {
	for _, v := range list.Items() {
		if err := c.ref(v, of, []string{kind}); err != nil {
			return err
		}
	}
	return nil
}

// maxWraps is the maximum number of lists and non-nulls around a type: the usual query
// requests seven.
const maxWraps = 32

// ref checks that the named type inside the wrappers exists and has one of the allowed kinds.
func (c checker) ref(t *doc.Node, of string, kinds []string) error {
	for range maxWraps {
		if !slices.Contains(wrappers, t.Get("kind").Text()) {
			break
		}
		t = t.Get("ofType")
	}
	name := t.Get("name").Text()
	switch kind := c.kinds[name]; {
	case kind == "":
		return broken("%s has the type %q, which is not there", of, name)
	case !slices.Contains(kinds, kind):
		return broken("%s has the type %s of the kind %s", of, name, kind)
	}
	return nil
}
