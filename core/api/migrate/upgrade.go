package migrate

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Upgrade adds newer fields to a stored OAS or MCP document and its classic form, from values
// that are only in older fields (docs/wire/start.md#what-a-start-brings-up-to-date). Older
// fields stay, so that a downgrade works; all other members stay unchanged. A second call
// changes nothing. notes has one entry per change, for the log.
//
// The third migration of that section needs no change of documents: a list leaves out a child
// version only because its base names the child. After its base is deleted, a child appears in
// lists without a change.
func Upgrade(document, classic *doc.Node) (changed bool, notes []string) {
	schemes := document.Get(oas.ExtensionKey, "server", "authentication", "securitySchemes")
	for name, entry := range schemes.Members() {
		if oas.Recognise(document.Get("components", "securitySchemes", name), entry) == oas.SchemeJWT {
			for _, field := range upgradeJWT(entry, classic) {
				notes = append(notes, fmt.Sprintf("security scheme %q: %s", name, field))
			}
		}
	}
	if note := upgradeMetadata(document, classic); note != "" {
		notes = append(notes, note)
	}
	return len(notes) > 0, notes
}

// UpgradePolicy sets the id of a stored policy that has none to the id that it effectively has
// (docs/wire/start.md#what-a-start-brings-up-to-date).
func UpgradePolicy(policy *doc.Node) (changed bool) {
	id := policy.Get("_id").Text()
	if id == "" || policy.Get("id").Text() != "" {
		return false
	}
	policy.Set("id", doc.NewString(id))
	return true
}

// upgradeJWT sets the list forms of single fields, and returns their names.
func upgradeJWT(entry, definition *doc.Node) []string {
	var done []string
	for _, f := range []struct{ single, list string }{
		{"identityBaseField", "subjectClaims"},
		{"policyFieldName", "basePolicyClaims"},
	} {
		if claim := entry.Get(f.single).Text(); claim != "" && entry.Get(f.list).Len() == 0 {
			entry.Set(f.list, doc.NewStrings([]string{claim}))
			done = append(done, f.single+" copied to "+f.list)
		}
	}
	source := entry.Get("source").Text()
	address := source // URL of a key set, plain or in base64; it may also be a key, which must not be in a list of URLs
	if decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(source, "=")); err == nil && classic.IsAddress(string(decoded)) {
		address = string(decoded)
	}
	if !classic.IsAddress(address) || entry.Get("jwksURIs").Len() > 0 {
		return done
	}
	entry.Set("jwksURIs", doc.NewArray(keySetEntry(address, "cacheTimeout")))
	if definition.Get("jwt_source").Text() == source && definition.Get("jwt_jwks_uris").Len() == 0 {
		definition.Set("jwt_jwks_uris", doc.NewArray(keySetEntry(address, "cache_timeout")))
	}
	return append(done, "source copied to jwksURIs")
}

func keySetEntry(address, timeout string) *doc.Node {
	n := doc.NewObject()
	n.Set("url", doc.NewString(address))
	n.Set(timeout, doc.NewString("0s"))
	return n
}
