package operation

import (
	"context"
	"reflect"
	"slices"
	"strconv"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// DryRun is the query parameter by which a call asks for a rehearsal.
const DryRun = "dry_run"

var dryRun = Param{Name: DryRun, In: "query", Type: reflect.TypeFor[bool](),
	Doc: "true: the response lists what would change, and nothing is stored. A request that the operation refuses is refused here as well."}

// Rehearsable lets calls ask what the row would do. The row may have effects only through a
// store, in one unit of work. onlooker says which changes and references the caller may see
// and wants to see; nil: all changes, and no references.
func Rehearsable(onlooker func(*Call) store.Onlooker) Option {
	return func(s *Spec) { s.Rehearsable, s.onlooker = true, onlooker }
}

// Rehearsed is the response to a rehearsal.
type Rehearsed struct {
	Status  string  `json:"Status"`
	Message string  `json:"Message"`
	Meta    Outcome `json:"Meta"`
}

// Outcome is what an operation would have done.
type Outcome struct {
	Changes    []store.Step      `json:"changes" doc:"Records that would change. Records that the caller may not see are left out."`
	References []store.Reference `json:"references" doc:"References to records that would not exist, or that the caller may not see."`
}

// Rehearses reports whether a call only asks what would happen.
func Rehearses(c *Call) bool {
	asked, err := strconv.ParseBool(c.Query.Get(DryRun))
	return c.Spec.Rehearsable && err == nil && asked
}

// rehearse carries out a call with the parameter DryRun, and stores nothing if its value is
// true. A value that is not a boolean, or two different values, are refused in every row: the
// caller may have wanted a rehearsal and must not get the real change. A row that cannot be
// rehearsed refuses a true value. Rows that only read ignore the parameter, and rows with an
// input field for it handle it themselves.
func (o *Operation) rehearse(ctx context.Context, c *Call, texts []string) (any, error) {
	if !o.Rehearsable && (o.Intent == access.Read || slices.ContainsFunc(o.Params, func(p Param) bool { return p.Name == DryRun })) {
		return o.handle(ctx, c)
	}
	asked, err := strconv.ParseBool(texts[0])
	switch {
	case err != nil || slices.ContainsFunc(texts, func(other string) bool { return other != texts[0] }):
		return nil, fault.New(fault.Invalid, CodeParameter, "query parameter %s must be true or false", DryRun).At(DryRun)
	case asked && !o.Rehearsable:
		return nil, fault.New(fault.Invalid, CodeParameter, "%s is not possible here: nothing was done", DryRun).At(DryRun)
	case !asked:
		return o.handle(ctx, c)
	}
	var who store.Onlooker
	if o.onlooker != nil {
		who = o.onlooker(c)
	}
	ctx, r := store.Rehearse(ctx, who)
	if _, err := o.handle(ctx, c); err != nil {
		return nil, err
	}
	return Rehearsed{Status: "OK", Message: "dry run: nothing was stored", Meta: Outcome{r.Changes, r.References}}, nil
}
