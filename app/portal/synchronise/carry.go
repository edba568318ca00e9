package synchronise

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// CodeCarry is the code of the fault for a record that the dashboard has not taken.
const CodeCarry = "portal_sync.carry"

// Carry tells the dashboard at once what an administrator has changed in one record, and
// returns the record as it is to be stored, and whether a policy was made for it that was
// not there before. What concerns the portal alone makes no call. Store the record as it was
// before with the change first, or its result after: in both orders a run of the
// synchronisation, or the same change once more, finishes what was interrupted.
func Carry(ctx context.Context, p Provider, r sync.Record) (now sync.Record, made bool, err error) {
	if !r.Pending() {
		return r, false, nil
	}
	have := sync.State{Records: []sync.Record{r}, Tags: p.Tags}
	if r.Kind == sync.KindProduct {
		apis, err := p.Dashboard.APIs(ctx)
		if err != nil {
			return r, false, err
		}
		have.APIs = sync.NewIndex(apis)
	}
	// The policies that the change can concern: the record's own. Of a record that has none, an
	// earlier attempt may have made it; a product that gets APIs again may need another one,
	// whose name must be free; and a deleted one may have left several: then it is all of them.
	var policies []*doc.Node
	if r.Agreed == nil || r.Kind == sync.KindProduct && (r.Deleted || r.Agreed.Draft) {
		policies, err = p.Dashboard.Policies(ctx)
	} else if own, failed := p.Dashboard.Policy(ctx, r.Ref); !errors.Is(failed, dashboard.ErrGone) {
		policies, err = []*doc.Node{own.Document}, failed
	}
	if err != nil {
		return r, false, err
	}
	var report Report
	have.Policies = read(policies, have.APIs, p.Tags, &report)
	want, problems := sync.Want(have)
	var steps []sync.Step
	for _, s := range sync.Plan(have, want) {
		if s.For == r.Key() { // others are a run's business
			steps = append(steps, s)
		}
	}
	report.Problems = problems
	one := &single{record: r}
	if err := carryOut(ctx, p, one, have.APIs, steps, &report); err != nil {
		return r, false, err
	}
	if len(report.Problems) > 0 {
		f := report.Problems[0].Fault
		return r, false, fault.New(f.Kind, CodeCarry, "%s", f.Message)
	}
	if one.record.Pending() && !r.Deleted {
		return r, false, fault.New(fault.Unavailable, CodeCarry, "the dashboard does not return the policy %s: synchronise the provider", r.Ref.Name())
	}
	return one.record, r.Agreed == nil && report.Writes > 0, nil
}

// single keeps one record.
type single struct{ record sync.Record }

func (s *single) List(context.Context) ([]sync.Record, error) {
	return []sync.Record{s.record}, nil
}

func (s *single) Store(_ context.Context, _ *sync.Record, r sync.Record) error {
	s.record = r
	return nil
}

func (s *single) Forget(context.Context, sync.Record) error { return nil }
