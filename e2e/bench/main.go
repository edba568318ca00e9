// Command bench measures the control plane and prints one table of figures. Every speed
// is a ratio to a simple baseline that is measured in the same run, alternating with
// it, so that a figure means the same on any machine.
//
// The PostgreSQL and Redis rows need servers: -postgres and -redis, or
// GATEHOUSE_TEST_POSTGRES_DSN and GATEHOUSE_TEST_REDIS_ADDR. Without them the table
// lists the missing rows.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

func main() {
	if os.Getenv(childVariable) != "" {
		if err := beChild(); err != nil {
			fmt.Fprintln(os.Stderr, "bench: the service:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run of the program.
type bench struct {
	turn     time.Duration // for how long a contestant runs in each round
	rounds   int
	short    bool
	dir      string // where files are measured
	postgres string // connection string; "": none
	redis    string // address; "": none
	progress io.Writer
	files    int // temporary files made so far
}

// section is one topic of the table.
type section struct {
	id, title string
	run       func(context.Context, *bench) ([]row, error)
}

var sections = []section{
	{"bare", "What the disk and the database can do", bareRows},
	{"upsert", "Upsert in process", upsertRows},
	{"http", "Over HTTP", httpRows},
	{"growth", "Upsert into a large record", growthRows},
	{"fairness", "What one organisation costs another", fairnessRows},
	{"history", "History", historyRows},
	{"sealing", "Encryption at rest", sealingRows},
	{"audit", "The audit trail", auditRows},
	{"traffic", "Views of a year of traffic", trafficRows},
	{"feed", "Feed of 10,000 mappings pulled by 50 nodes at once", feedRows},
	{"catalogue", "APIs and policies, by how many there are", catalogueRows},
	{"latency", "From commit to visible and announced", latencyRows},
	{"memory", "Memory under the largest bodies", memoryRows},
	{"collector", "Records of gateways, collected", collectorRows},
	{"startup", "Start-up", startupRows},
	{"rules", "OPA decision", rulesRows},
	{"portal-pages", "Pages of a portal with 1,000 products and 10,000 developers, 50 readers on 2 cores, each with a page every 250 ms or so", portalPageRows},
	{"timing", "What the time of a refusal tells", timingRows},
}

type options struct {
	short, hops                bool
	only, postgres, redis, dir string
	seconds                    float64
	out                        string
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.BoolVar(&o.short, "short", false, "seconds instead of minutes: short turns and smaller data, good for a look only")
	f.StringVar(&o.only, "only", "", "regular `expression`: only the sections whose name or title it matches")
	f.Float64Var(&o.seconds, "seconds", 0, "`length` of one contestant's turn in a round (default 1, with -short 0.1)")
	f.StringVar(&o.postgres, "postgres", os.Getenv("GATEHOUSE_TEST_POSTGRES_DSN"), "`connection string` of a PostgreSQL database; a schema of its own is made and dropped")
	f.StringVar(&o.redis, "redis", os.Getenv("GATEHOUSE_TEST_REDIS_ADDR"), "`host:port` of a Redis server")
	f.StringVar(&o.dir, "dir", "", "`folder` for the files that are measured (default: a temporary one)")
	f.BoolVar(&o.hops, "hops", false, "print instead which functions one PATCH of a mapping runs; needs a build with -cover, see hops.go")
	f.StringVar(&o.out, "out", "", "`file` to write the page of benchmarks to")
	if err = f.Parse(args); err == nil && f.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o, err
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	b := &bench{turn: time.Second, rounds: 7, short: o.short, postgres: o.postgres, redis: strings.TrimPrefix(o.redis, "redis://"), progress: stderr}
	if o.short {
		b.turn, b.rounds = 100*time.Millisecond, 5
	}
	if o.seconds > 0 {
		b.turn = time.Duration(o.seconds * float64(time.Second))
	}
	if b.dir, err = os.MkdirTemp(o.dir, "gatehouse-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }()
	if o.hops {
		return b.hops(ctx, stdout)
	}
	began := time.Now()
	table, failure := b.measure(ctx, chosen)
	if err := ctx.Err(); err != nil {
		return err
	}
	var text bytes.Buffer
	writeTable(&text, table)
	if _, err := stdout.Write(text.Bytes()); err != nil {
		return err
	}
	if o.out != "" {
		page := page{Command: command(args), Machine: thisMachine(b.dir), Began: began, Took: time.Since(began), Short: o.short, Table: table}
		failure = errors.Join(failure, os.WriteFile(o.out, page.render(), 0o644))
	}
	return failure
}

// choose returns the sections that an expression selects.
func choose(only string) ([]section, error) {
	re, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	var out []section
	for _, s := range sections {
		if re.MatchString(s.id) || re.MatchString(s.title) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("-only: no section matches %q", only)
	}
	return out, nil
}

// measure runs sections. If one fails, the table says so, and the others are still
// measured.
func (b *bench) measure(ctx context.Context, chosen []section) (table []part, failure error) {
	for _, s := range chosen {
		b.say("%s: %s", s.id, s.title)
		rows, err := s.run(ctx, b)
		if err != nil {
			rows = append(rows, row{figure: "the rest of this section", note: "failed: " + err.Error()})
			failure = errors.Join(failure, fmt.Errorf("%s: %w", s.id, err))
		}
		table = append(table, part{s.title, rows})
		if ctx.Err() != nil {
			break
		}
	}
	return table, failure
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.progress, format+"\n", args...) }
