package apis

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Incoming is an API that comes whole from somewhere else: a file, or another
// control plane. Its trees become the Library's.
type Incoming struct {
	APIID      string
	Class      apidef.Class
	Definition *doc.Node // classic form; nil: what the document says
	Document   *doc.Node // nil for a classic API
	Wrapper    doc.Object
}

// Checked is an Incoming without faults.
type Checked struct {
	draft  apidef.Draft
	wanted string // database ID, or ""
}

// anyID stands for the database ID until it is known.
var anyID = strings.Repeat("0", 24)

// Check completes an API for an organisation and says everything that is wrong
// with it. Members of the extension that nobody knows pass: a newer gateway may.
// Fields are those of the document, or of the classic definition.
func (l *Library) Check(in Incoming, org tenant.ID) (Checked, []validation.Problem) {
	out := Checked{draft: apidef.Draft{
		ID: anyID, APIID: in.APIID, OrgID: org, Class: in.Class, Definition: in.Definition, Document: in.Document, Wrapper: in.Wrapper,
	}}
	out.wanted = databaseID(in)
	problems := problemsOf((&Wrapper{rest: in.Wrapper}).check())
	if in.Class == apidef.Streams || in.Document.Get(streamsKey) != nil {
		problems = append(problems, problemsOf(l.streamsOn())...)
	}
	if in.Document == nil {
		return out, append(problems, l.checkClassic(&out.draft)...)
	}
	return out, append(problems, l.checkDocument(&out.draft)...)
}

// databaseID returns the database ID an API had where it comes from, or "".
func databaseID(in Incoming) string {
	for _, id := range []string{in.Definition.Get("id").Text(), in.Document.Get(oas.ExtensionKey, "info", "dbId").Text()} {
		if id = strings.ToLower(id); shape.IsObjectID(id) {
			return id
		}
	}
	return ""
}

func (l *Library) checkClassic(d *apidef.Draft) []validation.Problem {
	def := d.Definition
	def.Set("id", doc.NewString(d.ID))
	def.Set("api_id", doc.NewString(d.APIID))
	def.Set("org_id", doc.NewString(string(d.OrgID)))
	err := l.prepare(d)
	if err == nil {
		return nil
	}
	all := classicProblems(def)
	for _, p := range append(problemsOf(required(def)), problemsOf(err)...) {
		if !slices.ContainsFunc(all, func(known validation.Problem) bool { return known.Field == p.Field }) {
			all = append(all, p)
		}
	}
	return all
}

// classicProblems is what gateways and this control plane would refuse.
func classicProblems(def *doc.Node) (all []validation.Problem) {
	return append(typeProblems(classic.Check(def)), validation.Classic(def)...)
}

// typeProblems says in words of their own what gateways could not decode.
func typeProblems(problems []shape.Problem) (all []validation.Problem) {
	for _, p := range problems {
		all = append(all, validation.Problem{Field: p.Path, Message: p.Demand()})
	}
	return all
}

// checkDocument checks a document and derives the classic form from it. The
// addresses of gateways are left as they came: they follow with the next change.
func (l *Library) checkDocument(d *apidef.Draft) []validation.Problem {
	info := d.Document.Get(oas.ExtensionKey, "info")
	problems := problemsOf(checkAPIID(d.APIID))
	identify(info, *d)
	problems = append(problems, l.documentProblems(d.Document, d.Class)...)
	if len(problems) > 0 {
		return problems
	}
	l.normalise(d.Document)
	d.Definition = oas.Extract(d.Document, d.Definition, oas.Options{MCP: d.Class == apidef.MCP})
	d.Definition.Set("id", doc.NewString(d.ID))
	if unserved(d.Document) {
		return problemsOf(l.shelve(d))
	}
	return append(typeProblems(classic.Check(d.Definition)), derivedProblems(d.Definition)...)
}

// documentProblems says everything that is wrong with a document, members that
// nobody knows aside.
func (l *Library) documentProblems(document *doc.Node, class apidef.Class) []validation.Problem {
	problems := l.validate(document, class, true)
	if len(problems) == 0 {
		problems = typeProblems(feed.Document(document))
	}
	return problems
}

// problemsOf turns a fault into a problem.
func problemsOf(err error) []validation.Problem {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return []validation.Problem{{Field: f.Field, Message: f.Message}}
	}
	return []validation.Problem{{Message: err.Error()}}
}

// Put stores an API inside the unit of work of one organisation: over the one
// with the same API ID, or else as a new one, under the database ID it had where
// it comes from if that is free. The operation is empty when nothing changes: what is
// stored already is not written again.
func (l *Library) Put(ctx context.Context, w store.Writer, c Checked) (store.Op, error) {
	now := l.Now()
	d := c.draft
	d.Definition, d.Document = d.Definition.Clone(), d.Document.Clone() // a unit of work may run again
	old, err := l.named(ctx, w, d.APIID)
	if err == nil {
		err = l.adopt(ctx, w, &d, old)
	}
	if err != nil {
		return "", err
	}
	if old == nil {
		if d.ID, err = freeID(ctx, w, l.kind, c.wanted, l.NewID); err != nil {
			return "", err
		}
		a, err := apidef.New(d, now)
		if err != nil {
			return "", err
		}
		_, err = l.insert(ctx, w, a)
		return store.Created, err
	}
	next, err := reform(*old, d, old.Updated())
	if err == nil {
		next, err = l.embed(ctx, w, next)
	}
	if err != nil || same(*old, next) {
		return "", err
	}
	_, err = l.turn(ctx, w, *old, d, now)
	return store.Updated, err
}

// adopt gives an MCP proxy that offers the operations of a REST API what follows from
// that API, which has to be there.
func (l *Library) adopt(ctx context.Context, r store.Reader, d *apidef.Draft, old *apidef.API) error {
	if _, paired := oas.PairedSource(d.Document.Get(oas.ExtensionKey, "upstream", "url").Text()); d.Class != apidef.MCP || !paired {
		return nil
	}
	if old != nil {
		d.ID = old.ID()
	}
	everything := operation.Principal{Permissions: access.Map{string(access.IsAdmin): access.LevelAdmin}}
	if err := l.pair(ctx, r, everything, d); err != nil {
		return err
	}
	d.Definition = oas.Extract(d.Document, d.Definition, oas.Options{MCP: true})
	return nil
}

// named returns the API with an API ID, or nil.
func (l *Library) named(ctx context.Context, r store.Reader, apiID string) (*apidef.API, error) {
	for a, err := range l.kind.Find(ctx, r, store.Query{Index: byAPIID, Value: apiID, Limit: 1}) {
		return &a.Value, err
	}
	return nil, nil
}

// freeID returns the wanted ID if no record of the kind has it, or a new one.
func freeID[T any](ctx context.Context, r store.Reader, k *store.Kind[T], wanted string, make func() string) (string, error) {
	if wanted == "" {
		return make(), nil
	}
	for _, err := range k.Find(ctx, r, store.Query{ID: wanted, Limit: 1}) {
		return make(), err
	}
	return wanted, nil
}

// reform returns an API with another definition and document and, unlike a
// rewrite, of another class if the draft says so. Identifiers, owners and the time of
// creation stay.
func reform(a apidef.API, d apidef.Draft, now time.Time) (apidef.API, error) {
	text, err := a.AppendJSON(nil)
	if err != nil {
		return a, err
	}
	stored, err := doc.LoadObject(text)
	if err != nil {
		return a, err
	}
	d.ID, d.OrgID = a.ID(), a.OrgID()
	if d.APIID == "" {
		d.APIID = a.APIID()
	}
	own := d.Wrapper
	d.Wrapper = stored
	b, err := apidef.New(d, a.Created())
	if err != nil {
		return a, err
	}
	d.Wrapper = own
	return b.Rewrite(d, now)
}

// turn stores what reform makes of an API.
func (l *Library) turn(ctx context.Context, w store.Writer, old apidef.API, d apidef.Draft, now time.Time) (apidef.API, error) {
	a, err := l.kind.Edit(ctx, w, old.ID(), nil, func(a apidef.API) (apidef.API, error) {
		b, err := reform(a, d, now)
		if err == nil {
			err = l.collision(ctx, w, b)
		}
		if err != nil {
			return b, err
		}
		return l.embed(ctx, w, b)
	})
	return a, taken(err)
}

// same reports whether two APIs say the same, in whatever order and spelling.
func same(a, b apidef.API) bool {
	x, errX := tree(a)
	y, errY := tree(b)
	return errX == nil && errY == nil && x.Equal(y)
}

func tree(a apidef.API) (*doc.Node, error) {
	text, err := a.AppendJSON(nil)
	if err != nil {
		return nil, err
	}
	return doc.ParseNode(text)
}
