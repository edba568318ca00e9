package migrate

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// defaultVersion is the version in which older definitions have their settings, and the name
// for a version without one.
const defaultVersion = "Default"

// MaxRepeated is the approximate maximum in bytes of what the children of an API repeat
// together: otherwise a small definition with many versions would become gigabytes.
const MaxRepeated = 64 << 20

// split makes one API of each version; the first is the base
// (docs/wire/migration.md#versions). A definition without versions counts as unversioned.
func split(def *doc.Node, newID func() string) ([]part, error) {
	if d := def.Get("definition"); d.Get("enabled").True() || d.Get("versions").Len() > 0 {
		return nil, refuse("migrate.versioning", "definition", "The API is versioned in the new way already")
	}
	data := def.Get("version_data")
	versions := data.Get("versions")
	name := baseVersion(data)
	if data.Get("not_versioned").True() {
		if versions.Len() > 1 {
			return nil, refuse("migrate.unversioned", "version_data.versions", "The API is not versioned but has %d versions", versions.Len())
		}
		def.Set("definition", doc.NewObject())
		flatten(def, version(versions, name))
		return []part{{name: cmp.Or(name, defaultVersion), def: def}}, nil
	}
	names := slices.DeleteFunc(versions.Names(), func(n string) bool { return n == name })
	slices.Sort(names)
	shared := def.Clone() // the part that each child repeats
	shared.Put(doc.NewObject(), "version_data", "versions")
	if n := len(names); n > 0 && shared.Weight(MaxRepeated) > MaxRepeated/n {
		return nil, refuse("migrate.too_large", "version_data.versions",
			"Each of the %d further versions would be an API that repeats what all versions share: more than %d MiB in all", n, MaxRepeated>>20)
	}
	ids := doc.NewObject()
	out := []part{{name: name, def: def}}
	for _, n := range names {
		id := newID()
		ids.Set(n, doc.NewString(id))
		out = append(out, part{name: n, baseID: def.Get("api_id").Text(), def: child(shared, n, id, version(versions, n))})
	}
	self := ""
	if versions.Get(data.Get("default_version").Text()) != nil {
		self = "self"
	}
	def.Put(doc.NewBool(true), "definition", "enabled")
	routes := def.Get("definition")
	routes.Set("name", doc.NewString(name))
	routes.Set("versions", ids)
	routes.Set("default", doc.NewString(self))
	if routes.Get("location").Text() == "url" {
		routes.Set("strip_versioning_data", doc.NewBool(routes.Get("strip_path").True()))
	}
	routes.Delete("strip_path")
	v := version(versions, name)
	def.Set("expiration", doc.NewString(v.Get("expires").Text()))
	flatten(def, v)
	return out, nil
}

// baseVersion returns the name of the version that becomes the base.
func baseVersion(data *doc.Node) string {
	versions := data.Get("versions")
	for _, name := range []string{data.Get("default_version").Text(), defaultVersion} {
		if versions.Get(name) != nil {
			return name
		}
	}
	if versions.Len() == 0 {
		return defaultVersion
	}
	return slices.Min(versions.Names())
}

// version returns a copy of the named version's settings.
func version(versions *doc.Node, name string) *doc.Node {
	if v := versions.Get(name); v.Is(doc.TypeObject) {
		return v.Clone()
	}
	return doc.NewObject()
}

// flatten makes v the only settings of a definition. The definition gets the target and the
// expiry of v.
func flatten(def, v *doc.Node) {
	if target := v.Get("override_target").Text(); target != "" {
		def.Put(doc.NewString(target), "proxy", "target_url")
	}
	v.Delete("override_target")
	v.Delete("expires")
	def.Put(doc.NewBool(true), "version_data", "not_versioned")
	def.Put(doc.NewString(""), "version_data", "default_version")
	versions := doc.NewObject()
	versions.Set("", v)
	def.Put(versions, "version_data", "versions")
}

// child makes the API of a version other than the base.
func child(base *doc.Node, name, id string, v *doc.Node) *doc.Node {
	def := base.Clone()
	escaped := url.QueryEscape(name)
	def.Set("api_id", doc.NewString(id))
	def.Set("id", doc.NewString(""))
	def.Set("name", doc.NewString(def.Get("name").Text()+"-"+escaped))
	def.Set("internal", doc.NewBool(true))
	def.Set("definition", doc.NewObject())
	def.Set("expiration", doc.NewString(v.Get("expires").Text()))
	// The listen path of the child is below that of its base. A path cannot be put below a
	// reference, which gateways replace with a path: then the child uses its API ID.
	listen := def.Get("proxy", "listen_path").Text()
	path := strings.TrimSuffix(listen, "/")
	switch {
	case validation.IsReference(listen):
		path = "/" + id + "/"
	case path == "":
		path = "/" + escaped + "/"
	default:
		path += "-" + escaped + "/"
	}
	def.Put(doc.NewString(path), "proxy", "listen_path")
	flatten(def, v)
	return def
}
