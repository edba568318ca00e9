package render_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/render"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	port "github.com/gatehouse-io/gatehouse/ports/render"
)

// guest is a value of a job.
type guest struct{ Name string }

// TestPrepared runs many concurrent jobs on templates that were parsed once: each has its own
// values and functions, and a failed job leaves nothing behind.
func TestPrepared(t *testing.T) {
	all, err := render.Engine{}.Prepare([]theme.Source{
		html("layouts/l", `<main>{{yield}}</main>`), html("partials/p", `<i>{{.}}</i>`),
		html("views/x", `{{with CurrentUser req}}{{.Name}}{{end}}{{render "p" .text}}{{GetClientName .guest 2}}{{GetClientName .pointer 3.0}}{{if IsPortalPrivate}}!{{end}}`), html("views/loop", `{{render "loop"}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	job := func(name string) port.Job {
		return port.Job{Name: "views/x", Layout: "layouts/l", Data: map[string]any{"text": "<" + name, "guest": guest{name}, "pointer": &guest{name}}, Functions: map[string]any{
			"req": func() any { return nil }, "CurrentUser": func(...any) *guest { return &guest{name} }, "IsPortalPrivate": func(...any) bool { return name == "b" },
			"GetClientName": func(g guest, n int) (string, error) { return strings.Repeat(g.Name, n), nil },
		}}
	}
	var runs sync.WaitGroup
	for i := range 40 {
		runs.Go(func() {
			name := string(rune('a' + i%4))
			want := fmt.Sprintf("<main>%[1]s<i>&lt;%[1]s</i>%[1]s%[1]s%[1]s%[1]s%[1]s</main>", name)
			if name == "b" {
				want = strings.Replace(want, "</main>", "!</main>", 1)
			}
			if out, err := all.Render(t.Context(), job(name)); err != nil || string(out) != want {
				t.Errorf("%s %v, want %s", out, err, want)
			}
			if i%10 == 0 {
				if _, err := all.Render(t.Context(), port.Job{Name: "views/loop"}); err == nil || !strings.Contains(err.Error(), "too deep") {
					t.Error(err)
				}
			}
		})
	}
	runs.Wait()
	for name, fns := range map[string]map[string]any{
		"not available": nil, "wrong number": {"req": func(int) any { return nil }}, "wrong type": {"req": func() any { return 1 }, "CurrentUser": func(string) *guest { return nil }},
		"no user": {"req": func() any { return nil }, "CurrentUser": func(any) (*guest, error) { return nil, fmt.Errorf("no user") }},
	} {
		if _, err := all.Render(t.Context(), port.Job{Name: "views/x", Functions: fns}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}

// BenchmarkPrepared compares a job on prepared templates with one that parses them.
func BenchmarkPrepared(b *testing.B) {
	var sources []theme.Source
	for i := range 60 {
		sources = append(sources, html(fmt.Sprint("views/", i), strings.Repeat(`<p title="{{.}}">{{.}}</p>{{if .}}{{range SplitStrings .}}<li>{{.}}</li>{{end}}{{end}}`, 10)))
	}
	all, err := render.Engine{}.Prepare(sources)
	if err != nil {
		b.Fatal(err)
	}
	j := port.Job{Templates: sources, Name: "views/1", Data: "a,b"}
	for name, run := range map[string]func() ([]byte, error){
		"read": func() ([]byte, error) { return render.Engine{}.Render(b.Context(), j) }, "prepared": func() ([]byte, error) { return all.Render(b.Context(), j) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
