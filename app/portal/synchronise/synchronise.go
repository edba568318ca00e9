// Package synchronise keeps the products and plans of a portal and the policies of a
// dashboard in step (docs/wire/portal-sync.md). What is to be done is worked out in
// core/portal/sync; here it is done, step by step, so that a run that ends anywhere is
// finished by the next one.
package synchronise

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// Records are the products and plans of one provider, wherever they are kept.
type Records interface {
	// List returns them in order, the deleted ones whose policies may still be there too.
	List(ctx context.Context) ([]sync.Record, error)
	// Store stores what synchronisation wants of a record. seen is the record as it was
	// listed: if it has changed since, nothing is stored and the error is a Stale fault.
	// Without one the record is new and bare.
	Store(ctx context.Context, seen *sync.Record, r sync.Record) error
	// Forget ends what synchronisation has to do with a deleted record.
	Forget(ctx context.Context, r sync.Record) error
}

// Provider is a dashboard with what a portal has agreed with it.
type Provider struct {
	Dashboard dashboard.Dashboard
	Tags      []string // PoliciesTags
	Org       string   // organisation at the dashboard, or ""
	// Turn runs fn when neither a run nor another write is under way; nil: none can be.
	Turn func(ctx context.Context, fn func(context.Context) error) error
}

// InTurn runs fn by Turn.
func (p Provider) InTurn(ctx context.Context, fn func(context.Context) error) error {
	if p.Turn == nil {
		return fn(ctx)
	}
	return p.Turn(ctx, fn)
}

// Report is what a run has found and done.
type Report struct {
	Differences []sync.Difference
	Problems    []sync.Problem // what stands in the way of single records; the others are done
	Writes      int            // at the dashboard
	Stored      int            // in the portal
	APIs        sync.Index     // those of the dashboard, as they were read
}

// Codes of the faults that a run reports besides those of the plan.
const (
	CodeStale = "portal_sync.stale" // a policy names APIs that do not exist
	CodeWrite = "portal_sync.write" // the dashboard has not done what it was asked for
	CodeMoved = "portal_sync.moved" // the record or the policy has changed meanwhile
	CodeStore = "portal_sync.store" // the portal cannot have the record: another one has its name
)

// Look returns in what portal and dashboard differ, and changes nothing.
func Look(ctx context.Context, p Provider, records Records) (Report, error) {
	_, _, report, err := look(ctx, p, records)
	return report, err
}

// Run brings portal and dashboard together. An error means that the dashboard or the
// storage has failed; the report says how far the run has come.
func Run(ctx context.Context, p Provider, records Records) (Report, error) {
	have, want, report, err := look(ctx, p, records)
	if err != nil {
		return report, err
	}
	err = carryOut(ctx, p, records, have.APIs, sync.Plan(have, want), &report)
	return report, err
}

// look reads both sides and works out what they should be.
func look(ctx context.Context, p Provider, records Records) (have, want sync.State, report Report, err error) {
	policies, err := p.Dashboard.Policies(ctx)
	if err != nil {
		return have, want, report, fmt.Errorf("getting available products: fetching policies: %w", err)
	}
	apis, err := p.Dashboard.APIs(ctx)
	if err != nil {
		return have, want, report, fmt.Errorf("getting available products: fetching APIs: %w", err)
	}
	have = sync.State{APIs: sync.NewIndex(apis), Tags: p.Tags}
	report.APIs = have.APIs
	if have.Records, err = records.List(ctx); err != nil {
		return have, want, report, err
	}
	have.Policies = read(policies, have.APIs, p.Tags, &report)
	size := 0 // in bytes, of what products tell about their APIs
	for _, p := range have.Policies {
		for _, id := range p.Terms.APIs {
			a := have.APIs[id]
			size += len(a.ID) + len(a.Name) + len(a.ListenPath) + len(a.Target)
		}
	}
	if size > maxTold {
		return have, want, report, fmt.Errorf("%w: %d MiB, %d are allowed; shorten the names and addresses of the APIs", ErrTooMuch, size>>20, maxTold>>20)
	}
	want, problems := sync.Want(have)
	report.Problems = append(report.Problems, problems...)
	report.Differences = sync.Differences(have, want)
	return have, want, report, nil
}

// ErrTooMuch says that a dashboard is too large for a portal.
var ErrTooMuch = errors.New("the products of the dashboard would take too much with what it says about their APIs")

// maxTold bounds what all products of a dashboard keep about their APIs: each repeats what the
// dashboard says once.
const maxTold = 256 << 20

// shown bounds how many identifiers a fault lists.
const shown = 3

// read reads policies, and reports those that name what does not exist.
func read(list []*doc.Node, apis sync.Index, tags []string, report *Report) []sync.Policy {
	out := make([]sync.Policy, 0, len(list))
	for _, n := range list {
		q, stale := sync.Read(n, apis, tags)
		out = append(out, q)
		if len(stale) > 0 && q.Kind == sync.KindProduct {
			report.Problems = append(report.Problems, sync.Problem{Policy: q.Ref, Fault: fault.New(fault.Invalid, CodeStale,
				"the policy %s names %d APIs that do not exist at the dashboard, such as %q: take them off the policy", q.Name(), len(stale), stale[:min(shown, len(stale))])})
		}
	}
	return out
}

// carryOut does the steps of a plan. When one of a record fails, the later ones of this
// record are left for the next run. A dashboard that does not answer ends the run.
func carryOut(ctx context.Context, p Provider, records Records, apis sync.Index, steps []sync.Step, report *Report) error {
	w := &writer{Provider: p, records: records, apis: apis, made: map[string]sync.Ref{}, report: report}
	failed := map[string]bool{}
	for _, step := range steps {
		if failed[step.For] {
			continue
		}
		err := ctx.Err()
		if err == nil {
			err = w.do(ctx, step)
		}
		switch code, single := classify(err); {
		case err == nil:
		case !single:
			return fmt.Errorf("%s %s: %w", step.Action, step.For, err)
		default:
			failed[step.For] = true
			report.Problems = append(report.Problems, sync.Problem{Record: step.For, Policy: step.Policy.Ref, Fault: fault.New(fault.Unavailable, code, "%s", err.Error())})
		}
	}
	return nil
}

// classify tells whether an error concerns one record only.
func classify(err error) (code string, single bool) {
	switch {
	case errors.Is(err, dashboard.ErrChanged), fault.KindOf(err) == fault.Stale:
		return CodeMoved, true
	case errors.Is(err, dashboard.ErrRefused), errors.Is(err, dashboard.ErrGone):
		return CodeWrite, true
	case fault.KindOf(err) == fault.Conflict, fault.KindOf(err) == fault.Invalid:
		return CodeStore, true
	}
	return "", false
}
