package render

import (
	"context"
	"fmt"
	"html/template"
	"reflect"
	texttemplate "text/template"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/ports/render"
)

// maxIdle is how many idle copies of a set are kept for later jobs: a copy is as large as
// the part of the set that has run.
const maxIdle = 64

// prepared is a set that was parsed once. A job runs a copy of it, with functions of that
// job. The copies are reused, because html/template escapes a set only on its first run.
type prepared struct {
	first *run // never runs: a set that has run cannot be cloned
	idle  chan *run
}

// Prepare implements render.Engine.
func (Engine) Prepare(templates []theme.Source) (render.Templates, error) {
	first := &run{html: true}
	for _, t := range templates {
		first.html = first.html && t.HTML
	}
	if err := first.parse(templates); err != nil {
		return nil, err
	}
	return &prepared{first, make(chan *run, maxIdle)}, nil
}

// Render implements render.Templates.
func (p *prepared) Render(ctx context.Context, j render.Job) ([]byte, error) {
	r, err := p.take()
	if err != nil {
		return nil, err
	}
	defer func() { // clears the job, and keeps the copy for another job
		*r = run{sources: r.sources, html: r.html, set: r.set}
		select {
		case p.idle <- r:
		default:
		}
	}()
	r.Job, r.done, r.until = j, ctx.Done(), time.Now().Add(maxTime)
	name := j.Name
	if j.Layout != "" {
		name = j.Layout
	}
	return r.execute(name, j.Data)
}

func (p *prepared) take() (*run, error) {
	select {
	case r := <-p.idle:
		return r, nil
	default:
	}
	r := &run{sources: p.first.sources, html: p.first.html}
	switch t := p.first.set.(type) {
	case *template.Template:
		own, err := t.Clone()
		if err != nil {
			return nil, err
		}
		r.set = own.Funcs(r.functions())
	case *texttemplate.Template:
		own, err := t.Clone()
		if err != nil {
			return nil, err
		}
		r.set = own.Funcs(r.functions())
	}
	return r, nil
}

// given returns a function that calls the job's function of this name; the next job of the
// same copy may have another. The arguments are converted as templates do.
func (r *run) given(name string, otherwise any) func(...any) (any, error) {
	return func(args ...any) (any, error) {
		given, ok := r.Functions[name]
		if !ok {
			given = otherwise
		}
		if given == nil {
			return nil, fmt.Errorf("%s is not available here", name)
		}
		if err := r.step(perCall); err != nil {
			return nil, err
		}
		fn := reflect.ValueOf(given)
		t := fn.Type()
		if len(args) < t.NumIn() && !t.IsVariadic() || len(args) < t.NumIn()-1 || len(args) > t.NumIn() && !t.IsVariadic() {
			return nil, fmt.Errorf("%s: wrong number of values: %d", name, len(args))
		}
		in := make([]reflect.Value, len(args))
		for i, a := range args {
			var want reflect.Type
			if t.IsVariadic() && i >= t.NumIn()-1 {
				want = t.In(t.NumIn() - 1).Elem()
			} else {
				want = t.In(i)
			}
			v, ok := as(reflect.ValueOf(a), want)
			if !ok {
				return nil, fmt.Errorf("%s: the value %d has the wrong type: %T, and %s is wanted", name, i+1, a, want)
			}
			in[i] = v
		}
		out := fn.Call(in)
		if len(out) > 1 && !out[1].IsNil() {
			return nil, fmt.Errorf("%s: %v", name, out[1].Interface())
		}
		return out[0].Interface(), nil
	}
}

// as converts a value to another type. Values and pointers to them convert to each other,
// and so do numbers.
func as(v reflect.Value, want reflect.Type) (reflect.Value, bool) {
	switch {
	case !v.IsValid():
		return reflect.Zero(want), true
	case v.Type().AssignableTo(want):
		return v, true
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem().AssignableTo(want):
		return v.Elem(), true
	case want.Kind() == reflect.Pointer && v.Type().AssignableTo(want.Elem()):
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		return p, true
	case number(v.Kind()) && number(want.Kind()):
		return v.Convert(want), true
	}
	return v, false
}

func number(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Float64 }
