// Package render runs templates of themes on html/template and text/template. It bounds
// their time, their output, the memory of their values and how deep they render each
// other, which those packages do not.
package render

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	texttemplate "text/template"
	"text/template/parse"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/ports/render"
)

// Bounds of a job.
const (
	maxSteps  = 2_000_000        // a second or two of a processor
	maxTime   = 30 * time.Second // for what steps do not count; a job that waits for a processor is no endless one
	maxOutput = 4 << 20          // bytes, those that a layout takes over counted again
	maxValues = 16 << 20
	maxRender = 20      // templates that render each other
	perCall   = 100     // steps of a call of a function of the job
	perLook   = 1 << 10 // steps from one look at the clock to the next
)

// Errors of jobs that cost too much.
var (
	errTime   = errors.New("the template runs for too long")
	errOutput = errors.New("the template prints too much")
	errValues = errors.New("the template makes texts that are too large")
	errDepth  = errors.New("the templates render each other too deep")
	errStop   = errors.New("not run")
)

// Engine runs templates.
type Engine struct{}

var _ render.Engine = Engine{}

// set is a set of templates of either package.
type set interface {
	ExecuteTemplate(w io.Writer, name string, data any) error
}

// run is one job while it runs.
type run struct {
	render.Job
	done    <-chan struct{}
	until   time.Time
	sources []theme.Source
	html    bool
	set     set
	steps   int
	at      string // where the last tick was: a file, a line, a column
	depth   int
	printed int
	made    int
	dry     bool // nothing is run
}

// Check implements render.Engine. What escapes HTML does its work before a template begins
// to run; every template ends at its first step.
func (Engine) Check(templates []theme.Source) error {
	for _, html := range []bool{true, false} {
		var some []theme.Source
		for _, t := range templates {
			if t.HTML == html {
				some = append(some, t)
			}
		}
		r := &run{html: html, dry: true}
		if err := r.parse(some); err != nil {
			return err
		}
		for _, t := range some {
			if strings.HasPrefix(t.Name, theme.Partials) {
				continue // it may be half of something: what includes it is looked at
			}
			err := r.set.ExecuteTemplate(io.Discard, t.Name, nil)
			if err != nil && !errors.Is(err, errStop) {
				said, _, _ := strings.Cut(err.Error(), ": {state") // without the states of what escapes HTML
				said = strings.TrimPrefix(strings.TrimPrefix(said, "html/template:"), "template:")
				return fmt.Errorf("the template %s cannot be run: %s", t.Name, strings.TrimSpace(said))
			}
		}
	}
	return nil
}

// Render implements render.Engine.
func (e Engine) Render(ctx context.Context, j render.Job) ([]byte, error) {
	t, err := e.Prepare(j.Templates)
	if err != nil {
		return nil, err
	}
	return t.Render(ctx, j)
}

// parse makes a set out of templates.
func (r *run) parse(templates []theme.Source) error {
	functions := r.functions()
	r.sources = templates
	if r.html {
		t := template.New("").Funcs(functions)
		for _, s := range templates {
			if _, err := t.New(s.Name).Parse(s.Text); err != nil {
				return err
			}
		}
		for _, one := range t.Templates() {
			instrument(one.Tree)
		}
		r.set = t
		return nil
	}
	t := texttemplate.New("").Funcs(functions)
	for _, s := range templates {
		if _, err := t.New(s.Name).Parse(s.Text); err != nil {
			return err
		}
	}
	for _, one := range t.Templates() {
		instrument(one.Tree)
	}
	r.set = t
	return nil
}

// execute runs one template of the set, and returns what it prints.
func (r *run) execute(name string, data any) ([]byte, error) {
	if r.depth++; r.depth > maxRender {
		return nil, errDepth
	}
	defer func() { r.depth-- }()
	var out bytes.Buffer
	err := r.set.ExecuteTemplate(&limited{r, &out}, name, data)
	return out.Bytes(), err
}

// limited counts what a job prints.
type limited struct {
	*run
	to *bytes.Buffer
}

func (l *limited) Write(text []byte) (int, error) {
	if l.printed += len(text); l.printed > maxOutput {
		return 0, fmt.Errorf("%s: %w", l.at, errOutput)
	}
	return l.to.Write(text)
}

// tick runs at the start of each template and of each turn of a loop, which nothing else
// could stop. steps is how much follows.
func (r *run) tick(at string, steps int) (bool, error) {
	if r.at = at; r.dry {
		return false, errStop
	}
	return true, r.step(steps)
}

// step counts what a job does: processors that are busy with something else must not make an
// error of it.
func (r *run) step(n int) error {
	before := r.steps
	if r.steps += n; r.steps > maxSteps {
		return errTime
	}
	if before/perLook == r.steps/perLook {
		return nil
	}
	select {
	case <-r.done:
		return errTime
	default:
	}
	if time.Now().After(r.until) {
		return errTime
	}
	return nil
}

// instrument puts a tick at the start of a template and of the body of each loop in it. It
// assigns, and thus prints nothing.
func instrument(t *parse.Tree) {
	if t == nil || t.Root == nil {
		return
	}
	steps := loops(t, t.Root)
	t.Root.Nodes = append([]parse.Node{tick(t, t.Root, steps)}, t.Root.Nodes...)
}

// loops instruments the loops in a list, and returns how many steps the list has, with those
// of both branches and without those that loops count.
func loops(t *parse.Tree, l *parse.ListNode) (steps int) {
	if l == nil {
		return 0
	}
	for _, n := range l.Nodes {
		steps++
		switch n := n.(type) {
		case *parse.RangeNode:
			turn := loops(t, n.List)
			steps += loops(t, n.ElseList)
			n.List.Nodes = append([]parse.Node{tick(t, n, 1+turn)}, n.List.Nodes...)
		case *parse.IfNode:
			steps += loops(t, n.List) + loops(t, n.ElseList)
		case *parse.WithNode:
			steps += loops(t, n.List) + loops(t, n.ElseList)
		}
	}
	return steps
}

// tick makes the call of tick that stands at a node, and says where that is.
func tick(t *parse.Tree, n parse.Node, steps int) parse.Node {
	at, _ := t.ErrorContext(n)
	own, err := parse.Parse("tick", "{{$_ := tick "+strconv.Quote(at)+" "+strconv.Itoa(steps)+"}}", "", "", map[string]any{"tick": 1})
	if err != nil {
		panic(err) // the text is ours
	}
	return own["tick"].Root.Nodes[0]
}
