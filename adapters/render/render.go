// Package render runs templates of themes on html/template and text/template. It bounds
// their time, their output, the memory of their values and how deep they include each other,
// which those packages do not.
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
	maxSteps  = 2_000_000        // one or two seconds of processor time
	maxTime   = 30 * time.Second // for work that steps do not count; a job that waits for a processor must not reach this limit
	maxOutput = 4 << 20          // bytes; output that a layout includes counts again
	maxValues = 16 << 20
	maxRender = 20      // nesting depth of templates that render each other
	perCall   = 100     // steps for a call of a function of the job
	perLook   = 1 << 10 // steps between two looks at the clock
)

// Errors of jobs that exceed a limit.
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

// run is the state of one job.
type run struct {
	render.Job
	done    <-chan struct{}
	until   time.Time
	sources []theme.Source
	html    bool
	set     set
	steps   int
	at      string // where the last tick was: file, line and column
	depth   int
	printed int
	made    int
	dry     bool // only parses and escapes
}

// Check implements render.Engine. html/template escapes before a template begins to run; in
// Check every template stops at its first step.
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
				continue // it may be only half of an HTML element: the templates that include it are checked
			}
			err := r.set.ExecuteTemplate(io.Discard, t.Name, nil)
			if err != nil && !errors.Is(err, errStop) {
				said, _, _ := strings.Cut(err.Error(), ": {state") // without the internal states of the escaper
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

// parse parses templates into a set.
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

// execute runs one template of the set and returns its output.
func (r *run) execute(name string, data any) ([]byte, error) {
	if r.depth++; r.depth > maxRender {
		return nil, errDepth
	}
	defer func() { r.depth-- }()
	var out bytes.Buffer
	err := r.set.ExecuteTemplate(&limited{r, &out}, name, data)
	return out.Bytes(), err
}

// limited counts the output of a job.
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

// tick runs at the start of each template and of each turn of a loop, because nothing else
// could stop them. steps is how many steps follow.
func (r *run) tick(at string, steps int) (bool, error) {
	if r.at = at; r.dry {
		return false, errStop
	}
	return true, r.step(steps)
}

// step counts the work of a job in steps rather than time, so that a busy processor does not
// make a job fail.
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

// instrument inserts a tick at the start of a template and of the body of each loop in it.
// The tick is an assignment, and thus prints nothing.
func instrument(t *parse.Tree) {
	if t == nil || t.Root == nil {
		return
	}
	steps := loops(t, t.Root)
	t.Root.Nodes = append([]parse.Node{tick(t, t.Root, steps)}, t.Root.Nodes...)
}

// loops instruments the loops in a list, and returns how many steps the list has. Both
// branches count; the steps inside loops do not, since loops count their own.
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

// tick returns the node that calls tick for the place of another node.
func tick(t *parse.Tree, n parse.Node, steps int) parse.Node {
	at, _ := t.ErrorContext(n)
	own, err := parse.Parse("tick", "{{$_ := tick "+strconv.Quote(at)+" "+strconv.Itoa(steps)+"}}", "", "", map[string]any{"tick": 1})
	if err != nil {
		panic(err) // the text is constant and valid
	}
	return own["tick"].Root.Nodes[0]
}
