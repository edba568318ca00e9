package serve_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/serve"
)

// TestOutlet logs faster than the log is read: no logging blocks, and a line says how
// many lines are missing there.
func TestOutlet(t *testing.T) {
	const lines = 30_000
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	o := serve.NewOutlet(w)
	log := serve.NewLogger(o, config.Log{Format: config.FormatJSON})
	for i := range lines {
		log.Info("a line of the log, which nothing reads for the time being", "number", i)
	}
	type line struct {
		Level         string
		Number, Lines int
	}
	seen, missing, next := 0, 0, 0
	read := bufio.NewScanner(r)
	for read.Scan() {
		var l line
		if err := json.Unmarshal(read.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if l.Lines > 0 {
			missing, next = l.Lines, next+l.Lines
			continue
		}
		if l.Number != next {
			t.Fatalf("line %d, want %d", l.Number, next)
		}
		seen, next = seen+1, next+1
		if seen == 1 { // the log is read again
			log.Info("another one", "number", lines)
			go func() {
				o.Close(time.Minute)
				_ = w.Close()
			}()
		}
	}
	if seen < 1000 || missing < 1000 || next < lines {
		t.Errorf("%d lines and %d missing ones, up to number %d", seen, missing, next)
	}
}

// TestOutletEnds: Close does not wait for a reader that reads nothing, and writes
// everything to one that reads.
func TestOutletEnds(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	halted := serve.NewOutlet(w)
	_, _ = io.WriteString(halted, "nothing takes this\n")
	halted.Close(time.Millisecond)

	var b bytes.Buffer
	o := serve.NewOutlet(&b)
	for range 1000 {
		_, _ = io.WriteString(o, "line\n")
	}
	o.Close(time.Minute)
	if n := bytes.Count(b.Bytes(), []byte("line\n")); n != 1000 {
		t.Errorf("%d lines", n)
	}
}
