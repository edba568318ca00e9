package audit_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// during is the target of an export that does something else during the first write.
type during struct {
	bytes.Buffer
	do func() error
}

func (d *during) Write(text []byte) (int, error) {
	if do := d.do; do != nil {
		d.do = nil
		if err := do(); err != nil {
			return 0, err
		}
	}
	return d.Buffer.Write(text)
}

// An export reads one snapshot: writers can commit meanwhile, and the export does not
// have their records.
func TestExportDoesNotHoldTheWriter(t *testing.T) {
	db, p := filled(t, filepath.Join(t.TempDir(), "trail.db"))
	scope, err := tenant.Of("a")
	if err != nil {
		t.Fatal(err)
	}
	out := &during{do: func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // would end the wait if the writer waited for the export
		defer cancel()
		if _, err := db.Update(ctx, scope, func(tx store.Writer) error {
			return notes.Insert(ctx, tx, note{ID: "meanwhile", Org: "a"})
		}); err != nil {
			return err
		}
		return p.Fold(ctx)
	}}
	if err := p.Export(t.Context(), out, nil); err != nil || bytes.Contains(out.Bytes(), []byte("meanwhile")) {
		t.Error(err)
	}
	if v, err := p.Verify(t.Context()); err != nil || len(v.Findings) > 0 || v.Records != 201 {
		t.Error(v, err)
	}
}

// counting counts what units of work delete.
type counting struct {
	*memdb.DB
	deleted []int
}

func (c *counting) Update(ctx context.Context, scope tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	w := &deleting{}
	rev, err := c.DB.Update(ctx, scope, func(tx store.Writer) error {
		w.Writer, w.n = tx, 0
		return fn(w)
	})
	if w.n > 0 {
		c.deleted = append(c.deleted, w.n)
	}
	return rev, err
}

type deleting struct {
	store.Writer
	n int
}

func (d *deleting) Delete(ctx context.Context, kind, id string) error {
	d.n++
	return d.Writer.Delete(ctx, kind, id)
}

// Retention deletes many segments in several units of work, so that no writer waits for
// all of them.
func TestRetentionDoesNotHoldTheWriter(t *testing.T) {
	w := newWorld(t)
	c := &counting{DB: w.db}
	p, err := audit.New(audit.Settings{Signer: w.keys, MaxAge: time.Hour}, crud.Tools{Store: c, Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler)},
		func(string) *operation.Spec { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for i := range 70 * 32 { // one segment for each fold of many records
		w.write("a", fmt.Sprint("n", i%5), fmt.Sprint(i))
		if i%32 == 31 {
			w.fold(p)
		}
	}
	w.now = w.now.Add(2 * time.Hour)
	w.write("a", "n", "last")
	w.fold(p)
	if err := p.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(c.deleted) != "[32 32 6]" {
		t.Error("segments per unit of work:", c.deleted)
	}
	if v := w.verify(p); len(v.Findings) > 0 || v.Records != 1 {
		t.Error(v)
	}
}
