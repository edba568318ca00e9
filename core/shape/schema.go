package shape

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Schema describes the type in JSON schema, as far as JSON schema allows: every document in
// which Check finds no problem is valid. A type that contains itself is described to a depth
// of one. Members have the order of the type.
func (t Type) Schema() map[string]any { return t.schema(nil) }

func (t *Type) schema(inside []*Type) map[string]any {
	switch t.kind {
	case kindString, kindTime, kindObjectID:
		return nullable("string")
	case kindDuration:
		return map[string]any{"type": "string"}
	case kindBool:
		return nullable("boolean")
	case kindInt, kindUint:
		return nullable("integer")
	case kindFloat:
		return nullable("number")
	case kindList:
		s := nullable("array")
		s["items"] = t.elem.schema(inside)
		return s
	case kindMap:
		s := nullable("object")
		s["additionalProperties"] = t.elem.schema(inside)
		return s
	case kindObject:
		properties := make(doc.Fields, 0, len(t.members))
		for i := range t.members {
			properties = append(properties, doc.Field{Name: t.members[i].name, Value: t.members[i].of.schema(inside)})
		}
		s := nullable("object")
		s["properties"] = properties
		return s
	case kindRef:
		if slices.Contains(inside, t.elem) {
			return map[string]any{}
		}
		return t.elem.schema(append(slices.Clone(inside), t.elem))
	case kindEither:
		var of []any
		for i := range t.either {
			of = append(of, t.either[i].schema(inside))
		}
		return map[string]any{"anyOf": of}
	}
	return map[string]any{} // anything
}

func nullable(name string) map[string]any { return map[string]any{"type": []string{name, "null"}} }
