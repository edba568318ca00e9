package oas

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Remains returns the part of a stored definition that may stay when another document replaces
// the stored one: pass it to Extract as over. Extract leaves a few members of over unchanged
// when the document does not contain them. After a replacement this would keep settings that
// the document no longer has (docs/wire/conversion.md#extract).
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
