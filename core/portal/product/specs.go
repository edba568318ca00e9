package product

import "github.com/gatehouse-io/gatehouse/core/portal/table"

// Specs are the specifications that the body of a product names. They are records of
// their own: a product that is stored has none here. An empty list is one that a body said;
// nil is nothing said.
type Specs []map[string]any

// Take implements table.Taker.
func (s *Specs) Take(sent any) (done, ok bool) {
	if *s = nil; sent == nil { // as every read of a product without any says it
		return true, true
	}
	*s = Specs{}
	list, isList := sent.([]any)
	if !isList || len(list) > table.MaxList {
		return false, false
	}
	for _, v := range list {
		members, isObject := v.(map[string]any)
		if !isObject {
			return false, false
		}
		*s = append(*s, members)
	}
	return true, true
}

// Schema implements table.Taker.
func (*Specs) Schema() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{
		"type":  []string{"array", "null"},
		"items": map[string]any{"type": "object", "required": []string{"SpecAlias"}, "properties": map[string]any{"SpecAlias": text, "Name": text, "OASUrl": text, "CID": text}},
	}
}
