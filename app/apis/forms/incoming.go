package forms

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// Incoming completes the draft of an API from elsewhere, and returns all of its
// problems. Their fields are those of the document, or of the classic definition.
func (f *Forms) Incoming(d *apidef.Draft) (problems []validation.Problem) {
	problems = ProblemsOf(Wrapper(d.Wrapper))
	if d.Class == apidef.Streams || d.Document.Get(streamsKey) != nil {
		problems = append(problems, ProblemsOf(f.StreamsOn())...)
	}
	if def := d.Definition; d.Document == nil {
		def.Set("id", doc.NewString(d.ID))
		def.Set("api_id", doc.NewString(d.APIID))
		def.Set("org_id", doc.NewString(string(d.OrgID)))
		err := f.Classic(d)
		if err == nil {
			return problems
		}
		all := append(typeProblems(classic.Check(def)), validation.Classic(def)...)
		for _, p := range append(ProblemsOf(required(def)), ProblemsOf(err)...) {
			if !slices.ContainsFunc(all, func(known validation.Problem) bool { return known.Field == p.Field }) {
				all = append(all, p)
			}
		}
		return append(problems, all...)
	}
	// The classic form is derived from the document. The addresses of gateways are not
	// changed until the next write.
	wrong := ProblemsOf(CheckAPIID(d.APIID))
	Identify(*d)
	if wrong = append(wrong, f.Problems(d.Document, d.Class, true)...); len(wrong) > 0 {
		return append(problems, wrong...)
	}
	f.normalise(d.Document)
	d.Definition = oas.Extract(d.Document, d.Definition, oas.Options{MCP: d.Class == apidef.MCP})
	d.Definition.Set("id", doc.NewString(d.ID))
	if unserved(d.Document) {
		return append(problems, ProblemsOf(shelve(d))...)
	}
	problems = append(problems, ProblemsOf(f.Writable(d.Document, nil))...)
	problems = append(problems, typeProblems(classic.Check(d.Definition))...)
	return append(problems, derivedProblems(d.Definition)...)
}

// Problems returns all problems of a document. With unknown, unknown members of the
// extension are accepted, because a newer gateway may know them.
func (f *Forms) Problems(document *doc.Node, class apidef.Class, unknown bool) []validation.Problem {
	problems := f.validate(document, class, unknown)
	if len(problems) == 0 {
		problems = typeProblems(feed.Document(document))
	}
	return problems
}

// typeProblems converts values that gateways could not decode to problems.
func typeProblems(problems []shape.Problem) (all []validation.Problem) {
	for _, p := range problems {
		all = append(all, validation.Problem{Field: p.Path, Message: p.Demand()})
	}
	return all
}
