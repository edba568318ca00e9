package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// page is the document with the figures.
type page struct {
	Command string
	Machine machine
	Began   time.Time
	Took    time.Duration
	Short   bool
	Table   []part
}

// machine is where figures come from.
type machine struct {
	CPU        string
	Cores      int
	Go, System string
	FileSystem string // of the measured files; "" where it is not known
}

func thisMachine(dir string) machine {
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	mounts, _ := os.ReadFile("/proc/self/mounts")
	return machine{CPU: cpuModel(string(cpu)), Cores: runtime.NumCPU(), Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH, FileSystem: fileSystem(string(mounts), dir)}
}

// cpuModel reads the model of the first processor out of Linux' description.
func cpuModel(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// fileSystem finds the type of the file system that holds a folder.
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

// command is how the run was started, without what is about this machine:
// connection strings, which may hold a password, and folders.
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

// render writes the page in Markdown.
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

// explanations say why an aim is missed, by row. There is one for every row
// whose aim is known to be missed on some machine.
var explanations = map[string]string{}

func explain(id string) string {
	if text, ok := explanations[id]; ok {
		return text
	}
	return "The reason has not been found yet."
}
