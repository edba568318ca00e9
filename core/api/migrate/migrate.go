// Package migrate converts definitions to newer forms: classic API definitions become OpenAPI
// documents (docs/wire/migration.md#steps, docs/wire/migration.md#modes), and stored documents
// get the fields that have replaced older ones
// (docs/wire/start.md#what-a-start-brings-up-to-date).
package migrate

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// openAPI is the OpenAPI version of the documents that migration writes.
const openAPI = "3.0.6"

// Result is a classic API as OAS: a base, and one child for each further version.
type Result struct {
	Base     Version
	Versions []Version // sorted by name
	Repeated int       // approximate bytes of repeated parts: for cached paths and methods of endpoints
	Notes    []string  // for users: members that are dropped or change their meaning
}

// Version is one API in both forms.
type Version struct {
	Name    string // of the version
	BaseID  string // API ID of the base; "" for the base itself
	Classic *doc.Node
	OAS     *doc.Node
}

// Convert migrates a classic definition without changing it. newID returns a new API ID for
// each child, 32 hex digits. A definition that OAS cannot express is refused with a
// *fault.Error of kind Invalid that names the field. The caller still has to validate the
// documents: a definition that breaks a rule of OAS APIs breaks it after migration too
// (docs/wire/migration.md#steps).
func Convert(classic *doc.Node, newID func() string) (Result, error) {
	if !classic.Is(doc.TypeObject) {
		return Result{}, refuse("migrate.definition", "", "The API has no classic definition")
	}
	def := classic.Clone()
	prepare(def)
	parts, err := split(def, newID)
	if err != nil {
		return Result{}, err
	}
	out := Result{Notes: methodNotes(def)}
	for _, p := range parts {
		out.Repeated += repeats(p.def)
	}
	if out.Repeated > MaxRepeated {
		return Result{}, refuse("migrate.too_large", "version_data.versions",
			"Cached paths and methods of endpoints would repeat more than %d MiB of the API", MaxRepeated>>20)
	}
	for i, p := range parts {
		out.Notes = append(out.Notes, notes(p.name, p.def.Get("version_data", "versions", ""))...)
		v, err := p.convert()
		if err != nil {
			return Result{}, err
		}
		if i == 0 {
			out.Base = v
		} else {
			out.Versions = append(out.Versions, v)
		}
	}
	return out, nil
}

// part is one API of a migration, still only in the classic form.
type part struct {
	name   string
	baseID string
	def    *doc.Node
}

func (p part) convert() (Version, error) {
	if p.name == "" {
		return Version{}, refuse("migrate.version_name", "version_data.versions",
			"A version has an empty name: an OAS API cannot be made of it until it is named")
	}
	v := p.def.Get("version_data", "versions", "")
	splitMethodActions(v)
	expandCacheList(v, p.def.Get("cache_options"))
	for _, block := range []string{"global_headers", "global_response_headers"} {
		if v.Get(block).Len() == 0 && v.Get(block+"_remove").Len() == 0 {
			v.Set(block+"_disabled", doc.NewBool(true))
		}
	}
	// Durations get the spelling of extraction; the first two are written even when they are
	// zero.
	spell(v, "global_enforce_timeout")
	for _, uri := range p.def.Get("jwt_jwks_uris").Items() {
		spell(uri, "cache_timeout")
	}
	for _, entry := range v.Get("extended_paths", "hard_timeouts").Items() {
		if entry.Get("duration") != nil {
			spell(entry, "duration")
		}
	}
	for _, m := range v.Get("extended_paths", "mock_response").Items() {
		if code := m.Get("code").Int(); code < 100 || code > 599 { // a document cannot have this code
			return Version{}, refuse("migrate.mock_code", "version_data.versions."+p.name+".extended_paths",
				"The response to %s %s has the status code %d; it must be between 100 and 599",
				m.Get("method").Text(), m.Get("path").Text(), code)
		}
	}
	document := doc.NewObject()
	document.Set("openapi", doc.NewString(openAPI))
	document.Put(doc.NewString(p.def.Get("name").Text()), "info", "title")
	document.Put(doc.NewString(p.name), "info", "version")
	document = oas.Fill(document, p.def)
	oas.Conform(document)
	v.Delete("extended_paths", "validate_json") // gateways use the document for it
	return Version{Name: p.name, BaseID: p.baseID, Classic: p.def, OAS: document}, nil
}

func refuse(code, field, format string, args ...any) error {
	return fault.New(fault.Invalid, code, format, args...).At(field)
}

// Skip returns why an API with this definition cannot be migrated: a key of the response's
// list of skipped APIs and a text. Both are empty when migration can be tried
// (docs/wire/migration.md#skipped, docs/wire/migration.md#modes).
func Skip(classic *doc.Node, isStreams bool) (key, message string) {
	protocol := strings.ToLower(classic.Get("protocol").Text())
	scheme, _, _ := strings.Cut(strings.ToLower(classic.Get("proxy", "target_url").Text()), "://")
	switch {
	case isStreams:
		return "is_streams", "Streams APIs are OAS APIs already"
	case classic.Get("is_oas").True():
		return "already_migrated", "The API is an OAS API already"
	case protocol == "tcp" || protocol == "tls":
		return "is_tcp", "APIs of TCP and TLS services cannot be migrated"
	case protocol == "ws" || protocol == "wss" || scheme == "ws" || scheme == "wss":
		return "is_websocket", "WebSocket APIs cannot be migrated"
	case classic.Get("graphql", "enabled").True():
		return "is_graphql", "GraphQL APIs cannot be migrated"
	}
	return "", ""
}
