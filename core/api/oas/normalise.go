package oas

import (
	"encoding/base64"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Normalise changes a document in place to the form in which it is saved, before it is
// extracted. Lists of claims of JWT schemes also set the single member that older gateways
// read, endpoint timeouts also set whole seconds, the padding of key sources is repaired, and
// whole numbers are written as such. OpenID Connect keeps its single claim, because gateways
// read both members there.
func Normalise(document *doc.Node) {
	ext := document.Get(ExtensionKey)
	extensionTree.respell(ext)
	a := ext.Get("server", "authentication")
	for name, entry := range a.Get("securitySchemes").Members() {
		if Recognise(nativeScheme(document, name), entry) != SchemeJWT {
			continue
		}
		normaliseClaims(entry, "subjectClaims", "identityBaseField")
		normaliseClaims(entry, "basePolicyClaims", "policyFieldName")
		normaliseClaims(entry.Get("scopes"), "claims", "claimName")
		if source := entry.Get("source").Text(); source != "" {
			assign(entry, doc.NewString(PadBase64(source)), "source")
		}
	}
	for _, kind := range []string{"operations", "mcpTools", "mcpResources", "mcpPrompts"} {
		for _, op := range ext.Get("middleware", kind).Members() {
			timeout := op.Get("enforceTimeout")
			if wait := ParseDuration(timeout.Get("duration").Text()); wait != 0 {
				assign(timeout, doc.NewInt(RoundUpSeconds(wait)), "value")
			}
		}
	}
}

// normaliseClaims sets the single value to the first of the list.
func normaliseClaims(block *doc.Node, list, single string) {
	if claim := first(block.Get(list)).Text(); claim != "" {
		assign(block, doc.NewString(claim), single)
	}
}

// PadBase64 completes the padding of base64 text; other text is returned unchanged.
func PadBase64(s string) string {
	bare := strings.TrimRight(s, "=")
	padded := bare + strings.Repeat("=", (4-len(bare)%4)%4)
	if _, err := base64.StdEncoding.DecodeString(padded); err != nil || len(bare)%4 == 1 {
		return s
	}
	return padded
}
