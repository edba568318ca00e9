package product

import "github.com/gatehouse-io/gatehouse/core/portal/table"

// Specs are the specifications in the request body of a product. They are stored as separate
// records, so a stored product has none here. An empty list was sent; nil was not sent.
type Specs []map[string]any

// Take implements table.Taker.
func (s *Specs) Take(sent any) (done, ok bool) {
	if *s = nil; sent == nil { // every response about a product without specifications has null
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
