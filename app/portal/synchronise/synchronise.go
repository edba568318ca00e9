// Package synchronise synchronises the products and plans of a portal with the policies of a
// dashboard (docs/wire/portal-sync.md). core/portal/sync computes the steps; this package
// executes them, so that the next run can complete an interrupted one.
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

// Records are the products and plans of one provider, in any storage.
type Records interface {
	// List returns them in order, including deleted ones whose policies may still exist.
	List(ctx context.Context) ([]sync.Record, error)
	// Store stores the new state of a record. seen is the record as it was listed: if it has
	// changed since, nothing is stored and the error is a Stale fault. If seen is nil, the
	// record is new and has only the data of r.
	Store(ctx context.Context, seen *sync.Record, r sync.Record) error
	// Forget removes a deleted record from synchronisation.
	Forget(ctx context.Context, r sync.Record) error
}

// Provider is a dashboard with the settings that a portal has for it.
type Provider struct {
	Dashboard dashboard.Dashboard
	Tags      []string // PoliciesTags
	Org       string   // organisation at the dashboard, or ""
	// Turn runs fn while neither a run nor another write is active; nil: there are no others.
	Turn func(ctx context.Context, fn func(context.Context) error) error
}

// InTurn calls Turn, or fn directly if Turn is nil.
func (p Provider) InTurn(ctx context.Context, fn func(context.Context) error) error {
	if p.Turn == nil {
		return fn(ctx)
	}
	return p.Turn(ctx, fn)
}

// Report is the result of a run.
type Report struct {
	Differences []sync.Difference
	Problems    []sync.Problem // problems of single records; the other records are done
	Writes      int            // at the dashboard
	Stored      int            // in the portal
	APIs        sync.Index     // the APIs of the dashboard when they were read
}

// Fault codes that a run reports, besides those of the plan.
const (
	CodeStale = "portal_sync.stale" // a policy names APIs that do not exist
	CodeWrite = "portal_sync.write" // the dashboard has failed to execute a write
	CodeMoved = "portal_sync.moved" // the record or the policy has changed meanwhile
	CodeStore = "portal_sync.store" // the portal cannot store the record, because another one has its name
)

// Look returns the differences between portal and dashboard without changes.
func Look(ctx context.Context, p Provider, records Records) (Report, error) {
	_, _, report, err := look(ctx, p, records)
	return report, err
}

// Run synchronises portal and dashboard. An error means that the dashboard or the storage has
// failed; the report has what was done until then.
func Run(ctx context.Context, p Provider, records Records) (Report, error) {
	have, want, report, err := look(ctx, p, records)
	if err != nil {
		return report, err
	}
	err = carryOut(ctx, p, records, have.APIs, sync.Plan(have, want), &report)
	return report, err
}

// look reads both sides and computes their target states.
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

// ErrTooMuch says that a dashboard has too much data for a portal.
var ErrTooMuch = errors.New("the products of the dashboard would take too much with what it says about their APIs")

// maxTold bounds the size in bytes of the data about APIs in all products of a dashboard: each
// product repeats the dashboard's data.
const maxTold = 256 << 20

// shown bounds how many identifiers a fault lists.
const shown = 3

// read decodes policies, and reports those that name missing APIs.
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

// carryOut executes the steps of a plan. When a step of a record fails, the later steps of
// this record are left for the next run. If the dashboard does not answer, the run ends.
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

// classify returns the code of an error, and whether it concerns one record only.
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
