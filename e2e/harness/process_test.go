package harness

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// sample is a program that serves on its address, prints its arguments and environment, and
// ends gracefully on SIGTERM unless it is stubborn.
const sample = `package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ended, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	fmt.Println("begin", os.Args[1:])
	http.HandleFunc("/env", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Join(os.Environ(), "\n"))
	})
	http.HandleFunc("/pid", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getpid()) })
	http.HandleFunc("/ready", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/exit", func(http.ResponseWriter, *http.Request) { os.Exit(3) })
	go http.ListenAndServe(os.Args[1], nil)
	<-ended.Done()
	fmt.Println("end")
}
`

// buildSample builds the sample program once for all tests of this file.
var buildSample = sync.OnceValues(func() (string, error) {
	dir, err := session.folder()
	if err != nil {
		return "", err
	}
	for name, content := range map[string]string{"go.mod": "module sample\n\ngo 1.26\n", "main.go": sample} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return "", err
		}
	}
	out := filepath.Join(dir, "sample")
	return out, build(dir, ".", out)
})

func startSample(t *testing.T) (p *Process, base string) {
	t.Helper()
	path, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	addr := loopback(FreePort(t))
	base = "http://" + addr
	return StartProcess(t, Command{
		Path: path, Args: []string{addr}, Env: []string{"GIVEN=yes"}, Ready: base + "/ready",
	}), base
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestProcessStopsInOrderAndStartsAgain(t *testing.T) {
	p, base := startSample(t)
	first := fetch(t, base+"/pid")
	p.Stop(t)
	if _, err := http.Get(base + "/pid"); err == nil {
		t.Fatal("a stopped process answers")
	}
	p.Start(t)
	if second := fetch(t, base+"/pid"); second == first {
		t.Error("it is still the first process")
	}
	if got := strings.Fields(p.Logs()); strings.Count(p.Logs(), "begin [127.0.0.1:") != 2 ||
		strings.Count(p.Logs(), "end\n") != 1 {
		t.Errorf("the logs of both starts are %q", got)
	}
}

func TestProcessIsKilledWithoutFarewell(t *testing.T) {
	p, base := startSample(t)
	for range 3 {
		p.Kill()
		p.Kill() // a second call changes nothing
		if _, err := http.Get(base + "/pid"); err == nil {
			t.Fatal("a killed process answers")
		}
		p.Start(t)
	}
	if strings.Contains(p.Logs(), "end\n") {
		t.Error("a killed process said farewell")
	}
}

func TestProcessThatEndedByItselfCanStartAgain(t *testing.T) {
	p, base := startSample(t)
	if res, err := http.Get(base + "/exit"); err == nil {
		res.Body.Close()
	}
	<-p.child.done
	p.Start(t)
	if err := p.start(); err == nil {
		t.Error("a running process was started a second time")
	}
}

func TestProcessGetsACleanEnvironment(t *testing.T) {
	t.Setenv("SVC_DB_LISTENPORT", "1")
	_, base := startSample(t)
	env := fetch(t, base+"/env")
	if strings.Contains(env, "SVC_DB_LISTENPORT") || !strings.Contains(env, "GIVEN=yes") ||
		!strings.Contains(env, "PATH=") {
		t.Errorf("the environment is:\n%s", env)
	}
}

func TestProcessThatCannotServeIsReportedAtOnce(t *testing.T) {
	path, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{program: program{path: path}, ready: "http://" + loopback(FreePort(t))} // no argument: it panics
	if err := p.start(); err == nil || !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("the error is %v", err)
	}
	if !strings.Contains(p.Logs(), "index out of range") {
		t.Errorf("the logs are %q", p.Logs())
	}
}

func TestBinaryFromEnvironment(t *testing.T) {
	t.Setenv(binaryVariable, "/somewhere/gatehouse")
	if got := Binary(t); got != "/somewhere/gatehouse" {
		t.Errorf("Binary = %s", got)
	}
}

func TestBuildReportsTheCompiler(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module broken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() { nothing() }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := build(dir, ".", filepath.Join(dir, "out"))
	if err == nil || !strings.Contains(err.Error(), "undefined: nothing") {
		t.Errorf("the error is %v", err)
	}
}

func TestModuleRootHoldsTheModule(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !strings.HasPrefix(string(content), "module github.com/gatehouse-io/gatehouse\n") {
		t.Errorf("%s: %v", root, err)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var w tail
	for i := range 40 {
		fmt.Fprintf(&w, "%d%s\n", i, strings.Repeat(".", outputLimit/10))
	}
	got := w.String()
	if len(got) != outputLimit || !strings.HasSuffix(got, ".\n") || strings.Contains(got, "\n20.") ||
		!strings.Contains(got, "\n39.") {
		t.Errorf("kept %d bytes, want the last %d", len(got), outputLimit)
	}
}
