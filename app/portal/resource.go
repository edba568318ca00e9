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

// Resource is a resource T of the portal, which lists show as L and all else as S.
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
	// Find returns the record that a path names; nil: by its number or its CID.
	Find func(ctx context.Context, r store.Reader, name string) (T, error)
	// Sample is a valid record: examples and the store suite use it.
	Sample T
	// Sealed points to a text that is stored sealed; see crud.Facts.
	Sealed func(*T) *string
	// Order is how lists are ordered unless the client says otherwise; "": the newest
	// record first.
	Order string
	// Sequence returns the records below one in the order in which lists show them,
	// unless the client says otherwise; nil: Order says.
	Sequence func(ctx context.Context, r store.Reader, above table.ID) ([]table.ID, error)
	PerPage  int // 0: DefaultPerPage
	// Search reports whether a record is found by a keyword; nil: its texts say.
	Search func(v T, keyword string) bool
	// Labels are what lists show besides the texts of the record, such as names of other
	// records: keywords are looked for in them, too, and lists can be ordered by them.
	Labels []Label[L]
	// Begin prepares a new record before the body is put into it: defaults, and the
	// record above; nil: there is nothing to prepare.
	Begin func(v *T, parent table.ID)
	// Events is what webhooks may hear of changes; nil: nothing.
	Events *event.Source[T]
	// Load fills in what a stored record keeps elsewhere, before the body is put into
	// it; nil: it keeps all of it.
	Load func(ctx context.Context, r store.Reader, v *T) error
	Hooks[T]
	// Rows picks the operations and adjusts them; nil: all five.
	Rows func(Operations[T, L, S]) []operation.Row
}

// Label is a member of what a list shows.
type Label[L any] struct {
	Name string
	Of   func(L) string
}

// Above is the resource in whose path another one lies. All is a word that stands for every
// record of it in the path of a list; "": none does.
type Above struct{ Kind, Param, All string }

// Hooks is what happens around the writes of a resource. Each may be nil; an error ends
// the write, and nothing is stored. All but Turn, Prepare and Failed run in the unit of
// work, maybe more than once, and have no effect but through the writer and the change.
type Hooks[T any] struct {
	// Validate returns the failed validations that need the store. They are listed with those
	// of the fields: it gets records in which fields are wrong, too. It is not asked about
	// deletions.
	Validate func(ctx context.Context, r store.Reader, c *Change[T]) (table.Problems, error)
	// Check holds the record against others: in the unit of work and, when there is
	// Prepare, before it. It changes nothing.
	Check func(ctx context.Context, r store.Reader, c *Change[T]) error
	// Turn runs what follows, Prepare to Failed, when nothing else does that must not run
	// beside it. The change is drafted again then: something may have changed meanwhile.
	Turn func(ctx context.Context, c *Change[T], write func(context.Context) error) error
	// Prepare runs before the unit of work, when the record is valid, has its CID, and no
	// other record has what must be its own: for calls to others. Failed runs when nothing
	// was stored after it.
	Prepare func(ctx context.Context, c *Change[T]) error
	Failed  func(ctx context.Context, c *Change[T])
	// Before may change New; After runs when it is stored, or deleted.
	Before func(ctx context.Context, w store.Writer, c *Change[T]) error
	After  func(ctx context.Context, w store.Writer, c *Change[T]) error
}

// Change is one write as hooks see it.
type Change[T any] struct {
	Op     store.Op
	Scope  tenant.Scope
	Store  store.Store // for Prepare and Failed, which look up what they need
	Who    operation.Principal
	Parent table.ID
	Force  bool       // of a deletion: others who use the record, or refuse, do not keep it
	Sent   Sent       // what the client sent; nil: a deletion
	Old    T          // what is replaced or deleted
	New    T          // what is stored
	At     crud.Stamp // the time of the write, for records that hooks store too
	Memo   any        // what hooks tell later ones
}

// Sent is a body as hooks may ask about it.
type Sent interface {
	Has(name string) bool
	Get(name string) any
}

// Operations makes rows of a resource.
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

// Events makes what receivers may hear of a kind out of the table of events.
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

// Group is what the rows of the resource share.
func (r Resource[T, L, S]) Group() operation.Group { return Group(r.Name, r.Path, r.Many) }

// Group makes the group of rows below a path of the portal.
func Group(name, path, title string) operation.Group {
	return operation.Group{Surface: operation.Portal, Name: name, Path: Prefix + path, Tag: "Portal " + title,
		Style: operation.Style{Faults: operation.PortalFaults()}}
}

// Prefix begins the paths of the portal's API.
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

// Executed answers that an action was carried out: "Approve".
func Executed(action string) Done {
	return Done{"ok", "Action " + action + ": Executed successfully"}
}

// Action makes a row one that does something instead of storing: it says so when it
// cannot.
func Action() operation.Option {
	return func(s *operation.Spec) { s.Style.Failure = operation.FailureAction }
}

// Unprocessable answers 422 where the record that a write is about does not exist.
func Unprocessable() operation.Option {
	return operation.Answers(map[string]operation.Answer{"not_found": {Status: 422, Text: "record not found"}})
}

// example shows the sample as an answer has it.
func example[T table.Row[T], V any](v T, show func(context.Context, store.Reader, T) (V, error)) V {
	v = Sampled(v, crud.Stamp{ID: "5f1a0c5d8e3b2a1f00000009", Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }})
	tableOf[T]().Base(&v).ID = 7
	out, err := show(context.Background(), nothing{}, v)
	if err != nil {
		panic("portal: the example of " + tableOf[T]().Kind + ": " + err.Error()) // at start, and in the first test
	}
	return out
}

// nothing is a reader of an empty store.
type nothing struct{}

// Exemplary reports whether an example is shown, at no time in particular.
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

// path is that of one record.
func (o Operations[T, L, S]) path() string { return "/{" + o.Param + "}" }

// options returns the options of a row: the names of its placeholders, what it has by
// itself, and what the resource adds.
func (o Operations[T, L, S]) options(more []operation.Option, own ...operation.Option) []operation.Option {
	all := []operation.Option{operation.Identifier(o.Param, "Number or CID of "+o.One+".")}
	if o.Above != nil {
		all = append(all, operation.Above(o.Above.Param, "Number or CID of the record above: "+strings.TrimPrefix(o.Above.Kind, "portal-")+"."))
	}
	return append(append(all, own...), more...)
}
