package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/gatehouse-io/gatehouse/app/config"
	program "github.com/gatehouse-io/gatehouse/app/serve"
)

// childVariable makes this program the service that memoryRows measures, because memory
// is measured per process.
const childVariable = "GATEHOUSE_BENCH_CHILD"

// memoryClients is how many clients send the largest bodies at once.
const memoryClients = 64

// largest are bodies of the largest allowed descriptions, by the way in which they are
// large. Each includes the API's own members.
var largest = []struct {
	id, name, mediaType string
	anonymous           bool
	body                func() string // each client replaces the X in it by its own letter
}{
	{"values", "JSON, 300,000 values", "application/json", false, func() string { return described("[" + strings.Repeat(`{"a":1},`, 149_900) + "1]") }},
	{"yaml", "YAML, 300,000 values", "application/x-yaml", false, func() string { return described("[" + strings.Repeat("{a: 1}, ", 149_900) + "1]") }},
	{"bytes", "JSON, 32 MiB in one text", "application/json", false, func() string { return described(`"` + strings.Repeat("x", 32<<20-1000) + `"`) }},
	{"texts", "JSON, 32 MiB in one text, another from each client", "application/json", false, func() string { return described(`"` + strings.Repeat("X", 32<<20-1000) + `"`) }},
	{"yamltext", "YAML, 32 MiB in one text", "application/x-yaml", false, func() string { return described(`"` + strings.Repeat("x", 32<<20-1000) + `"`) }},
	{"description", "JSON, a description of 32 MiB with line breaks", "application/json", false,
		func() string {
			return strings.Replace(described("1"), `"title": "t"`, `"title": "t", "description": "`+strings.Repeat(`A line of \"text\".\n`, (32<<20-1000)/22)+`"`, 1)
		}},
	{"middle", "JSON, 8 MiB in one text, another from each client", "application/json", false, func() string { return described(`"` + strings.Repeat("X", 8<<20-1000) + `"`) }},
	{"escapes", "JSON, 32 MiB of escapes in one text", "application/json", false, func() string { return described(`"` + strings.Repeat(`\u00e9`, (32<<20-1000)/6) + `"`) }},
	{"names", "JSON, 149,000 members with names of 200 characters", "application/json", false, func() string { return described("{" + longNames(149_000) + "}") }},
	{"deep", "JSON, 290,000 lists in one another, 100 deep", "application/json", false,
		func() string {
			return described("[" + strings.Repeat(strings.Repeat("[", 100)+strings.Repeat("]", 100)+",", 2_900) + "1]")
		}},
	{"list", "JSON list of 32 MiB, refused", "application/json", false, func() string { return described("[" + strings.Repeat("1,", 16<<20-1000) + "1]") }},
	{"alias", "YAML of 156 KiB whose aliases make 2 GB, refused", "application/x-yaml", false,
		func() string {
			return "a: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a,", 19_999) + "*a]\n"
		}},
	{"stranger", "32 MiB without a credential, refused", "application/x-yaml", true, func() string { return "a: [" + strings.Repeat("1,", 16<<20-1000) + "1]" }},
}

func described(extra string) string {
	return `{"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {}, "x-tyk-api-gateway": {"info": {"name": "n", "state": {"active": true}}, ` +
		`"upstream": {"url": "http://a.example"}, "server": {"listenPath": {"value": "/n/"}}}, "x-large": ` + extra + `}`
}

func longNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%0200d":1`, i)
	}
	return b.String()[1:]
}

// memoryRows measures the memory of the service while many clients replace one API by
// the largest allowed document.
func memoryRows(ctx context.Context, b *bench) (rows []row, err error) {
	for _, l := range largest {
		figure := fmt.Sprintf("SQLite: %s, %d clients at once", l.name, memoryClients)
		c, err := b.child(ctx)
		if errors.Is(err, errNoPeak) {
			return []row{{figure: figure, note: "left out: " + err.Error()}}, nil
		}
		if err != nil {
			return rows, err
		}
		answers, err := c.flood(ctx, l.body(), l.mediaType, l.anonymous)
		peak, more := c.peak()
		if err := errors.Join(err, more, c.end()); err != nil {
			return rows, err
		}
		b.say("  memory: %s: %v", l.name, answers)
		rows = append(rows, row{id: "memory/" + l.id, figure: figure + ": peak of the process", value: significant(peak), unit: "MB", aim: atMost(peak, 512, "MB")})
	}
	return rows, nil
}

// child is the service in a process of its own.
type child struct {
	cmd     *exec.Cmd
	address string
	clients http.Client
}

const childKey = "00112233445566778899aabbccddeeff"

func (b *bench) child(ctx context.Context) (*child, error) {
	if _, err := peakOf(os.Getpid()); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.CommandContext(ctx, self)}
	c.cmd.Env = []string{childVariable + "=1", "SVC_DB_HOMEDIR=" + b.path("memory"), "SVC_DB_LISTENADDRESS=127.0.0.1", "SVC_DB_LISTENPORT=0",
		"SVC_DB_LOGLEVEL=error", "SVC_DB_BOOTSTRAP_EMAIL=admin@example.com", "SVC_DB_BOOTSTRAP_ACCESSKEY=" + childKey}
	c.cmd.Stderr = b.progress
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.address, err = bufio.NewReader(out).ReadString('\n')
	if c.address = strings.TrimSpace(c.address); err != nil {
		return nil, errors.Join(fmt.Errorf("the service did not start: %w", err), c.end())
	}
	return c, nil
}

// beChild prints its address and serves until it is told to end.
func beChild() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, report := config.Read("", config.Options{})
	if len(report.Problems) > 0 {
		return report.Problems[0]
	}
	return program.Run(ctx, s, program.NewLogger(os.Stderr, s.Log), "bench", func(a net.Addr) { fmt.Println(a) })
}

// flood creates an API and replaces it by the body from all clients at once. It returns
// the number of answers by status.
func (c *child) flood(ctx context.Context, body, mediaType string, anonymous bool) (map[int]int, error) {
	var made struct{ ID string }
	status, answer, err := c.send(ctx, "POST", "/api/apis/oas", lettered{strings.NewReader(described("1")), 'X'}, "application/json", false)
	if err != nil || status != http.StatusOK || json.Unmarshal(answer, &made) != nil {
		return nil, fmt.Errorf("making an API: %d %s %w", status, answer, err)
	}
	counts := [600]atomic.Int64{}
	var all sync.WaitGroup
	for client := range memoryClients {
		all.Go(func() {
			if status, _, err := c.send(ctx, "PUT", "/api/apis/oas/"+made.ID, lettered{strings.NewReader(body), 'a' + byte(client%26)}, mediaType, anonymous); err == nil {
				counts[status].Add(1)
			} else {
				counts[0].Add(1) // the connection ended while the client was sending
			}
		})
	}
	all.Wait()
	out := map[int]int{}
	for status := range counts {
		if n := counts[status].Load(); n > 0 {
			out[status] = int(n)
		}
	}
	return out, ctx.Err()
}

// lettered is a text with each X replaced by a letter.
type lettered struct {
	*strings.Reader
	letter byte
}

// Read implements io.Reader.
func (l lettered) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	for i, c := range p[:n] {
		if c == 'X' {
			p[i] = l.letter
		}
	}
	return n, err
}

func (c *child) send(ctx context.Context, method, path string, body lettered, mediaType string, anonymous bool) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.address+path, io.NopCloser(body))
	if err != nil {
		return 0, nil, err
	}
	r.ContentLength = int64(body.Len())
	r.Header.Set("Content-Type", mediaType)
	if !anonymous {
		r.Header.Set("Authorization", childKey)
	}
	w, err := c.clients.Do(r)
	if err != nil {
		return 0, nil, err
	}
	answer, err := io.ReadAll(w.Body)
	return w.StatusCode, answer, errors.Join(err, w.Body.Close())
}

func (c *child) peak() (megabytes float64, err error) { return peakOf(c.cmd.Process.Pid) }

func (c *child) end() error {
	c.clients.CloseIdleConnections()
	return errors.Join(c.cmd.Process.Signal(syscall.SIGTERM), c.cmd.Wait())
}

var errNoPeak = errors.New("this system does not tell the peak memory of a process")

// peakOf returns the peak memory of a process, as Linux reports it.
func peakOf(pid int) (megabytes float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, errNoPeak
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" {
			kib, err := strconv.ParseFloat(f[1], 64)
			return kib * 1024 / 1e6, err
		}
	}
	return 0, errNoPeak
}
