package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.in); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}

func TestPercentile(t *testing.T) {
	var hundred []float64
	for i := 100; i > 0; i-- {
		hundred = append(hundred, float64(i))
	}
	for _, c := range []struct {
		in      []float64
		q, want float64
	}{{nil, 0.99, 0}, {[]float64{7}, 0.99, 7}, {hundred, 0.99, 99}, {hundred, 0.5, 50}, {hundred, 0, 1}, {hundred, 1, 100}, {[]float64{1, 2, 3}, 0.5, 2}} {
		if got := percentile(c.in, c.q); got != c.want {
			t.Errorf("percentile(%d values, %v) = %v, want %v", len(c.in), c.q, got, c.want)
		}
	}
}

func TestRatiosCompareRoundByRound(t *testing.T) {
	slow := series{rates: []float64{10, 20, 100}}
	fast := series{rates: []float64{30, 40, 200}}
	if got := fast.over(slow); got != 2 { // the ratios are 3, 2 and 2
		t.Errorf("over = %v, want 2", got)
	}
	if got := slow.each(); got != 50*time.Millisecond {
		t.Errorf("each = %v, want 50ms", got)
	}
}

func TestAim(t *testing.T) {
	for _, c := range []struct {
		aim  *aim
		met  bool
		text string
	}{
		{atLeast(0.9, 0.9, "× bare"), true, "≥ 0.9 × bare"},
		{atLeast(0.89, 0.9, "× bare"), false, "≥ 0.9 × bare"},
		{atMost(100, 100, "µs"), true, "≤ 100 µs"},
		{atMost(100.1, 100, "µs"), false, "≤ 100 µs"},
		{atMost(math.NaN(), 100, "µs"), false, "≤ 100 µs"},
	} {
		if c.aim.met() != c.met || c.aim.String() != c.text {
			t.Errorf("%+v: met %v, %q", *c.aim, c.aim.met(), c.aim)
		}
	}
}

func TestSignificant(t *testing.T) {
	for in, want := range map[float64]string{0: "0.00", 0.012345: "0.012", 0.5: "0.50", 9.876: "9.88", 12.34: "12.3", 123.4: "123", 1234567.8: "1,234,568", -4321: "-4,321", math.Inf(1): "?"} {
		if got := significant(in); got != want {
			t.Errorf("significant(%v) = %q, want %q", in, got, want)
		}
	}
}

var exampleTable = []part{
	{"First", []row{
		{id: "a", figure: "one | two", value: "12", unit: "ms", ratios: []ratio{{0.5, "bare"}, {2, "append"}}, aim: atLeast(0.5, 0.9, "× bare"), allocs: 3},
		{figure: "three", note: noPostgres},
	}},
	{"Second", []row{{id: "b", figure: "four", value: "1", unit: "µs", aim: atMost(1, 100, "µs")}}},
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	writeTable(&b, exampleTable)
	want := `| figure | value | unit | ratio | aim | verdict | allocs/op |
|---|--:|---|---|---|---|--:|
| **First** | | | | | | |
| one \| two | 12 | ms | 0.50 × bare, 2.00 × append | ≥ 0.9 × bare | **below** | 3.00 |
| three | | | left out: no PostgreSQL server was given (-postgres) | | | |
| **Second** | | | | | | |
| four | 1 | µs |  | ≤ 100 µs | ok |  |
`
	if b.String() != want {
		t.Errorf("table:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestPageExplainsWhatIsMissed(t *testing.T) {
	p := page{Command: "go run ./e2e/bench", Machine: machine{CPU: "Example", Cores: 2, Go: "go1.26", System: "linux/amd64", FileSystem: "tmpfs"},
		Began: someTime, Took: time.Minute, Short: true, Table: exampleTable}
	text := string(p.render())
	for _, want := range []string{"2026-01-02", "Example, 2 cores", "for 1m0s", "short run", "files were in memory",
		"**First: one | two.** The aim is ≥ 0.9 × bare; measured: 0.50. The reason has not been found yet."} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "Second: four") {
		t.Error("the page explains an aim that is met")
	}
	p.Table = exampleTable[1:]
	if text := string(p.render()); !strings.HasSuffix(text, "\nNone of those that were measured.\n") {
		t.Errorf("nothing is missed, but the page ends with %q", text[len(text)-80:])
	}
}

func TestMachine(t *testing.T) {
	if got := cpuModel("processor\t: 0\nmodel name\t: Example 3000\nmodel name\t: Other\n"); got != "Example 3000" {
		t.Errorf("cpuModel = %q", got)
	}
	if got := cpuModel(""); got != "unknown processor" {
		t.Errorf("cpuModel of nothing = %q", got)
	}
	const mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /tmpfiles xfs rw 0 0\n"
	for dir, want := range map[string]string{"/tmp/x": "tmpfs", "/tmp": "tmpfs", "/tmpfiles/x": "xfs", "/home": "ext4"} {
		if got := fileSystem(mounts, dir); got != want {
			t.Errorf("fileSystem(%q) = %q, want %q", dir, got, want)
		}
	}
}

func TestCommandHidesServers(t *testing.T) {
	got := command([]string{"-short", "-postgres", "postgres://u:secret@h/db", "--redis=secret:6379", "-dir", "/some/where", "-only", "http|rules"})
	if want := "go run ./e2e/bench -short -postgres … --redis=… -dir … -only 'http|rules'"; strings.ReplaceAll(got, " -redis", " --redis") != want {
		t.Errorf("command = %q, want %q", got, want)
	}
}

func TestWithSchema(t *testing.T) {
	for in, want := range map[string]string{
		"postgres://u@h/db":             "postgres://u@h/db?search_path=s",
		"postgresql://u@h/db?sslmode=x": "postgresql://u@h/db?sslmode=x&search_path=s",
		"host=h dbname=db":              "host=h dbname=db search_path=s",
	} {
		if got := withSchema(in, "s"); got != want {
			t.Errorf("withSchema(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	if all, err := choose(""); err != nil || len(all) != len(sections) {
		t.Errorf("choose all: %d, %v", len(all), err)
	}
	if some, err := choose("^(http|rules)$"); err != nil || len(some) != 2 {
		t.Errorf("choose two: %v, %v", some, err)
	}
	for _, bad := range []string{"no such section", "("} {
		if _, err := choose(bad); err == nil {
			t.Errorf("choose(%q) chose something", bad)
		}
	}
}

func testBench() *bench {
	return &bench{turn: time.Millisecond, rounds: 5, progress: io.Discard}
}

func TestRaceTakesTurns(t *testing.T) {
	var turns []string
	var calls atomic.Int64
	last := ""
	alone := func(name string) contestant {
		return contestant{name: name, do: func(context.Context, int, int) error {
			if last != name {
				turns, last = append(turns, name), name
			}
			return nil
		}}
	}
	many := contestant{name: "many", clients: 8, do: func(context.Context, int, int) error { calls.Add(1); return nil }}
	results, err := testBench().race(t.Context(), "test", alone("a"), alone("b"), many)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(turns, ""); got != "abababababab" { // a warm-up and five rounds
		t.Errorf("turns: %s", got)
	}
	for i, s := range results {
		if len(s.rates) != 5 || s.rate() <= 0 {
			t.Errorf("contestant %d: %v", i, s.rates)
		}
	}
	if calls.Load() < 8*6 {
		t.Errorf("eight clients made %d calls", calls.Load())
	}
}

func TestRaceStopsAtAnError(t *testing.T) {
	failing := contestant{name: "failing", do: func(context.Context, int, int) error { return io.ErrUnexpectedEOF }}
	if _, err := testBench().race(t.Context(), "test", failing); err == nil || !strings.Contains(err.Error(), "failing") {
		t.Errorf("error: %v", err)
	}
}

func TestBareHandlerAndLines(t *testing.T) {
	s, err := serve(bareHandler([]byte(`{"a":1}`), "X-Test", "yes"))
	if err != nil {
		t.Fatal(err)
	}
	ls, err := dial(s.addr, 2)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // on the same connection
		for _, l := range ls {
			if n, err := l.ask(request("PUT", "/x", `{"b":2}`, "Authorization", "key")); err != nil || n != 7 {
				t.Errorf("answer of %d bytes, %v", n, err)
			}
		}
	}
	if err := ls.close(); err != nil {
		t.Error(err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

func TestLinesReportFailures(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	ls, err := dial(strings.TrimPrefix(s.URL, "http://"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer ls.close()
	if _, err := ls[0].ask(request("GET", "/", "")); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("error: %v", err)
	}
}

func TestDraftIsAProvider(t *testing.T) {
	for _, n := range []int{0, 1, 10, 1000} {
		p, err := provider("corp-0", n)
		if err != nil || p.APIMappings.Len() != n {
			t.Errorf("provider with %d mappings: %d, %v", n, p.APIMappings.Len(), err)
		}
	}
	if !json.Valid([]byte(mapping(7))) {
		t.Error("mapping is no JSON")
	}
}

func TestUpsertOnMemory(t *testing.T) {
	w, err := newWorld(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.seed(t.Context(), "corp", 2, 10); err != nil {
		t.Fatal(err)
	}
	for _, c := range []contestant{w.put("corp", 2, false), w.put("corp", 2, true), w.edit("corp", 2)} {
		if err := c.do(t.Context(), 1, 41); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	var took delays
	if err := w.put("corp", 1, false).do(t.Context(), 0, 42); err != nil {
		t.Fatal(err)
	}
	if err := w.await(t.Context(), 42, 1, &took); err != nil || len(took) != 1 {
		t.Errorf("await: %v, %v", took, err)
	}
	if err := w.await(t.Context(), 43, 2, &took); err == nil {
		t.Error("await found what was never written")
	}
	if _, err := w.packedFeed(); err != nil {
		t.Error(err)
	}
	if err := w.stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestUnloggedWritesEveryChange(t *testing.T) {
	b := testBench()
	b.dir = t.TempDir()
	u, done, err := newUnlogged(t.Context(), b, 8, 10)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.race(t.Context(), "test", u.contestant(8)); err != nil {
		t.Fatal(err)
	}
	var records, logged int
	row := u.db.QueryRowContext(t.Context(), "select (select count(*) from record), (select count(*) from change_log)")
	if err := row.Scan(&records, &logged); err != nil || records != 8 || logged != 0 {
		t.Errorf("%d records, %d rows in the log, %v", records, logged, err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
}

func TestParse(t *testing.T) {
	o, err := parse([]string{"-short", "-only", "http", "-seconds", "0.5", "-out", "page.md"}, io.Discard)
	if err != nil || !o.short || o.only != "http" || o.seconds != 0.5 || o.out != "page.md" {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := parse([]string{"extra"}, io.Discard); err == nil {
		t.Error("an argument that means nothing was accepted")
	}
}

func TestRunSaysWhatIsMissing(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_POSTGRES_DSN", "")
	t.Setenv("GATEHOUSE_TEST_REDIS_ADDR", "")
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-short", "-seconds", "0.001", "-only", "^latency$", "-dir", t.TempDir()}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{noPostgres, noRedis} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}

func TestDroppedLogKeepsItsHead(t *testing.T) {
	b := testBench()
	b.dir = t.TempDir()
	w, done, err := writeOnly(t.Context(), b, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.seed(t.Context(), "corp", 2, 10); err != nil {
		t.Fatal(err)
	}
	feed, ok := w.Store().(store.ChangeLog)
	if !ok {
		t.Fatal("the store has no feed")
	}
	before, err := feed.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.edit("corp", 2).do(t.Context(), 1, 7); err != nil {
		t.Fatal(err)
	}
	if after, err := feed.Head(t.Context()); err != nil || after != before+1 {
		t.Errorf("head %d after %d, %v", after, before, err)
	}
	if err := done(); err != nil {
		t.Error(err)
	}
}

func TestBareCommitWritesItsBytes(t *testing.T) {
	b := testBench()
	b.dir = t.TempDir()
	o, err := openSQLite(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for differs, changed := range map[string]int{everyMapping: 10, oneMapping: 1} {
		c, err := bareCommit(t.Context(), o.bare, 10, differs)
		if err != nil {
			t.Fatal(err)
		}
		var docs [2]string
		for n := range docs {
			if err := c.do(t.Context(), 0, n); err != nil {
				t.Fatal(err)
			}
			row := o.bare.QueryRowContext(t.Context(), fmt.Sprintf("select doc from bare_10_%d", len(differs)))
			if err := row.Scan(&docs[n]); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Count(docs[1], "policy-9"); got != changed || len(docs[0]) != len(docs[1]) || !json.Valid([]byte(docs[1])) {
			t.Errorf("%s: %d mappings differ, want %d; %d and %d bytes", differs, got, changed, len(docs[0]), len(docs[1]))
		}
	}
	if err := o.close(); err != nil {
		t.Error(err)
	}
}

// The section over HTTP ends: each of its servers is closed once.
func TestOverHTTP(t *testing.T) {
	rows, err := httpOn(t.Context(), &bench{turn: time.Millisecond, rounds: 1, dir: t.TempDir(), progress: io.Discard}, inMemory)
	if err != nil || len(rows) == 0 {
		t.Fatal(rows, err)
	}
}
