package idp

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// CodeDefinition is the code of the fault for an API whose definition cannot take the keys
// of an identity provider.
const CodeDefinition = Kind + ".definition"

// Trust is what the definition of an API has to say of an identity provider, where the
// registry is off.
type Trust struct {
	JWKSURI string
	Claim   string            // "": scope
	Scopes  map[string]string // policies by scope
}

// Classic writes the trust into a classic definition, and reports whether that changed it.
// Such a definition has one source of keys only.
func (t Trust) Classic(name string, definition *doc.Node) (changed bool, err error) {
	if !definition.Get("enable_jwt").True() {
		return false, t.refused(name, "does not authenticate by JWT, as its definition says")
	}
	switch source := definition.Get("jwt_source").Text(); {
	case source == "":
		definition.Set("jwt_source", doc.NewString(base64.StdEncoding.EncodeToString([]byte(t.JWKSURI))))
		changed = true
	case source != t.JWKSURI && decoded(source) != t.JWKSURI:
		return false, t.refused(name, "has keys of its own, or of another identity provider")
	}
	if t.Claim != "" && definition.Get("scopes", "jwt", "scope_claim_name").Text() == "" {
		definition.Put(doc.NewString(t.Claim), "scopes", "jwt", "scope_claim_name")
		changed = true
	}
	pairs := definition.Get("scopes", "jwt", "scope_to_policy")
	if !pairs.Is(doc.TypeObject) {
		pairs = doc.NewObject()
	}
	for _, scope := range slices.Sorted(maps.Keys(t.Scopes)) {
		if pairs.Get(scope).Text() != t.Scopes[scope] {
			pairs.Set(scope, doc.NewString(t.Scopes[scope]))
			changed = true
		}
	}
	if changed {
		definition.Put(pairs, "scopes", "jwt", "scope_to_policy")
	}
	return changed, nil
}

func decoded(source string) string {
	text, err := base64.StdEncoding.DecodeString(source)
	if err != nil {
		return ""
	}
	return string(text)
}

// extension is the member of OpenAPI documents with the settings of gateways.
const extension = "x-tyk-api-gateway"

// Document writes the trust into the JWT scheme of an OpenAPI document, and reports whether
// that changed it. A key that the document has itself is not replaced.
func (t Trust) Document(name string, d *doc.Node) (changed bool, err error) {
	scheme := jwtScheme(d)
	if scheme == "" {
		return false, t.refused(name, "does not authenticate by JWT")
	}
	at := d.Get(extension, "server", "authentication", "securitySchemes", scheme)
	list := at.Get("jwksURIs").Items()
	source := at.Get("source").Text()
	known := slices.ContainsFunc(list, func(n *doc.Node) bool { return n.Get("url").Text() == t.JWKSURI })
	switch {
	case known, len(list) == 0 && (source == t.JWKSURI || decoded(source) == t.JWKSURI):
	case len(list) == 0 && source != "":
		return false, t.refused(name, "has keys of its own, or of another identity provider")
	default:
		uri := doc.NewObject()
		uri.Set("url", doc.NewString(t.JWKSURI))
		at.Set("jwksURIs", doc.NewArray(append(list, uri)...))
		changed = true
	}
	if t.Claim != "" && at.Get("scopes", "claimName").Text() == "" && at.Get("scopes", "claims").Len() == 0 {
		at.Put(doc.NewString(t.Claim), "scopes", "claimName")
		changed = true
	}
	return t.pairs(at) || changed, nil
}

// pairs adds the scopes to the list of a scheme.
func (t Trust) pairs(at *doc.Node) (changed bool) {
	list := at.Get("scopes", "scopeToPolicyMapping").Items()
	for _, scope := range slices.Sorted(maps.Keys(t.Scopes)) {
		i := slices.IndexFunc(list, func(n *doc.Node) bool { return n.Get("scope").Text() == scope })
		switch {
		case i < 0:
			pair := doc.NewObject()
			pair.Set("scope", doc.NewString(scope))
			pair.Set("policyId", doc.NewString(t.Scopes[scope]))
			list, changed = append(list, pair), true
		case list[i].Get("policyId").Text() != t.Scopes[scope]:
			list[i].Set("policyId", doc.NewString(t.Scopes[scope]))
			changed = true
		}
	}
	if changed {
		at.Put(doc.NewArray(list...), "scopes", "scopeToPolicyMapping")
	}
	return changed
}

// jwtScheme returns the name of the first scheme for JWTs that the extension knows.
func jwtScheme(d *doc.Node) string {
	for name, scheme := range d.Get("components", "securitySchemes").Members() {
		if scheme.Get("type").Text() == "http" && strings.EqualFold(scheme.Get("scheme").Text(), "bearer") && scheme.Get("bearerFormat").Text() == "JWT" &&
			d.Get(extension, "server", "authentication", "securitySchemes", name).Is(doc.TypeObject) {
			return name
		}
	}
	return ""
}

func (t Trust) refused(name, why string) error {
	return fault.New(fault.Invalid, CodeDefinition, "the API %s %s: use the registry of the dashboard, or change the API", name, why)
}
