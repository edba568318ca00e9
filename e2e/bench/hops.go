package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/coverage"
	"slices"
	"strings"
)

// hops sends one PATCH of a mapping over a socket to a service in memory and to one on
// SQLite, and prints which functions of which files ran, including concurrent
// background work. The program must be built with coverage counters:
//
//	go run -cover -covermode=atomic -coverpkg=./... ./e2e/bench -hops
func (b *bench) hops(ctx context.Context, stdout io.Writer) error {
	for _, k := range []backend{inMemory, onSQLite} {
		functions, err := b.patchOn(ctx, k)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		last, files := "", 0
		var text bytes.Buffer
		for _, f := range functions {
			if f.file != last {
				files++
				fmt.Fprintf(&text, "%s\n", f.file)
			}
			last = f.file
			fmt.Fprintf(&text, "\t%s\n", f.name)
		}
		fmt.Fprintf(stdout, "PATCH of a mapping, %s: %d files, %d functions\n%s", k.name, files, len(functions), text.String())
	}
	return nil
}

func (b *bench) patchOn(ctx context.Context, k backend) (ran []function, err error) {
	_, w, done, err := b.worldOn(ctx, k)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := w.seed(ctx, "corp", 1, 10); err != nil {
		return nil, err
	}
	s, err := serve(w)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	ls, err := dial(s.addr, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ls.close()) }()
	patch := request("PATCH", "/api/clientidps/"+name("corp", 0)+"/mappings", `{"api-5":{"scope_to_policy":{"read":"gold","old":null}}}`, "Authorization", w.token)
	if _, err := ls[0].ask(patch); err != nil { // functions that run once per process do not count
		return nil, err
	}
	if err := coverage.ClearCounters(); err != nil {
		return nil, err
	}
	if _, err := ls[0].ask(patch); err != nil {
		return nil, err
	}
	return b.ran(ctx)
}

type function struct{ file, name string }

// ran returns the functions that have run since the counters were cleared, by file.
func (b *bench) ran(ctx context.Context) (all []function, err error) {
	dir := b.path("counters")
	if err := errors.Join(os.Mkdir(dir, 0o700), coverage.WriteMetaDir(dir), coverage.WriteCountersDir(dir)); err != nil {
		return nil, err
	}
	text, err := exec.CommandContext(ctx, "go", "tool", "covdata", "func", "-i="+dir).Output()
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		part := strings.Fields(line) // file:line: name share
		file, _, named := strings.Cut(strings.TrimPrefix(part[0], "github.com/gatehouse-io/gatehouse/"), ":")
		if named && part[2] != "0.0%" && !strings.HasPrefix(file, "e2e/") {
			all = append(all, function{file, part[1]})
		}
	}
	slices.SortFunc(all, func(a, b function) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.name, b.name)) })
	return slices.Compact(all), nil
}
