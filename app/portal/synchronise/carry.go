package synchronise

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// CodeCarry is the fault code for a record that the dashboard has not accepted.
const CodeCarry = "portal_sync.carry"

// Carry sends an administrator's change of one record to the dashboard at once. It returns the
// record to store, and whether a policy was created for it. Changes that concern only the
// portal make no call. The caller may store the changed record first, or the result of Carry
// afterwards: in both orders a synchronisation run, or the same change repeated, completes an
// interrupted change.
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
	// The policies that the change can concern. Usually that is the record's own policy. If the
	// record has none, an earlier attempt may have created it. A product that gets APIs again
	// may need a new policy, whose name must be free. A deleted record may have left several.
	// In these cases it is all policies.
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
		if s.For == r.Key() { // a synchronisation run handles the others
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

// single implements Records for one record.
type single struct{ record sync.Record }

func (s *single) List(context.Context) ([]sync.Record, error) {
	return []sync.Record{s.record}, nil
}

func (s *single) Store(_ context.Context, _ *sync.Record, r sync.Record) error {
	s.record = r
	return nil
}

func (s *single) Forget(context.Context, sync.Record) error { return nil }
