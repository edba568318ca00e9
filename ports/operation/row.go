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

// Group is the common properties of the rows of one resource.
type Group struct {
	Surface    Surface
	Name       string // "clientidps"
	Path       string // "/api/clientidps"
	Tag        string
	Permission access.Permission
	Style      Style
	// OneOrganisation says that the rows work on data of one organisation: users without an
	// organisation get an error.
	OneOrganisation bool
}

// Row is an operation not yet in a group.
type Row struct{ op Operation }

// Option adjusts a Spec.
type Option func(*Spec)

// Status sets the status of successful responses.
func Status(code int) Option { return func(s *Spec) { s.Status = code } }

// Refuses says that the row refuses every call, with this status.
func Refuses(code int) Option { return func(s *Spec) { s.Status, s.Refuses = code, true } }

// Tail makes the last placeholder match the rest of the path.
func Tail() Option { return func(s *Spec) { s.Tail = true } }

// Writes says that the row changes something even if its method only reads, for example a
// link.
func Writes() Option { return func(s *Spec) { s.Intent = access.Write } }

// Alone makes the path unknown to other methods: they get 404 instead of 405.
func Alone() Option { return func(s *Spec) { s.Alone = true } }

// Reads says that the row changes nothing even if its method writes, for example a search.
func Reads() Option { return func(s *Spec) { s.Intent = access.Read } }

// Early allows calls before the row's surface is set up, for example the call that sets it up.
func Early() Option { return func(s *Spec) { s.Early = true } }

// Compact writes the response without indentation where the surface indents.
func Compact() Option { return func(s *Spec) { s.Compact = true } }

// EvenExpired lets users with a password that must be changed call the row for themselves.
func EvenExpired() Option { return func(s *Spec) { s.EvenExpired = true } }

// BySession lets people call with a browser session and with no other credential.
func BySession() Option { return func(s *Spec) { s.BySession = true } }

// Visited lets every client call, and gives the operation the session of a portal visitor, if
// there is one: its Browser has the token.
func Visited() Option { return func(s *Spec) { s.Public, s.Visited = true, true } }

// Brokers lets identity brokers call a row with their own secret. On the management surface,
// the super-admin can call such a row as well.
func Brokers() Option { return func(s *Spec) { s.Brokers = true } }

// Public lets every client call, without a credential.
func Public() Option { return func(s *Spec) { s.Public, s.Permission = true, "" } }

// Redact names body members that must not be stored or logged anywhere.
func Redact(members ...string) Option { return func(s *Spec) { s.Redact = members } }

// Unseen names placeholders, query parameters and body members that must not be stored or
// logged anywhere, and that rules do not see, because the authors of rules could read the
// inputs of a decision.
func Unseen(names ...string) Option {
	return func(s *Spec) { s.Redact, s.Unseen = append(s.Redact, names...), names }
}

// AnyPart accepts the file of a form in a part with any name.
func AnyPart() Option { return func(s *Spec) { s.AnyPart = true } }

// Answers sets the answers to certain faults, in addition to those of the group.
func Answers(faults map[string]Answer) Option {
	return func(s *Spec) { s.Style.Faults = faults }
}

// Example gives the API description a request body (or nil) and a response.
func Example(request, answer any) Option {
	return func(s *Spec) { s.Request, s.Example = request, answer }
}

// Faulting lists the fault codes that the row can return besides those of its surface.
func Faulting(codes ...string) Option { return func(s *Spec) { s.Faults = codes } }

// Switched says how a row refuses calls while its feature is switched off: off then returns
// the fault. It is called before the body is read (docs/wire/permissions.md#order-of-checks).
func Switched(off func(context.Context, *Call) error) Option {
	return func(s *Spec) { s.off = off }
}

// Notes adds text to the API description.
func Notes(text string) Option { return func(s *Spec) { s.Notes = text } }

// Media names other media types under which clients send a Document as JSON.
func Media(types ...string) Option { return func(s *Spec) { s.Media = types } }

// Contents sets the type of the contents of the row's Document, for the API description.
func Contents[T any]() Option { return func(s *Spec) { s.Contents = reflect.TypeFor[T]() } }

// Summary replaces the summary of a row that a family of rows generated.
func Summary(text string) Option { return func(s *Spec) { s.Summary = text } }

// Identifier names the path parameter of inputs with the tag path:"".
func Identifier(name, doc string) Option {
	return func(s *Spec) { s.identifier = Param{Name: name, Doc: doc} }
}

// Above names the path parameter of inputs with the tag path:"^": the record below which the
// row lies. Without Above, the row lies below no record.
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

// Rows completes rows with the properties of the group.
func (g Group) Rows(rows ...Row) []Operation {
	ops := make([]Operation, 0, len(rows))
	for _, r := range rows {
		o := r.op
		o.Group, o.Base = g.Name, g.Path
		o.ID, o.Path = g.Name+"."+o.ID, g.Path+o.Path
		o.Surface, o.Tag, o.OneOrganisation = g.Surface, g.Tag, g.OneOrganisation
		style := g.Style // copied, with the row's own answers added
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

// Need is a permission that a row requires besides its own.
type Need struct {
	Permission access.Permission
	Intent     access.Intent
	Params     []string // query parameters; the need applies if one is given; none: it always applies
}

// CodeNeeds is the prefix of the code of the fault for a missing Need; the rest is the
// permission, so that a row can set its own text for it.
const CodeNeeds = "auth.needs."

// AnyUser lets every user of the organisation call, with any permissions.
func AnyUser() Option { return func(s *Spec) { s.Permission = access.AnyUser } }

// Admins lets only admins call; the permission of the row's group does not count.
func Admins() Option { return func(s *Spec) { s.Permission = access.IsAdmin } }

// Wants lets users with p call; it replaces the permission of the row's group.
func Wants(p access.Permission) Option { return func(s *Spec) { s.Permission = p } }

// Own lets users call the row for themselves, with any permissions: param is the path
// parameter with the user ID. Rules that replace the permission map see the path, and decide
// about these calls too.
func Own(param string) Option { return func(s *Spec) { s.Own = param } }

// OwnBusiness reports whether callers call a row with Own for themselves.
func OwnBusiness(c *Call) bool {
	return c.Spec.Own != "" && c.Principal.ID != "" && c.Path[c.Spec.Own] == c.Principal.ID
}

// Needs requires one more permission: always, or when one of the query parameters is given.
func Needs(p access.Permission, i access.Intent, params ...string) Option {
	return func(s *Spec) { s.Needs = append(s.Needs, Need{p, i, params}) }
}

// Arises reports whether the need applies to a call.
func (n Need) Arises(c *Call) bool {
	return len(n.Params) == 0 || slices.ContainsFunc(n.Params, func(name string) bool { return c.Query.Get(name) != "" })
}

// Unmet returns the fault for the first need of a call that its principal lacks, or nil.
func Unmet(c *Call) error {
	for _, n := range c.Spec.Needs {
		if n.Arises(c) && !c.Principal.Permissions.Allows(n.Permission, n.Intent) {
			// Two blanks before the path: docs/wire/errors.md#standard-errors.
			return fault.New(fault.Denied, CodeNeeds+string(n.Permission), "access denied: You do not have permission to access  %s", c.RawPath)
		}
	}
	return nil
}
