package operation

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Group is what the rows of one resource share.
type Group struct {
	Surface    Surface
	Name       string // "clientidps"
	Path       string // "/api/clientidps"
	Tag        string
	Permission access.Permission
	Style      Style
	// OneOrganisation says that the rows are about what one organisation has: users without
	// an organisation are told so.
	OneOrganisation bool
}

// Row is an operation not yet in a group.
type Row struct{ op Operation }

// Option adjusts a Spec.
type Option func(*Spec)

// Status sets the status of success.
func Status(code int) Option { return func(s *Spec) { s.Status = code } }

// Refuses says that the row does nothing but refuse, with a status.
func Refuses(code int) Option { return func(s *Spec) { s.Status, s.Refuses = code, true } }

// Tail makes the last placeholder of the path take all that is left of one.
func Tail() Option { return func(s *Spec) { s.Tail = true } }

// Writes says that the row changes something, whatever its method: a link, for one.
func Writes() Option { return func(s *Spec) { s.Intent = access.Write } }

// Alone makes the path unknown to other methods: they get 404 instead of 405.
func Alone() Option { return func(s *Spec) { s.Alone = true } }

// Reads says that the row changes nothing, whatever its method: a search, for one.
func Reads() Option { return func(s *Spec) { s.Intent = access.Read } }

// Early lets the row be called before its surface is set up: to set it up, for one.
func Early() Option { return func(s *Spec) { s.Early = true } }

// Compact answers without indentation where the surface indents.
func Compact() Option { return func(s *Spec) { s.Compact = true } }

// EvenExpired lets users whose password must be changed do this to themselves.
func EvenExpired() Option { return func(s *Spec) { s.EvenExpired = true } }

// BySession lets people call with the session of a browser, and with nothing else.
func BySession() Option { return func(s *Spec) { s.BySession = true } }

// Visited lets anybody call, and tells the operation of the session that a browser of the
// portal may have: its Browser has the token.
func Visited() Option { return func(s *Spec) { s.Public, s.Visited = true, true } }

// Brokers lets identity brokers call a row with a secret of their own. One of the
// management surface the super-admin calls then as well.
func Brokers() Option { return func(s *Spec) { s.Brokers = true } }

// Public lets anyone call.
func Public() Option { return func(s *Spec) { s.Public, s.Permission = true, "" } }

// Redact names body members that must not be written down anywhere.
func Redact(members ...string) Option { return func(s *Spec) { s.Redact = members } }

// Unseen names placeholders, query parameters and body members that must not be written
// down anywhere, and that rules do not see: the authors of rules could read
// what rules decide about.
func Unseen(names ...string) Option {
	return func(s *Spec) { s.Redact, s.Unseen = append(s.Redact, names...), names }
}

// AnyPart lets the file of a form be in a part of any name.
func AnyPart() Option { return func(s *Spec) { s.AnyPart = true } }

// Answers says how the row answers certain faults, on top of its group.
func Answers(faults map[string]Answer) Option {
	return func(s *Spec) { s.Style.Faults = faults }
}

// Example gives the API description a request body (or nil) and an answer.
func Example(request, answer any) Option {
	return func(s *Spec) { s.Request, s.Example = request, answer }
}

// Faulting lists the fault codes the row can answer besides its surface's own.
func Faulting(codes ...string) Option { return func(s *Spec) { s.Faults = codes } }

// Switched says how a row refuses while its feature is switched off: off returns the fault
// then. It is asked before the body is looked at (docs/wire/permissions.md#order-of-checks).
func Switched(off func(context.Context, *Call) error) Option {
	return func(s *Spec) { s.off = off }
}

// Notes adds prose to the API description.
func Notes(text string) Option { return func(s *Spec) { s.Notes = text } }

// Media names further media types under which clients send a Document as JSON.
func Media(types ...string) Option { return func(s *Spec) { s.Media = types } }

// Contents says what is in the Document of the row, for the API description.
func Contents[T any]() Option { return func(s *Spec) { s.Contents = reflect.TypeFor[T]() } }

// Summary replaces the summary of a row that a family of rows made.
func Summary(text string) Option { return func(s *Spec) { s.Summary = text } }

// Identifier names the path parameter of inputs that leave it open: path:"".
func Identifier(name, doc string) Option {
	return func(s *Spec) { s.identifier = Param{Name: name, Doc: doc} }
}

// Above names the path parameter of inputs for the record in whose path the row lies:
// path:"^". Without it the row lies below none.
func Above(name, doc string) Option {
	return func(s *Spec) { s.above = Param{Name: name, Doc: doc} }
}

// Limits overrides the surface's body size in bytes and deadline.
func Limits(body int64, deadline time.Duration) Option {
	return func(s *Spec) { s.MaxBody, s.Deadline = body, deadline }
}

// GET makes a reading row.
func GET[I, O any](name, path, summary string, fn func(context.Context, I) (O, error), opts ...Option) Row {
	return row("GET", access.Read, name, path, summary, fn, opts)
}

// POST makes a writing row.
func POST[I, O any](name, path, summary string, fn func(context.Context, I) (O, error), opts ...Option) Row {
	return row("POST", access.Write, name, path, summary, fn, opts)
}

// PUT makes a writing row.
func PUT[I, O any](name, path, summary string, fn func(context.Context, I) (O, error), opts ...Option) Row {
	return row("PUT", access.Write, name, path, summary, fn, opts)
}

// PATCH makes a writing row.
func PATCH[I, O any](name, path, summary string, fn func(context.Context, I) (O, error), opts ...Option) Row {
	return row("PATCH", access.Write, name, path, summary, fn, opts)
}

// DELETE makes a deleting row.
func DELETE[I, O any](name, path, summary string, fn func(context.Context, I) (O, error), opts ...Option) Row {
	return row("DELETE", access.Delete, name, path, summary, fn, opts)
}

func row[I, O any](method string, intent access.Intent, name, path, summary string, fn func(context.Context, I) (O, error), opts []Option) Row {
	o := Operation{
		Spec: Spec{ID: name, Method: method, Path: path, Summary: summary, Intent: intent, Status: 200},
		In:   reflect.TypeFor[I](), Out: reflect.TypeFor[O](),
	}
	for _, opt := range opts {
		opt(&o.Spec)
	}
	plan := compile(o.In, o.identifier, o.above)
	o.Params, o.Body, o.members = plan.params, plan.body, membersOf(plan.body)
	off := o.off
	o.handle = func(ctx context.Context, c *Call) (any, error) {
		if off != nil {
			if err := off(ctx, c); err != nil {
				return nil, err
			}
		}
		var in I
		if err := plan.fill(reflect.ValueOf(&in).Elem(), c); err != nil {
			return nil, err
		}
		return fn(ctx, in)
	}
	if o.Rehearsable {
		o.Params = append(o.Params, dryRun)
	}
	return Row{o}
}

// Rows completes rows with what the group says.
func (g Group) Rows(rows ...Row) []Operation {
	ops := make([]Operation, 0, len(rows))
	for _, r := range rows {
		o := r.op
		o.Group, o.Base = g.Name, g.Path
		o.ID, o.Path = g.Name+"."+o.ID, g.Path+o.Path
		o.Surface, o.Tag, o.OneOrganisation = g.Surface, g.Tag, g.OneOrganisation
		style := g.Style // with the row's own answers on top
		style.Failure = cmp.Or(o.Style.Failure, style.Failure)
		style.Faults = make(map[string]Answer, len(g.Style.Faults)+len(o.Style.Faults))
		maps.Copy(style.Faults, g.Style.Faults)
		maps.Copy(style.Faults, o.Style.Faults)
		o.Style = style
		if o.Permission == "" && !o.Public {
			o.Permission = g.Permission
		}
		ops = append(ops, o)
	}
	return ops
}

// Need is a permission that a row wants besides its own.
type Need struct {
	Permission access.Permission
	Intent     access.Intent
	Params     []string // query parameters any of which brings the need about; none: it is always there
}

// CodeNeeds begins the code of the fault for a need that is not met; the rest is
// the permission, so that a row can answer with words of its own.
const CodeNeeds = "auth.needs."

// AnyUser lets every user of the organisation call, whatever groups of
// permissions the user has.
func AnyUser() Option { return func(s *Spec) { s.Permission = access.AnyUser } }

// Admins lets admins call, and no others, whatever the group of the row wants.
func Admins() Option { return func(s *Spec) { s.Permission = access.IsAdmin } }

// Wants lets call who has p, in place of the permission that the group of the row wants.
func Wants(p access.Permission) Option { return func(s *Spec) { s.Permission = p } }

// Own lets callers do to themselves what the row is for, whatever their permissions:
// the path parameter is the user's ID. Rules that decide in place of the permission
// map see the path, and decide about that too.
func Own(param string) Option { return func(s *Spec) { s.Own = param } }

// OwnBusiness reports whether a call is one of a row with Own, about the caller.
func OwnBusiness(c *Call) bool {
	return c.Spec.Own != "" && c.Principal.ID != "" && c.Path[c.Spec.Own] == c.Principal.ID
}

// Needs wants one more permission: always, or when one of the query parameters is
// given.
func Needs(p access.Permission, i access.Intent, params ...string) Option {
	return func(s *Spec) { s.Needs = append(s.Needs, Need{p, i, params}) }
}

// Arises reports whether a call brings the need about.
func (n Need) Arises(c *Call) bool {
	return len(n.Params) == 0 || slices.ContainsFunc(n.Params, func(name string) bool { return c.Query.Get(name) != "" })
}

// Unmet returns the fault for the first need of a call that its principal does
// not meet, or nil.
func Unmet(c *Call) error {
	for _, n := range c.Spec.Needs {
		if n.Arises(c) && !c.Principal.Permissions.Allows(n.Permission, n.Intent) {
			// Two blanks before the path: docs/wire/errors.md#standard-errors.
			return fault.New(fault.Denied, CodeNeeds+string(n.Permission), "access denied: You do not have permission to access  %s", c.RawPath)
		}
	}
	return nil
}
