package operation

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
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
