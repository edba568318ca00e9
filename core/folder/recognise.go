package folder

import (
	"fmt"
	"path"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// The extensions of OpenAPI documents.
const (
	extension = "x-tyk-api-gateway"
	streaming = "x-tyk-streaming"
)

// form is a possible kind of value.
type form struct {
	fits func(Place, *doc.Node) bool
	read func(*reader, Place, *doc.Node)
}

// forms are tried in order: those with an unambiguous member come first.
func forms() []form {
	return []form{
		{func(_ Place, n *doc.Node) bool { return n.Get("openapi").Is(doc.TypeString) }, (*reader).document},
		{func(_ Place, n *doc.Node) bool { return n.Get("api_definition") != nil }, (*reader).wrapper},
		{list("apis"), each("apis")},
		{list("Data"), each("Data")},
		{list("client_idps"), each("client_idps")},
		{func(_ Place, n *doc.Node) bool { return isDefinition(n) }, (*reader).definition},
		{func(_ Place, n *doc.Node) bool {
			return n.Get("jwks_uri") != nil && n.Get("proxy") == nil || n.Get("client_idp_id") != nil
		}, (*reader).idp},
		{func(_ Place, n *doc.Node) bool { return isPolicy(n) }, func(r *reader, at Place, n *doc.Node) { r.policy(at, "", n) }},
		{isPolicies, (*reader).policies},
	}
}

const wanted = "none of what can be imported: an API definition, an OpenAPI document, a wrapper with api_definition, a list of these in apis, " +
	"a policy, policies by id, a list of them in Data, an identity provider, or a list of them in client_idps"

// read determines the kind of a value, and keeps it.
func (r *reader) read(at Place, n *doc.Node) {
	if n.Is(doc.TypeArray) {
		for i, item := range n.Items() {
			r.read(Place{at.File, join(at.At, fmt.Sprint(i))}, item)
		}
		return
	}
	for _, f := range forms() {
		if n.Is(doc.TypeObject) && f.fits(at, n) {
			f.read(r, at, n)
			return
		}
	}
	r.problem(at, "", "is %s", wanted)
}

// list recognises an export with a list of this name.
func list(name string) func(Place, *doc.Node) bool {
	return func(_ Place, n *doc.Node) bool { return n.Get(name).Is(doc.TypeArray, doc.TypeNull) }
}

// each reads the items of an export.
func each(name string) func(*reader, Place, *doc.Node) {
	return func(r *reader, at Place, n *doc.Node) {
		for i, item := range n.Get(name).Items() {
			r.read(Place{at.File, join(at.At, fmt.Sprintf("%s.%d", name, i))}, item)
		}
	}
}

func isDefinition(n *doc.Node) bool {
	return n.Get("proxy").Is(doc.TypeObject) || n.Get("version_data") != nil && n.Get("api_id") != nil
}

// isPolicy reports whether n gives access, or limits it.
func isPolicy(n *doc.Node) bool {
	for _, name := range []string{"access_rights", "access_rights_array", "quota_max", "quota_renewal_rate", "partitions"} {
		if n.Get(name) != nil {
			return !n.Get(name, "access_rights").Is(doc.TypeObject) // a policy named access_rights
		}
	}
	return n.Get("rate").Is(doc.TypeNumber) && n.Get("per").Is(doc.TypeNumber)
}

// isPolicies reports whether n is policies by ID, as gateways read them from one file.
func isPolicies(at Place, n *doc.Node) bool {
	if at.At == "" && path.Base(at.File) == "policies.json" {
		return true
	}
	for _, v := range n.Members() {
		if v.Is(doc.TypeObject) && isPolicy(v) {
			return true
		}
	}
	return false
}

// stem returns the common part of the names of a document and its definition, and reports
// whether the file is named like a document.
func stem(name string) (string, bool) {
	base := strings.TrimSuffix(name, path.Ext(name))
	for _, suffix := range []string{"-oas", "-mcp"} {
		if s, ok := strings.CutSuffix(base, suffix); ok && path.Base(s) != "" {
			return s, true
		}
	}
	return base, false
}
