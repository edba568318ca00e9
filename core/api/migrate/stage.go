package migrate

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// The prefixes of a staged copy (docs/wire/migration.md#modes).
const (
	stagedID   = "staging-"
	stagedName = "[staged] "
	stagedPath = "/tyk-staging"
)

// StagedID returns the API ID of the staged copy of an API.
func StagedID(apiID string) string { return stagedID + apiID }

// Stage returns a migrated API as a copy that can be tried beside the original: with other
// IDs, names and listen paths in both forms, and without database IDs.
func Stage(r Result) Result {
	return r.rename(renaming{
		id:   StagedID,
		name: func(name string) string { return stagedName + name },
		path: func(path, id string) string {
			if validation.IsReference(path) { // a path cannot be put below a reference, which gateways replace with a path
				path = id + "/"
			}
			return stagedPath + "/" + strings.TrimPrefix(path, "/")
		},
	})
}

// Promote returns a staged copy, as it is now stored, as the replacement of its classic API:
// with the API ID, database ID, name and listen path of the original. Children lose the
// prefixes of staging.
func Promote(staged Result, original *doc.Node) Result {
	out := staged.rename(renaming{
		id:   func(id string) string { return strings.TrimPrefix(id, stagedID) },
		name: func(name string) string { return strings.TrimPrefix(name, stagedName) },
		path: unstagePath,
	})
	out.Base = out.Base.identify(identity{
		id:   original.Get("api_id").Text(),
		dbID: original.Get("id").Text(),
		name: original.Get("name").Text(),
		path: original.Get("proxy", "listen_path").Text(),
	})
	for i := range out.Versions {
		out.Versions[i].BaseID = original.Get("api_id").Text()
	}
	return out
}

// unstagePath removes the staging segment from a path that begins with it.
func unstagePath(path, _ string) string {
	if rest, ok := strings.CutPrefix(path, stagedPath); ok && strings.HasPrefix(rest, "/") {
		return rest
	}
	return path
}

type renaming struct {
	id, name func(string) string
	path     func(path, id string) string
}

// identity is the values in which an API and its copy differ.
type identity struct {
	id, dbID, name, path string
}

func (r Result) rename(by renaming) Result {
	out := Result{Base: r.Base.rename(by)}
	for _, v := range r.Versions {
		out.Versions = append(out.Versions, v.rename(by))
	}
	return out
}

func (v Version) rename(by renaming) Version {
	out := v.identify(identity{
		id:   by.id(v.Classic.Get("api_id").Text()),
		name: by.name(v.Classic.Get("name").Text()),
		path: by.path(v.Classic.Get("proxy", "listen_path").Text(), v.Classic.Get("api_id").Text()),
	})
	if v.BaseID != "" {
		out.BaseID = by.id(v.BaseID)
	}
	routes := out.Classic.Get("definition", "versions")
	for _, name := range routes.Names() {
		routes.Set(name, doc.NewString(by.id(routes.Get(name).Text())))
	}
	for _, route := range out.OAS.Get(oas.ExtensionKey, "info", "versioning", "versions").Items() {
		route.Set("id", doc.NewString(by.id(route.Get("id").Text())))
	}
	return out
}

// identify returns a copy of v with another identity. The title of the document stays, because
// its authors wrote it.
func (v Version) identify(as identity) Version {
	v.Classic, v.OAS = v.Classic.Clone(), v.OAS.Clone()
	v.Classic.Set("api_id", doc.NewString(as.id))
	v.Classic.Set("id", doc.NewString(as.dbID))
	v.Classic.Set("name", doc.NewString(as.name))
	v.Classic.Put(doc.NewString(as.path), "proxy", "listen_path")
	v.OAS.Put(doc.NewString(as.id), oas.ExtensionKey, "info", "id")
	v.OAS.Put(doc.NewString(as.name), oas.ExtensionKey, "info", "name")
	v.OAS.Put(doc.NewString(as.path), oas.ExtensionKey, "server", "listenPath", "value")
	v.OAS.Delete(oas.ExtensionKey, "info", "dbId")
	if as.dbID != "" {
		v.OAS.Put(doc.NewString(as.dbID), oas.ExtensionKey, "info", "dbId")
	}
	return v
}
