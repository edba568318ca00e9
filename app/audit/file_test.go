package audit_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/logfile"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// filed returns settings that keep records in a file, and a function that reads the
// file.
func (w *world) filed(json bool) (audit.Settings, func() string) {
	w.Helper()
	path := filepath.Join(w.TempDir(), "audit.log")
	f, err := logfile.Open(path, 1<<20, 1)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = f.Close() })
	return audit.Settings{File: f, JSON: json}, func() string {
		text, err := os.ReadFile(path)
		if err != nil {
			w.Fatal(err)
		}
		return string(text)
	}
}

// Beside the store: store and file have each commit once, whichever of several
// processes recorded it.
func TestFileBesideTheStore(t *testing.T) {
	w := newWorld(t)
	one, first := w.filed(true)
	two, second := w.filed(true)
	a, b := w.process(one), w.process(two)
	w.write("a", "n", "1")
	w.fold(a)
	w.fold(b)
	w.write("a", "n", "2")
	w.write("b", "n", "1")
	w.fold(b)
	w.fold(a)
	all := first() + second()
	if strings.Count(all, "\n") != 3 || strings.Count(all, `"req_id":"r-2"`) != 1 || strings.Count(first(), "\n") != 1 || strings.Contains(all, "planted") {
		t.Error(all)
	}
	if v := w.verify(a); v.Records != 3 || len(v.Findings) > 0 {
		t.Error(v)
	}
}

// Instead of the store: nothing can be read, and a process continues where another one
// stopped.
func TestFileInsteadOfTheStore(t *testing.T) {
	w := newWorld(t)
	s, text := w.filed(false)
	start := func() *audit.Service {
		p, err := audit.New(s, crud.Tools{Store: w.db, Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler), PageSize: 10}, func(id string) *operation.Spec { return &operation.Spec{Summary: id} })
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := start()
	w.write("a", "n", "1")
	w.fold(p)
	w.write("a", "n", "2")
	w.fold(start())
	w.fold(p)
	if got := text(); strings.Count(got, "req_id: ") != 2 || !strings.Contains(got, "\nmethod: PUT\nurl: /notes/n\nstatus: 200\ndiff: [{") || strings.Contains(got, "hash") {
		t.Error(got)
	}
	for _, o := range p.Operations() {
		if _, err := o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Path: map[string]string{"audit-log-id": strings.Repeat("0", 23) + "1"}}); fault.CodeOf(err) != audit.CodeOff {
			t.Error(o.ID, err)
		}
	}
	if _, err := p.Verify(t.Context()); err == nil {
		t.Error("a trail that is not there is well")
	}
}

// broken is a file whose disk is full.
type broken struct{}

func (*broken) Append([]byte) (func() error, error) { return nil, errors.New("the disk is full") }

// Records that the file refuses are recorded again later, and the cursor does not move.
func TestFullDisk(t *testing.T) {
	w := newWorld(t)
	p := w.process(audit.Settings{File: &broken{}})
	w.write("a", "n", "1")
	if err := p.Fold(t.Context()); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Error(err)
	}
	good := w.process(audit.Settings{})
	w.fold(good)
	if v := w.verify(good); v.Records != 1 {
		t.Error(v)
	}
}

// lost accepts texts and calls meanwhile, in which another process writes to the trail.
type lost struct {
	meanwhile func()
	text      string
	undone    int
}

func (l *lost) Append(text []byte) (func() error, error) {
	before := l.text
	l.text += string(text)
	if l.meanwhile != nil {
		l.meanwhile()
		l.meanwhile = nil
	}
	return func() error { l.text, l.undone = before, l.undone+1; return nil }, nil
}

// If two processes record the same commit, one removes its records from the file again.
func TestLostTurn(t *testing.T) {
	w := newWorld(t)
	other := w.process(audit.Settings{})
	file := &lost{meanwhile: func() { w.fold(other) }}
	p := w.process(audit.Settings{File: file})
	w.write("a", "n", "1")
	w.fold(p)
	if file.undone != 1 || file.text != "" {
		t.Error(file.undone, file.text)
	}
	w.write("a", "n", "2")
	w.fold(p)
	if file.undone != 1 || strings.Count(file.text, "req_id: ") != 1 {
		t.Error(file.text)
	}
	if v := w.verify(p); v.Records != 2 || len(v.Findings) > 0 {
		t.Error(v)
	}
}
