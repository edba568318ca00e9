package operation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/textproto"
	"reflect"
	"strconv"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// plan fills an input struct from a Call: fields tagged path:"x", query:"x" and
// header:"X" from there, the field tagged body:"" from the body, fields of type
// tenant.Scope, Principal, Match and Settled from what is known of the call.
type plan struct {
	steps  []func(reflect.Value, *Call) error
	params []Param
	body   reflect.Type
}

func compile(t reflect.Type) *plan {
	p := &plan{}
	if t.Kind() != reflect.Struct {
		return p
	}
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !f.Anonymous {
			p.add(f)
		}
	}
	return p
}

func (p *plan) add(f reflect.StructField) {
	at := f.Index
	if set, ok := given[f.Type]; ok {
		p.steps = append(p.steps, func(v reflect.Value, c *Call) error { return set(v.FieldByIndex(at), c) })
		if f.Type == reflect.TypeFor[Match]() {
			p.params = append(p.params, matchParams...)
		}
		return
	}
	if _, ok := f.Tag.Lookup("body"); ok {
		p.body = f.Type
		p.steps = append(p.steps, func(v reflect.Value, c *Call) error { return decodeBody(v.FieldByIndex(at), c) })
		return
	}
	for _, in := range []string{"path", "query", "header"} {
		if name := f.Tag.Get(in); name != "" {
			get := source(in, name)
			p.params = append(p.params, Param{Name: name, In: in, Type: f.Type, Doc: f.Tag.Get("doc")})
			p.steps = append(p.steps, func(v reflect.Value, c *Call) error { return setText(v.FieldByIndex(at), in, name, get(c)) })
		}
	}
}

// given are the field types that need no tag.
var given = map[reflect.Type]func(reflect.Value, *Call) error{
	reflect.TypeFor[tenant.Scope](): func(v reflect.Value, c *Call) error { v.Set(reflect.ValueOf(c.Scope)); return nil },
	reflect.TypeFor[Settled](): func(v reflect.Value, c *Call) error {
		if s := c.whole(); s != nil {
			v.Set(reflect.ValueOf(*s))
		}
		return nil
	},
	reflect.TypeFor[Principal](): func(v reflect.Value, c *Call) error { v.Set(reflect.ValueOf(c.Principal)); return nil },
	reflect.TypeFor[Match](): func(v reflect.Value, c *Call) error {
		m, err := MatchOf(c)
		v.Set(reflect.ValueOf(m))
		return err
	},
}

func source(in, name string) func(*Call) string {
	switch in {
	case "path":
		return func(c *Call) string { return c.Path[name] }
	case "query":
		return func(c *Call) string { return c.Query.Get(name) }
	}
	name = textproto.CanonicalMIMEHeaderKey(name)
	return func(c *Call) string { return c.Header[name] }
}

func (p *plan) fill(v reflect.Value, c *Call) error {
	for _, step := range p.steps {
		if err := step(v, c); err != nil {
			return err
		}
	}
	return nil
}

// Codes of the faults that decoding a request makes.
const (
	CodeEmptyBody = "body.empty"
	CodeMalformed = "body.malformed"
	CodeSpelling  = "body.spelling" // a known member in another letter case
	CodeParameter = "parameter.malformed"
)

// decodeBody reads the body as JSON whatever type it claims to be (contract
// dashboard.md 2.1). A fault of the body's own type passes through.
func decodeBody(v reflect.Value, c *Call) error {
	if v.Type() == reflect.TypeFor[Document]() {
		d, err := decodeDocument(c)
		v.Set(reflect.ValueOf(d))
		return err
	}
	if v.Type() == reflect.TypeFor[Patch]() {
		p, err := decodePatch(c)
		v.Set(reflect.ValueOf(p))
		return err
	}
	body := c.Body
	if s := c.whole(); s != nil {
		body = s.Body
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return fault.New(fault.Invalid, CodeEmptyBody, "body is empty")
	}
	if err := doc.Check(body, 0); err != nil {
		return malformed(err.Error(), "")
	}
	err := json.Unmarshal(body, v.Addr().Interface())
	if err == nil && v.Kind() == reflect.Struct && !doc.IsObject(body) {
		return malformed("an object is wanted", "")
	}
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if m, ok := errors.AsType[*shape.Misspelling](err); ok {
		return fault.New(fault.Invalid, CodeSpelling, "%s", m.Error()).At(m.Path)
	}
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return malformed(fmt.Sprintf("%s must be %s, not %s", nameOf(t.Field), article(t.Type), t.Value), t.Field)
	}
	return malformed(err.Error(), "")
}

func nameOf(field string) string {
	if field == "" {
		return "the body"
	}
	return field
}

func article(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}

func malformed(reason, field string) error {
	return fault.New(fault.Invalid, CodeMalformed, "%s", reason).At(field)
}

func setText(v reflect.Value, in, name, s string) error {
	if s == "" {
		return nil
	}
	bad := func(want string) error {
		return fault.New(fault.Invalid, CodeParameter, "%s parameter %s must be %s", in, name, want).At(name)
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Int:
		n, err := strconv.Atoi(s)
		if err != nil {
			return bad("a whole number")
		}
		v.SetInt(int64(n))
	case reflect.Bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return bad("true or false")
		}
		v.SetBool(b)
	}
	return nil
}
