package folder

import (
	"path"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/mcp"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// document is an OpenAPI document in a file of its own.
type document struct {
	place Place
	id    string // API ID in the document; "" if only its file name has one
	stem  string // file name without the suffix of documents; "" in a list
	isMCP bool   // according to the name of its file
	node  *doc.Node
	taken bool // a definition uses it
}

func (r *reader) document(at Place, n *doc.Node) {
	if n.Get(extension) == nil && n.Get(streaming) == nil {
		r.problem(at, "", "is a plain OpenAPI description: it lacks %s; import it with POST /api/apis/oas/import", extension)
		return
	}
	d := &document{place: at, id: n.Get(extension, "info", "id").Text(), node: n}
	if at.At == "" {
		d.stem, _ = stem(at.File)
		d.isMCP = strings.HasSuffix(at.File, "-mcp.json")
	}
	r.documents = append(r.documents, d)
}

// wrapper keeps an API in the form of classic endpoints and exports
// (docs/wire/apis.md#wrapper).
func (r *reader) wrapper(at Place, n *doc.Node) {
	def := n.Get("api_definition")
	if !def.Is(doc.TypeObject) {
		r.problem(at, "api_definition", "must be an object")
		return
	}
	a := API{Place: Place{at.File, join(at.At, "api_definition")}, Definition: def}
	if document := n.Get("oas"); !document.Is(doc.Absent, doc.TypeNull) {
		if !document.Is(doc.TypeObject) {
			r.problem(at, "oas", "must be an object")
			return
		}
		a.Document, a.DocumentAt = document, Place{at.File, join(at.At, "oas")}
	}
	rest := n.Clone()
	rest.Delete("api_definition")
	rest.Delete("oas")
	var err error
	if a.Wrapper, err = doc.ParseObject(rest.JSON()); err != nil {
		r.problem(at, "", "%s", err.Error())
		return
	}
	r.api(a, n.Get("is_streams").True())
}

// definition keeps a classic definition without a wrapper.
func (r *reader) definition(at Place, n *doc.Node) { r.api(API{Place: at, Definition: n}, false) }

func (r *reader) api(a API, streams bool) {
	a.ID = a.Definition.Get("api_id").Text()
	if a.ID == "" {
		a.ID = a.Document.Get(extension, "info", "id").Text()
	}
	if streams {
		a.Class = apidef.Streams
	}
	r.bundle.APIs = append(r.bundle.APIs, a)
}

// pair assigns to each definition its document, and makes an API from every remaining
// document.
func (r *reader) pair() {
	for i := range r.bundle.APIs {
		a := &r.bundle.APIs[i]
		if a.Document == nil && a.Definition.Get("is_oas").True() {
			r.adopt(a)
		}
		r.identify(a)
	}
	for _, d := range r.documents {
		if d.taken {
			continue
		}
		a := API{ID: d.id, Place: d.place, DocumentAt: d.place, Document: d.node}
		if name, ok := stem(d.place.File); a.ID == "" && ok && d.place.At == "" {
			a.ID = path.Base(name)
		}
		if d.isMCP {
			a.Class = apidef.MCP
		}
		r.identify(&a)
		r.bundle.APIs = append(r.bundle.APIs, a)
	}
}

// adopt finds the document of a definition: the one with its API ID, or otherwise the one in a
// file with a name derived from its file or its API ID.
func (r *reader) adopt(a *API) {
	d := r.unclaimed(func(d *document) bool { return d.id != "" && d.id == a.ID })
	if d == nil {
		own, _ := stem(a.Place.File)
		d = r.unclaimed(func(d *document) bool {
			return d.stem != "" && (a.Place.At == "" && d.stem == own || d.id == "" && path.Base(d.stem) == a.ID)
		})
	}
	if d == nil {
		a.bad = true
		r.problem(a.Place, "is_oas", "is true, but no file holds the OpenAPI document of API %q", a.ID)
		return
	}
	d.taken = true
	if d.id != "" && d.id != a.ID {
		a.bad = true
		r.problem(d.place, extension+".info.id", "is %q, but the definition in %s has the api_id %q", d.id, a.Place, a.ID)
	}
	a.Document, a.DocumentAt = d.node, d.place
	if d.isMCP {
		a.Class = apidef.MCP
	}
}

func (r *reader) unclaimed(fits func(*document) bool) *document {
	for _, d := range r.documents {
		if !d.taken && fits(d) {
			return d
		}
	}
	return nil
}

// identify sets the class of an API, and requires an identifier.
func (r *reader) identify(a *API) {
	// Only MCP proxies have primitives (docs/wire/mcp-proxies.md#primitives).
	has := func(primitives string) bool { return a.Document.Get(extension, "middleware", primitives).Len() > 0 }
	switch {
	case a.Document == nil:
		a.Class = apidef.Classic
	case a.Class == apidef.MCP || mcp.Managed(a.Definition) || has("mcpTools") || has("mcpResources") || has("mcpPrompts"):
		a.Class = apidef.MCP
	case a.Class == apidef.Streams || a.Document.Get(streaming) != nil:
		a.Class = apidef.Streams
	default:
		a.Class = apidef.OAS
	}
	if a.bad = a.bad || a.ID == ""; a.ID != "" {
		return
	}
	if a.Definition != nil {
		r.problem(a.Place, "api_id", "is missing: an API is imported under its identifier")
		return
	}
	r.problem(a.Place, extension+".info.id", "is missing: an API is imported under its identifier")
}
