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
	Doc: "true: answer what would change, and store nothing. Whatever the operation would refuse is refused."}

// Rehearsable lets calls ask what the row would do. It is for rows that have no
// effect but through a store, in one unit of work. onlooker makes of a call what its
// caller may know and wants to; nil: all changes, and no references.
func Rehearsable(onlooker func(*Call) store.Onlooker) Option {
	return func(s *Spec) { s.Rehearsable, s.onlooker = true, onlooker }
}

// Rehearsed is the answer to a rehearsal.
type Rehearsed struct {
	Status  string  `json:"Status"`
	Message string  `json:"Message"`
	Meta    Outcome `json:"Meta"`
}

// Outcome is what an operation would have done.
type Outcome struct {
	Changes    []store.Step      `json:"changes" doc:"Records that would change, as far as the caller may see them."`
	References []store.Reference `json:"references" doc:"References that would lead nowhere, or to what the caller may not see."`
}

// Rehearses reports whether a call only asks what would happen.
func Rehearses(c *Call) bool {
	asked, err := strconv.ParseBool(c.Query.Get(DryRun))
	return c.Spec.Rehearsable && err == nil && asked
}

// rehearse carries out a call that has the parameter DryRun, and stores nothing if it asks for
// that. A row that cannot be rehearsed refuses who asks for it, and each row who may have asked
// for it, in another word, in none or once of twice: that caller must not get the real thing. Rows
// that only read need no rehearsal, and those whose input has the parameter do with it what it says.
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
