package synchronise

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// writer executes steps.
type writer struct {
	Provider
	records Records
	apis    sync.Index
	made    map[string]sync.Ref // policies that this run has created, by the key of their record
	report  *Report
}

func (w *writer) do(ctx context.Context, step sync.Step) error {
	var err error
	if step.Remote() {
		switch step.Action {
		case sync.Create:
			var ref sync.Ref
			if ref, err = w.Dashboard.Create(ctx, sync.New(step.Policy, w.apis, w.Org)); err == nil {
				w.made[step.For] = ref
			}
		case sync.Replace:
			err = w.replace(ctx, step)
		default:
			err = w.Dashboard.Delete(ctx, step.Policy.Ref)
		}
		if err == nil {
			w.report.Writes++
		}
		return err
	}
	if step.Action == sync.Forget {
		err = w.records.Forget(ctx, step.Record)
	} else {
		r := step.Record
		if ref, ok := w.made[step.For]; ok {
			r.Ref = ref
		}
		err = w.records.Store(ctx, step.Seen, r)
	}
	if err == nil {
		w.report.Stored++
	}
	return err
}

// replace reads a policy, changes the portal's members in it, and writes it whole:
// everything else that was set at the dashboard stays. A policy that has changed since
// it was listed is left for the next run.
func (w *writer) replace(ctx context.Context, step sync.Step) error {
	p, err := w.Dashboard.Policy(ctx, step.Before.Ref)
	if err != nil {
		return err
	}
	if now, _ := sync.Read(p.Document, w.apis, w.Tags); !now.Equal(step.Before) {
		return dashboard.ErrChanged
	}
	if !sync.Write(p.Document, step.Policy, w.apis) {
		return nil
	}
	return w.Dashboard.Replace(ctx, p)
}
