package oas

import "strings"

// empty says what the extension shows for a member without content.
type empty uint8

const (
	absent    empty = iota // nothing; so of all members that are not listed
	emptyList              // []
	null                   // null
	zeroBlock              // an object with the members that are always written
	kept                   // itself, however empty
	content                // itself: its absence says something else
)

// empties are the members whose emptiness shows, by their paths in the table; items of
// lists and of maps are []. A member is shown as long as something else in the block
// around it is; a block of nothing but empty members is left out as a whole.
var empties = map[string]empty{
	"info":              kept,
	"info.state":        kept,
	"upstream":          kept,
	"server":            kept,
	"server.listenPath": kept,

	"info.versioning.versions":                               emptyList,
	"upstream.mutualTLS.domainToCertificateMapping":          emptyList,
	"upstream.certificatePinning.domainToPublicKeysMapping":  null,
	"upstream.authentication.oauth.clientCredentials.header": null,
	"upstream.authentication.oauth.password.header":          null,
	"server.authentication.custom.config.idExtractor.config": null,
	"server.eventHandlers[].name":                            kept, // where there is one: gateways want it of scripts and logs
	"errorOverrides.value[].match":                           kept,
	"errorOverrides.value[].response":                        zeroBlock,

	"<authToken>.signatureValidation.query":               zeroBlock,
	"<jwt>.jtiValidation":                                 zeroBlock,
	"<externalOAuth>.providers":                           null,
	"<externalOAuth>.providers[].introspection.cache":     null,
	"<oauth2>.protectedResourceMetadata.autoDeriveScopes": content,

	"middleware.operations[].allow":                kept,
	"middleware.operations[].block":                kept,
	"middleware.operations[].ignoreAuthentication": kept,
	"middleware.operations[].exchange.enabled":     content,
}

// within is the path of a member of an object.
func within(path, member string) string {
	if path == "" {
		return member
	}
	return path + "." + member
}

// items is the path of the items of a list or map, whose own path may end in ".*".
func items(path string) string { return strings.TrimSuffix(path, ".*") + "[]" }
