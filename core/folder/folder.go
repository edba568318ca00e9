// Package folder reads the files of gateways and control planes: API definitions, OpenAPI
// documents, policies and identity providers of clients. The content of a file determines its
// kind, not its place.
package folder

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// File is one file of a folder. Its name is relative to the folder, with slashes.
type File struct {
	Name string
	Text []byte
}

// Problem is one error in a file.
type Problem struct {
	File    string `json:"file"`
	Field   string `json:"field"` // dotted place in the file; "": the whole file
	Message string `json:"message"`
}

// String returns the problem as one line.
func (p Problem) String() string {
	if p.Field == "" {
		return p.File + ": " + p.Message
	}
	return p.File + ": " + p.Field + ": " + p.Message
}

// Place is where something was found.
type Place struct {
	File string
	At   string // dotted place in the file; "": the whole file
}

// String returns the place in a readable form.
func (p Place) String() string {
	if p.At == "" {
		return p.File
	}
	return p.File + " (" + p.At + ")"
}

// Problem returns a problem with a field of the object at this place.
func (p Place) Problem(field, format string, args ...any) Problem {
	return Problem{File: p.File, Field: join(p.At, field), Message: fmt.Sprintf(format, args...)}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "." + b
}

// API is an API of any class, in the forms in which it was found.
type API struct {
	ID         string // API ID
	Class      apidef.Class
	Place      Place     // of the definition, or of the document if there is none
	DocumentAt Place     // of the document, if there is one
	Definition *doc.Node // classic form; nil: only the document was found
	Document   *doc.Node // nil for a classic API
	Wrapper    doc.Object
	bad        bool // it has a problem and cannot be used
}

// Name returns the name of the API.
func (a API) Name() string {
	if name := a.Document.Get(extension, "info", "name").Text(); name != "" {
		return name
	}
	return a.Definition.Get("name").Text()
}

// Policy is a policy with its identifier.
type Policy struct {
	ID    string // id, or otherwise _id
	Place Place
	Node  *doc.Node
}

// IdP is an identity provider of clients.
type IdP struct {
	ID    string // client_idp_id, or otherwise _id
	Place Place
	Node  *doc.Node
}

// Bundle is the contents of a folder, sorted by file.
type Bundle struct {
	APIs     []API
	Policies []Policy
	IdPs     []IdP
	// Ignored lists files that are ignored because of their name, with the reason.
	Ignored []Problem
	// Notes lists values that were read differently from how they are written.
	Notes []Problem
}

// Len returns the number of APIs, policies and providers in the bundle.
func (b Bundle) Len() int { return len(b.APIs) + len(b.Policies) + len(b.IdPs) }

// Read reads files. A file that cannot be parsed or understood is a problem, and not in the
// bundle. Files without a name for JSON are listed as ignored.
func Read(files []File) (Bundle, []Problem) {
	var r reader
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range files {
		if ext := strings.ToLower(path.Ext(f.Name)); ext != ".json" {
			r.bundle.Ignored = append(r.bundle.Ignored, Problem{File: f.Name, Message: "is no JSON file by its name, and is left out"})
			continue
		}
		n, err := doc.ParseNode(f.Text)
		if err != nil {
			r.problem(Place{File: f.Name}, "", "%s", err.Error())
			continue
		}
		r.read(Place{File: f.Name}, n)
	}
	r.pair()
	r.bundle.APIs = slices.DeleteFunc(r.bundle.APIs, func(a API) bool { return a.bad })
	// Of two objects of a kind with the same identifier, it would be random which one counts.
	b := &r.bundle
	b.APIs = once(&r, "API", "api_id", b.APIs, func(a API) (string, Place) { return a.ID, a.Place })
	b.Policies = once(&r, "policy", "id", b.Policies, func(p Policy) (string, Place) { return p.ID, p.Place })
	b.IdPs = once(&r, "identity provider", "client_idp_id", b.IdPs, func(p IdP) (string, Place) { return p.ID, p.Place })
	return r.bundle, r.problems
}

// reader collects the results.
type reader struct {
	bundle    Bundle
	problems  []Problem
	documents []*document
}

func (r *reader) problem(at Place, field, format string, args ...any) {
	r.problems = append(r.problems, at.Problem(field, format, args...))
}

func (r *reader) note(at Place, field, format string, args ...any) {
	r.bundle.Notes = append(r.bundle.Notes, at.Problem(field, format, args...))
}

// once refuses objects of a kind after the first one with the same identifier.
func once[T any](r *reader, noun, field string, list []T, of func(T) (string, Place)) []T {
	seen := map[string]Place{}
	return slices.DeleteFunc(list, func(v T) bool {
		id, at := of(v)
		first, twice := seen[id]
		if twice {
			r.problem(at, field, "the %s %q is in %s already", noun, id, first)
			return true
		}
		seen[id] = at
		return false
	})
}

// ReadAPI reads one API from a list: a wrapper or a definition. Even with problems, the bundle
// contains the API if it has an identifier.
func ReadAPI(at Place, n *doc.Node) (Bundle, []Problem) {
	var r reader
	switch {
	case n.Get("api_definition") != nil:
		r.wrapper(at, n)
	case isDefinition(n):
		r.definition(at, n)
	default:
		r.problem(at, "api_definition", "is required")
	}
	r.pair()
	return r.bundle, r.problems
}

// ReadPolicy reads one policy from a list.
func ReadPolicy(at Place, n *doc.Node) (Bundle, []Problem) {
	var r reader
	if n.Is(doc.TypeObject) {
		r.policy(at, "", n)
	} else {
		r.problem(at, "", "must be a policy, an object")
	}
	return r.bundle, r.problems
}
