package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// page is the document with the results.
type page struct {
	Command string
	Machine machine
	Began   time.Time
	Took    time.Duration
	Short   bool
	Table   []part
}

// machine describes the machine of the measurement.
type machine struct {
	CPU        string
	Cores      int
	Go, System string
	FileSystem string // of the measured files; "" if unknown
}

func thisMachine(dir string) machine {
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	mounts, _ := os.ReadFile("/proc/self/mounts")
	return machine{CPU: cpuModel(string(cpu)), Cores: runtime.NumCPU(), Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH, FileSystem: fileSystem(string(mounts), dir)}
}

// cpuModel returns the model of the first processor in Linux's description.
func cpuModel(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// fileSystem returns the type of the file system of a folder.
func fileSystem(mounts, dir string) string {
	longest, kind := -1, ""
	for line := range strings.Lines(mounts) {
		f := strings.Fields(line)
		if len(f) < 3 || len(f[1]) < longest {
			continue
		}
		if at := strings.TrimSuffix(f[1], "/"); dir == at || strings.HasPrefix(dir, at+"/") {
			longest, kind = len(f[1]), f[2]
		}
	}
	return kind
}

// command returns the command line of the run, without machine-specific parts:
// connection strings, which may contain a password, and folders.
func command(args []string) string {
	out := []string{"go run ./e2e/bench"}
	hide := false
	for _, a := range args {
		name, _, given := strings.Cut(strings.TrimLeft(a, "-"), "=")
		switch {
		case hide:
			a, hide = "…", false
		case strings.HasPrefix(a, "-") && (name == "postgres" || name == "redis" || name == "dir"):
			if given {
				a = "-" + name + "=…"
			}
			hide = !given
		}
		if strings.ContainsAny(a, "|()$*?&;<> ") {
			a = "'" + a + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}

const intro = `# Benchmarks

This page is written by the program that measures:

    %s

It ran on %s, %d cores, %s on %s%s, on %s, for %s.

Every speed is compared with something simple that is measured in the same run,
turn by turn with it; a ratio is the median of the ratios of the rounds, so it
means the same on another machine, and absolute figures do not. The bare SQL
commit is one prepared UPDATE by primary key, committed by itself, of a document
of the same size, on one connection with the same durability (SQLite: WAL,
synchronous = full). Clients run in the same process as what they measure, and
on the same cores. The service logs as it does by default, to nowhere.
Allocations are those of the whole process, clients included.

`

// render returns the page in Markdown.
func (p page) render() []byte {
	var b bytes.Buffer
	disk := ""
	if p.Machine.FileSystem != "" {
		disk = ", files on " + p.Machine.FileSystem
	}
	fmt.Fprintf(&b, intro, p.Command, p.Machine.CPU, p.Machine.Cores, p.Machine.Go, p.Machine.System, disk,
		p.Began.UTC().Format(time.DateOnly), p.Took.Round(time.Second))
	if p.Machine.FileSystem == "tmpfs" {
		b.WriteString("**The files were in memory: figures about commits mean nothing. Use -dir.**\n\n")
	}
	if p.Short {
		b.WriteString("This was a short run (-short): the figures are rough.\n\n")
	}
	writeTable(&b, p.Table)
	b.WriteString("\n## Aims that are missed\n")
	n := 0
	for _, s := range p.Table {
		for _, r := range s.rows {
			if r.aim != nil && !r.aim.met() {
				n++
				fmt.Fprintf(&b, "\n**%s: %s.** The aim is %s; measured: %s. %s\n", s.title, r.figure, r.aim, significant(r.aim.measured), explain(r.id))
			}
		}
	}
	if n == 0 {
		b.WriteString("\nNone of those that were measured.\n")
	}
	return b.Bytes()
}

const bytesFlood = "While a document of 32 MiB is stored, the one writer hands some 100 MiB to the database: the document, and what it was and is for the log. Differences, escaping and encryption happen beside the writer; one small write may wait for the rest, and with few samples that one is the p99."

// explanations explain missed aims, by row. Every row whose aim is known to be missed
// on some machine has one.
var explanations = map[string]string{
	"upsert/SQLite/use/1":                 "The commit is only a part: the call is authenticated, the record edited and compared with what it was, and the copy in memory brought up to date. The commit itself writes a page of the record and one of the log where the bare one writes one page.",
	"upsert/SQLite/store/1":               "The commit writes a page of the record and one of the log where the bare one writes one page.",
	"upsert/SQLite/use/64":                "A lone writer waits for the disk and for no other goroutine, so there is less to gain. With 64 writers the disk hardly counts any more: one core is busy with edits, encoding and SQLite, which is C translated to Go here.",
	"upsert/SQLite/store/64":              "As above: the one writer's core is the limit, not the disk.",
	"http/SQLite/put/1":                   "One client waits for one fsync, which alone takes longer on most disks than the aim leaves: where the bare handler takes 31 microseconds and an append that is on the disk 138, nothing reaches more than 0.19. The rest is the edit and the records that make it durable, found by others, and told.",
	"startup":                             "Most of it is the copy in memory, which one core makes; the records are read by one as well, and decoded by all.",
	"http/SQLite/put/64":                  "Server, store and 64 clients share the cores of one machine. A bare handler needs some 25 microseconds of one core for a request, an upsert some 120: by a trace the request takes 15 up to the writer, the writer 30, the copy in memory 8, the answer 13, the client 13, and collecting garbage 14.",
	"http/PostgreSQL/put/64":              "As on SQLite, and the database server works on the same cores, with two round trips for a group of writes.",
	"http/SQLite/get/64":                  "Half of what a read costs here is finding out who asks: the key is digested and the user and the organisation are looked up for every request, so that a change counts at once.",
	"http/PostgreSQL/get/64":              "A current read waits until the head of the database has been asked after it came. Some 17 readers share a question, but each waits for it, and the database server answers on the same cores. A single process needs no question, see the rows for one process.",
	"http/PostgreSQL, one process/get/64": "As on SQLite.",
	"growth/SQLite/1000":                  "As with 10,000 mappings, below.",
	"growth/SQLite/10000":                 "A large unit of work is prepared beside the writer, on what the tables hold: by a profile a third of the time is decoding the record, a quarter editing it, and a seventh reading it, while the bare commit copies bytes.",
	"fairness/SQLite/bytes":               bytesFlood,
	"fairness/PostgreSQL/bytes":           bytesFlood + " The database server writes them to a log of its own first, on the same cores.",
	"fairness/PostgreSQL/import":          "Each of the 10,000 policies is looked up by its identifier and its unique values, and each look-up is a round trip; that happens beside the writer. What holds the writer are the statements that store them.",
	"memory/texts":                        "Go's heap is 300 MB at most of that; the rest is what SQLite holds, what is given back late, and the program itself. How much falls together differs from run to run.",
	"portal-pages/search":                 "With 200 pages a second on two cores, some come while garbage is collected or while another one is made.",
	"catalogue/policy: list by authentication of its APIs/100000": "Every policy asks about its APIs, so that a table of all APIs is made for the list. That of 100,000 does not fit into the processor's caches, so that each look at it waits for memory.",
	"audit/http/64":    "64 clients keep two cores busy, so that all the trail does is taken from them: it finds the differences, chains, signs, compresses and stores the records, some 14 µs for each write. With cores to spare less of that is felt.",
	"history/10/1":     "The same upsert by hand does nothing else: the difference from the row \"over a database that drops the log\" is what the rest of the store costs, not what the log costs.",
	"history/10/64":    "As above: compare with the store over a database that drops the log.",
	"history/10000/1":  "As above: compare with the store over a database that drops the log.",
	"history/10000/64": "As above: compare with the store over a database that drops the log.",
}

func explain(id string) string {
	if text, ok := explanations[id]; ok {
		return text
	}
	return "The reason has not been found yet."
}
