package oas

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Remains returns what a stored definition adds to the extraction of a document
// that replaces the stored one: pass it to Extract as over. Extract leaves a few
// members of over alone when the document does not speak of them; after a
// replacement that would keep settings that the document no longer has (docs/wire/conversion.md#extract).
func Remains(stored *doc.Node) *doc.Node {
	if !stored.Is(doc.TypeObject) {
		return nil
	}
	c := stored.Clone()
	for _, name := range []string{"analytics_plugin", "idp_client_id_mapping_disabled"} {
		if zero.Get(name) != nil {
			assign(c, zero.Get(name).Clone(), name)
		}
	}
	return c
}
