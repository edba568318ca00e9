package apidef

import (
	"slices"
	"strings"
)

// Address returns where gateways listen for the API: the domain in lower case and the path as
// written. Two APIs of an organisation must not share an address
// (docs/wire/apis.md#create-replace-delete). It is "" when the API has no listen path, as with
// TCP services.
func (a API) Address() string {
	if a.facts.listenPath == "" {
		return ""
	}
	return strings.ToLower(a.facts.domain) + " " + a.facts.listenPath
}

// Places returns values that are unique in the organisation: the address combined with each
// tag (gateway segment) of the API. An API without tags is for all segments.
func (a API) Places() []string {
	at := a.Address()
	if at == "" {
		return nil
	}
	if len(a.facts.tags) == 0 {
		return []string{at}
	}
	var out []string
	for _, tag := range distinct(a.facts.tags) {
		out = append(out, at+" "+tag)
	}
	return out
}

// Collides reports whether a gateway would have to serve both APIs at the same address.
func (a API) Collides(b API) bool {
	if a.Address() == "" || a.Address() != b.Address() {
		return false
	}
	if len(a.facts.tags) == 0 || len(b.facts.tags) == 0 {
		return true
	}
	theirs := make(map[string]bool, len(b.facts.tags))
	for _, tag := range b.facts.tags {
		theirs[tag] = true
	}
	return slices.ContainsFunc(a.facts.tags, func(tag string) bool { return theirs[tag] })
}
