package render_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/render"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	port "github.com/gatehouse-io/gatehouse/ports/render"
)

func html(name, text string) theme.Source { return theme.Source{Name: name, Text: text, HTML: true} }

func run(t testing.TB, text string, data any, more ...theme.Source) (string, error) {
	t.Helper()
	out, err := render.Engine{}.Render(t.Context(), port.Job{Templates: append(more, html("views/x", text)), Name: "views/x", Data: data})
	return string(out), err
}

func TestRender(t *testing.T) {
	parts := []theme.Source{html("layouts/l", `<main>{{yield}}</main>`), html("partials/p", `<i>{{.}}</i>`)}
	for _, c := range []struct {
		text string
		data any
		want string
	}{
		{`{{.}}`, "<b>", "&lt;b&gt;"},
		{`{{safe .}}`, "<b>", "<b>"},
		{`{{render "p" .}}`, "<b>", "<i>&lt;b&gt;</i>"},
		{`<a title="{{render "p" .}}">`, "x", `<a title="x">`},
		{`{{range .}}{{.}},{{end}}`, []int{1, 2}, "1,2,"},
		{`<style>{{range .}}a{color:{{.}}}{{end}}</style><script>var a = [{{range .}}{{.}},{{end}}]</script>`, []int{1}, "<style>a{color:1}</style><script>var a = [ 1 ,]</script>"},
		{`{{printf "%05.1f %s" 1.25 "x" | upper}} {{length .}} {{add 1 2}} {{sub 1 2}} {{trim " a "}} {{lower "A"}} {{TruncateString "abc" 2}}`, "ab", "001.2 X 2 3 -1 a a ab..."},
		{`{{$d := dict "a" .}}{{$d.a}}{{$d}}{{(merge $d (dict "b" 2)).b}}`, "x", "x2"},
		{`{{if StringsContains . "b"}}yes{{end}}{{range SplitStrings .}}[{{.}}]{{end}}`, "a, b", "yes[a][b]"},
	} {
		got, err := run(t, c.text, c.data, parts...)
		if err != nil || got != c.want {
			t.Errorf("%s: %q %v, want %q", c.text, got, err, c.want)
		}
	}
	out, err := render.Engine{}.Render(t.Context(), port.Job{Templates: append(parts, html("views/x", `<p>{{site}}</p>`)), Name: "views/x", Layout: "layouts/l", Functions: map[string]any{"site": func() string { return "https://portal.example" }}})
	if err != nil || string(out) != "<main><p>https://portal.example</p></main>" {
		t.Errorf("%s %v", out, err)
	}
	out, err = render.Engine{}.Render(t.Context(), port.Job{Templates: []theme.Source{{Name: "x", Text: `{{.}} & {{render "y"}}`}, {Name: "y", Text: "<y>"}}, Name: "x", Data: "<b>"})
	if err != nil || string(out) != "<b> & <y>" {
		t.Errorf("%s %v", out, err)
	}
}

// TestLimits states that time, output and memory of templates are bounded.
func TestLimits(t *testing.T) {
	double := `{{$x := "0123456789"}}` + strings.Repeat(`{{$x = print $x $x}}`, 40)
	dicts := `{{$d := dict "a" 1}}` + strings.Repeat(`{{$d = dict "a" $d "b" $d}}`, 60) + `{{$d}}<script>var a = {{$d}}</script>`
	for name, c := range map[string][2]string{
		"a loop":           {`{{range 4000000000}}{{end}}`, "too long"},
		"loops":            {`{{range 100000}}{{range 100000}}{{range 100000}}{{end}}{{end}}{{end}}`, "too long"},
		"a loop elsewhere": {`{{define "y"}}{{range 4000000000}}{{end}}{{end}}{{template "y"}}`, "too long"},
		"a loop in large":  {`{{range 100000000}}` + strings.Repeat(`{{if .}}{{end}}`, 10_000) + `{{end}}`, "too long"},
		"in a branch":      {`{{if 1}}{{else}}{{end}}{{with 1}}{{range 4000000000}}{{end}}{{end}}`, "too long"},
		"output":           {`{{range 4000000000}}0123456789012345678901234567890123456789{{end}}`, "too much"},
		"itself":           {`{{render "x"}}`, "too deep"},
		"a doubled text":   {double, "too large"},
		"doubled in html":  {strings.ReplaceAll(double, "print $x $x", "html $x $x"), "too large"},
		"a wide number":    {`{{printf "%099999d" 1}}`, "too wide"},
		"a star":           {`{{printf "%*d" 99999 1}}`, "too wide"},
		"many values":      {`{{print` + strings.Repeat(` "x"`, 30) + `}}`, "too large"},
		"not here":         {`{{CurrentUser req}}`, "not available"},
		"unknown":          {`{{Exec "ls"}}`, "not defined"},
		"no template":      {`{{render "none"}}`, "no template"},
	} {
		_, err := run(t, c[0], nil)
		if err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %q", name, err, c[1])
		}
	}
	if out, err := run(t, dicts, nil); err != nil || out != `<script>var a =  null </script>` {
		t.Errorf("%.100s %v", out, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (render.Engine{}).Render(ctx, port.Job{Templates: []theme.Source{html("x", `{{range 4000000000}}{{end}}`)}, Name: "x"}); err == nil {
		t.Error("a job goes on when nobody waits")
	}
}

// TestWaitingIsNoLoop: the limit counts a job's work, not the time it waits for a processor
// or for a function of the job.
func TestWaitingIsNoLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := port.Job{Name: "x", Templates: []theme.Source{html("x", `{{range 10}}{{site}}{{range 2000}}{{end}}{{end}}`)},
			Functions: map[string]any{"site": func() string { time.Sleep(time.Second); return "." }}}
		if out, err := (render.Engine{}).Render(t.Context(), j); err != nil || string(out) != ".........." {
			t.Errorf("%s %v", out, err)
		}
		j.Templates = []theme.Source{html("x", `{{range 10000}}{{site}}{{end}}`)}
		if _, err := (render.Engine{}).Render(t.Context(), j); err == nil || !strings.Contains(err.Error(), "too long") {
			t.Errorf("a job that waits without end: %v", err)
		}
		calls := 0
		j.Functions = map[string]any{"site": func() string { calls++; return "." }}
		j.Templates = []theme.Source{html("x", `{{range 100000000}}{{site}}{{end}}`)}
		if _, err := (render.Engine{}).Render(t.Context(), j); err == nil || !strings.Contains(err.Error(), "too long") || calls > 100_000 {
			t.Errorf("a job that calls without end: %d calls, %v", calls, err)
		}
	})
}

// TestCheck states that templates are checked together, and not run.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"good":         {`<p>{{range 4000000000}}{{end}}{{.a.b.c}}</p>`, ""},
		"parse":        {`{{if}}`, "missing value"},
		"a function":   {`{{Exec 1}}`, "not defined"},
		"torn":         {`<a {{if .X}}href="{{end}}>`, "branches end in different contexts"},
		"no template":  {`{{template "none"}}`, "none"},
		"open at end":  {`<a href="`, "ends in a non-text context"},
		"half a piece": {`{{template "partials/head"}}x">`, ""},
	} {
		err := render.Engine{}.Check([]theme.Source{html("views/x", c.text), html("partials/head", `<a href="`), {Name: "mailers/m.text", Text: "{{.x}}"}})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "{state") || strings.Contains(err.Error(), "html/template")) {
			t.Errorf("%s: the error speaks of the insides of the engine: %v", name, err)
		}
	}
}
