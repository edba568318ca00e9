package idp

import (
	"cmp"
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
// The addresses of several providers stand in jwt_jwks_uris, which gateways prefer to the one
// of jwt_source. A key that the definition has itself is not replaced.
func (t Trust) Classic(name string, definition *doc.Node) (changed bool, err error) {
	if !definition.Get("enable_jwt").True() {
		return false, t.refused(name, "does not authenticate by JWT, as its definition says")
	}
	changed, refused := t.keys(definition, "jwt_jwks_uris", "jwt_source", true)
	if refused {
		return false, t.refused(name, "has a key of its own")
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

// keys writes the address of the keys into a list, in which the one of a single source comes
// first when there is one, or as that source. A source that is a key is not replaced.
func (t Trust) keys(n *doc.Node, many, one string, single bool) (changed, refused bool) {
	list, source := n.Get(many).Items(), n.Get(one).Text()
	other := cmp.Or(decoded(source), source)
	known := slices.ContainsFunc(list, func(n *doc.Node) bool { return n.Get("url").Text() == t.JWKSURI })
	switch {
	case known, len(list) == 0 && other == t.JWKSURI:
		return false, false
	case len(list) == 0 && source == "" && single:
		n.Set(one, doc.NewString(base64.StdEncoding.EncodeToString([]byte(t.JWKSURI))))
		return true, false
	case len(list) == 0 && source != "":
		if !strings.HasPrefix(other, "http://") && !strings.HasPrefix(other, "https://") {
			return false, true
		}
		list = append(list, uri(other))
	}
	n.Set(many, doc.NewArray(append(list, uri(t.JWKSURI))...))
	return true, false
}

// uri is an address of keys as definitions list it.
func uri(address string) *doc.Node {
	n := doc.NewObject()
	n.Set("url", doc.NewString(address))
	return n
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
	changed, refused := t.keys(at, "jwksURIs", "source", false)
	if refused {
		return false, t.refused(name, "has a key of its own")
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
