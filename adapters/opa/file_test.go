package opa_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
)

// journal is a log that may be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) count(s string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.text.String(), s)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestHotReload(t *testing.T) {
	name, log := written(t, always("one")), &journal{}
	e := engine(t, opa.Config{File: name, Poll: time.Millisecond, Logger: slog.New(slog.NewTextHandler(log, nil))})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()
	says := func(reason string) func() bool {
		return func() bool {
			return decide(t, e, call(t, things, "apis.get", "/api/apis/1", nil)).Denials[0] == reason
		}
	}
	if !says("one")() {
		t.Error("the file is not in force")
	}
	write(t, name, always("two"))
	eventually(t, "the second rules", says("two"))

	write(t, name, "package dashboard_users\ndeny[x] { unheard_of(x) }")
	eventually(t, "a complaint", func() bool { return log.count("unheard_of") > 0 })
	if !says("two")() {
		t.Error("the rules before the broken ones are gone")
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another complaint", func() bool { return log.count("level=ERROR") > 1 })
	if !says("two")() {
		t.Error("the rules before the missing ones are gone")
	}
	write(t, name, always("three"))
	eventually(t, "the third rules", says("three"))
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestFileThatComesLater states that default rules apply until the file exists, and that
// the file's rules stay when it is deleted.
func TestFileThatComesLater(t *testing.T) {
	name, log := t.TempDir()+"/dashboard.rego", &journal{}
	e := engine(t, opa.Config{File: name, Later: true, Poll: time.Millisecond, Logger: slog.New(slog.NewTextHandler(log, nil))})
	go func() { _ = e.Run(t.Context()) }()
	says := func() string {
		return strings.Join(decide(t, e, call(t, things, "apis.get", "/api/apis/1", nil)).Denials, "; ")
	}
	if first := says(); first == "one" || log.count("cannot be used") > 0 {
		t.Error(first)
	}
	write(t, name+".new", always("one"))
	if err := os.Rename(name+".new", name); err != nil { // the file appears complete
		t.Fatal(err)
	}
	eventually(t, "the rules of the file", func() bool { return says() == "one" })
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a word about the missing file", func() bool { return log.count("cannot be used") == 1 })
	if now := says(); now != "one" {
		t.Error(now)
	}
}

func TestRunWithoutFile(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := engine(t, opa.Config{}).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestDefaultRulesAsFile(t *testing.T) {
	e := engine(t, opa.Config{File: written(t, opa.DefaultRules())})
	if v := decide(t, e, call(t, things, "apis.get", "/api/apis/1", nil)); len(v.Denials) != 1 {
		t.Error(v)
	}
}
