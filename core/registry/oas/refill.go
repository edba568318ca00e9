package oas

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Refill is Fill for a stored document whose classic form changed by other means
// than the document, such as a base that gets a new version. A classic form
// without a requirement list does not say which of several schemes clients need,
// so that Fill asks for all of them at once; as long as the classic form agrees
// with the requirements of the document, these stay (contract oas-extension.md
// 13, 18).
func Refill(document, classic *doc.Node) *doc.Node {
	d := Fill(document, classic)
	if classic.Get("security_requirements").Len() > 0 {
		return d
	}
	said := doc.NewObject()
	requirementsOf(document, document.Get(ExtensionKey, "server", "authentication")).extract(said)
	before, now := said.Get("security_requirement_scopes"), classic.Get("security_requirement_scopes")
	if said.Get("security_requirements") != nil || !before.Equal(now) && before.Len()+now.Len() > 0 {
		return d
	}
	if old := document.Get("security"); old != nil {
		assign(d, old.Clone(), "security")
	} else {
		d.Delete("security")
	}
	return d
}

// Remains returns what a stored definition adds to the extraction of a document
// that replaces the stored one: pass it to Extract as over. Extract leaves a few
// members of over alone when the document does not speak of them; after a
// replacement that would keep settings that the document no longer has (contract
// oas-extension.md 14).
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
