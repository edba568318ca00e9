package portal

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/deliver"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Resource is a resource T of the portal. Lists show it as L, other answers as S.
type Resource[T table.Row[T], L, S any] struct {
	Kind  *store.Kind[T]
	Name  string // of its operations: "portal-tags"
	Path  string // below /portal-api: "/tags"
	Param string // placeholder in paths: "tag_id"
	Above *Above // nil: it lies below no other resource
	One   string // "a tag"
	Many  string // "tags"
	List  func(ctx context.Context, r store.Reader, v T) (L, error)
	Show  func(ctx context.Context, r store.Reader, v T) (S, error)
	// Find returns the record in a path; nil: by its number or its CID.
	Find func(ctx context.Context, r store.Reader, name string) (T, error)
	// Sample is a valid record, for examples and the store suite.
	Sample T
	// Sealed returns a pointer to a text that is stored sealed; see crud.Facts.
	Sealed func(*T) *string
	// Order is the default order of lists; "": the newest record first.
	Order string
	// Sequence returns the records below one in the default order of lists; nil: Order
	// determines it.
	Sequence func(ctx context.Context, r store.Reader, above table.ID) ([]table.ID, error)
	PerPage  int // 0: DefaultPerPage
	// Search reports whether a record matches a keyword; nil: its texts are searched.
	Search func(v T, keyword string) bool
	// Labels are members of lists besides the texts of the record, such as names of other
	// records. Keywords are searched in them, too, and lists can be sorted by them.
	Labels []Label[L]
	// Begin prepares a new record before the body is decoded into it: defaults, and the
	// parent record; nil: nothing to prepare.
	Begin func(v *T, parent table.ID)
	// Events defines the events of changes for webhooks; nil: none.
	Events *event.Source[T]
	// Load reads the parts of a record that are stored elsewhere, before the body is decoded
	// into it; nil: there are none.
	Load func(ctx context.Context, r store.Reader, v *T) error
	Hooks[T]
	// Rows selects and adjusts the operations; nil: all five.
	Rows func(Operations[T, L, S]) []operation.Row
}

// Label is a member of the representation in lists.
type Label[L any] struct {
	Name string
	Of   func(L) string
}

// Above is the parent resource in the path of another. All is a word that stands for all
// parents in the path of a list; "": there is none.
type Above struct{ Kind, Param, All string }

// Hooks run around the writes of a resource. Each may be nil; an error ends the write, and
// nothing is stored. All but Turn, Prepare and Failed run in the unit of work, possibly more
// than once, and must have no effects except through the writer and the change.
type Hooks[T any] struct {
	// Validate returns the failed validations that need the store. They are listed with those
	// of the fields: Validate also receives records with invalid fields. It is not called for
	// deletions.
	Validate func(ctx context.Context, r store.Reader, c *Change[T]) (table.Problems, error)
	// Check checks the record against others: in the unit of work and, if there is Prepare,
	// also before it. It changes nothing.
	Check func(ctx context.Context, r store.Reader, c *Change[T]) error
	// Turn runs write, which is everything from Prepare to Failed, while no conflicting
	// operation runs. The change is then drafted again, because records may have changed
	// meanwhile.
	Turn func(ctx context.Context, c *Change[T], write func(context.Context) error) error
	// Prepare runs before the unit of work, for calls to other services: the record is valid,
	// has its CID, and its unique values are free. Failed runs if nothing was stored after
	// Prepare.
	Prepare func(ctx context.Context, c *Change[T]) error
	Failed  func(ctx context.Context, c *Change[T])
	// Before may change New; After runs when the record is stored or deleted.
	Before func(ctx context.Context, w store.Writer, c *Change[T]) error
	After  func(ctx context.Context, w store.Writer, c *Change[T]) error
}

// Change is one write, for hooks.
type Change[T any] struct {
	Op     store.Op
	Scope  tenant.Scope
	Store  store.Store // for Prepare and Failed, which read what they need
	Who    operation.Principal
	Parent table.ID
	Force  bool       // of a deletion: delete even if others use the record, or refuse
	Sent   Sent       // the body; nil: a deletion
	Old    T          // the replaced or deleted record
	New    T          // the new record
	At     crud.Stamp // the time of the write, for records that hooks store as well
	Memo   any        // data that hooks pass to later hooks
}

// AtMost returns a hook for Before that refuses another record of a kind with most records.
func AtMost[T any](kind string, most int, full error) func(context.Context, store.Writer, *Change[T]) error {
	return func(ctx context.Context, w store.Writer, c *Change[T]) error {
		if c.Op != store.Created {
			return nil
		}
		n, err := w.Count(ctx, store.Query{Kind: kind})
		if err == nil && n >= most {
			return full
		}
		return err
	}
}

// Sent is a body, for hooks.
type Sent interface {
	Has(name string) bool
	Get(name string) any
}

// Operations builds the rows of a resource.
type Operations[T table.Row[T], L, S any] struct {
	Resource[T, L, S]
	crud.Tools
}

// Registration implements crud.Registrar.
func (r Resource[T, L, S]) Registration() crud.Registration {
	reg := crud.Facts[T]{Kind: r.Kind, Sealed: r.Sealed, Events: Events(r.Events), Sample: func(at crud.Stamp) (T, error) { return Sampled(r.Sample, at), nil }}.Registration()
	reg.Operations = func(t crud.Tools) []operation.Operation {
		o := Operations[T, L, S]{r, t}
		rows := []operation.Row{o.ListRow(), o.CreateRow(), o.GetRow(), o.UpdateRow(), o.DeleteRow()}
		if r.Rows != nil {
			rows = r.Rows(o)
		}
		return o.Group().Rows(rows...)
	}
	return reg
}

// Events returns the events of a kind for webhooks, from the table of events.
func Events[T any](src *event.Source[T]) *crud.Events[T] {
	if src == nil {
		return nil
	}
	return &crud.Events[T]{Names: src.Names, Of: func(before, after *T) (out []deliver.Event) {
		for _, e := range src.Of(before, after) {
			out = append(out, deliver.Event{Name: e.Name, Message: e.Message})
		}
		return out
	}}
}

// Group returns the group of the resource's rows.
func (r Resource[T, L, S]) Group() operation.Group { return Group(r.Name, r.Path, r.Many) }

// Group returns a group of rows below a path of the portal.
func Group(name, path, title string) operation.Group {
	return operation.Group{Surface: operation.Portal, Name: name, Path: Prefix + path, Tag: "Portal " + title,
		Style: operation.Style{Faults: operation.PortalFaults()}}
}

// Prefix is the prefix of the paths of the portal's API.
const Prefix = "/portal-api"

// Status is the answer to a deletion.
type Status struct {
	Status string `json:"status"`
}

// Done is the answer to an action.
type Done struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// Executed returns the answer to an executed action such as "Approve".
func Executed(action string) Done {
	return Done{"ok", "Action " + action + ": Executed successfully"}
}

// Action marks a row as an action rather than a write: its errors have another form.
func Action() operation.Option {
	return func(s *operation.Spec) { s.Style.Failure = operation.FailureAction }
}

// Unprocessable answers 422 where the record in the path does not exist.
func Unprocessable() operation.Option {
	return operation.Answers(map[string]operation.Answer{"not_found": {Status: 422, Text: "record not found"}})
}

// example returns the representation of a sample.
func example[T table.Row[T], V any](v T, show func(context.Context, store.Reader, T) (V, error)) V {
	v = Sampled(v, crud.Stamp{ID: "5f1a0c5d8e3b2a1f00000009", Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }})
	tableOf[T]().Base(&v).ID = 7
	out, err := show(context.Background(), nothing{}, v)
	if err != nil {
		panic("portal: the example of " + tableOf[T]().Kind + ": " + err.Error()) // happens at start, and so in the first test
	}
	return out
}

// nothing is a reader of an empty store.
type nothing struct{}

// Exemplary reports whether r is the reader for examples, which have no current time.
func Exemplary(r store.Reader) bool {
	_, ok := r.(nothing)
	return ok
}

func (nothing) Get(context.Context, string, string) (store.Record, error) {
	return store.Record{}, store.ErrNotFound
}
func (nothing) Scan(context.Context, store.Query) iter.Seq2[store.Record, error] {
	return func(func(store.Record, error) bool) {}
}
func (nothing) Count(context.Context, store.Query) (int, error)         { return 0, nil }
func (nothing) Touched(context.Context, string) (store.Revision, error) { return 0, nil }
func (nothing) Referrers(context.Context, integrity.Target) iter.Seq2[store.Record, error] {
	return func(func(store.Record, error) bool) {}
}

// path returns the path of one record.
func (o Operations[T, L, S]) path() string { return "/{" + o.Param + "}" }

// options returns the options of a row: the names of its placeholders, its own options, and
// those of the resource.
func (o Operations[T, L, S]) options(more []operation.Option, own ...operation.Option) []operation.Option {
	all := []operation.Option{operation.Identifier(o.Param, "Number or CID of "+o.One+".")}
	if o.Above != nil {
		all = append(all, operation.Above(o.Above.Param, "Number or CID of the parent record ("+strings.TrimPrefix(o.Above.Kind, "portal-")+")."))
	}
	return append(append(all, own...), more...)
}
