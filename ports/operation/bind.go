package operation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// plan fills an input struct from a Call, field by field:
//
// - fields tagged path:"x", query:"x", cookie:"x" and header:"X" from that part of the request;
// - the field tagged body:"" from the body;
// - fields of type tenant.Scope, Principal, Origin, Browser, Match and Settled from the call.
//
// The fields of a struct tagged params:"" count as fields of the input. path:"" is the
// parameter that the option Identifier names, and path:"^" the one that the option Above
// names, if it is used. The tags doc, is, oneof and required add to the description of a
// parameter.
type plan struct {
	steps      []step
	params     []Param
	body       reflect.Type
	identifier Param
	above      Param
}

// step fills one field; at is its index in the struct.
type step struct {
	at  []int
	set func(field reflect.Value, c *Call) error
}

// compile makes the plan of an input struct. identifier and above are the path parameters for
// path:"" and path:"^".
func compile(t reflect.Type, identifier, above Param) *plan {
	p := &plan{identifier: identifier, above: above}
	p.fields(t, nil)
	return p
}

// fields adds the fields of a struct; at is its index in the input.
func (p *plan) fields(t reflect.Type, at []int) {
	if t.Kind() != reflect.Struct {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		if !f.IsExported() || f.Anonymous {
			continue
		}
		f.Index = slices.Concat(at, f.Index)
		if _, ok := f.Tag.Lookup("params"); ok {
			p.fields(f.Type, f.Index)
			continue
		}
		if set, ok := given[f.Type]; ok {
			p.steps = append(p.steps, step{f.Index, set})
			if f.Type == reflect.TypeFor[Match]() {
				p.params = append(p.params, matchParams...)
			}
			continue
		}
		if _, ok := f.Tag.Lookup("body"); ok {
			p.body = f.Type
			p.steps = append(p.steps, step{f.Index, decodeBody})
			continue
		}
		for _, in := range []string{"path", "query", "header", "cookie"} {
			name, tagged := f.Tag.Lookup(in)
			about := f.Tag.Get("doc")
			if tagged && name == "" && in == "path" {
				name, about = p.identifier.Name, p.identifier.Doc
			}
			if name == "^" && in == "path" {
				name, about = p.above.Name, p.above.Doc
			}
			if name != "" {
				p.params = append(p.params, Param{Name: name, In: in, Type: f.Type, Is: f.Tag.Get("is"), OneOf: Words(f.Tag, "oneof"),
					Required: f.Tag.Get("required") != "", Doc: about, Page: f.Tag.Get("page")})
				p.steps = append(p.steps, step{f.Index, text(in, name)})
			}
		}
	}
}

// Words returns the comma-separated entries of a tag: oneof lists the values of a field, needs
// lists the members of an embedded struct that the outer one requires.
func Words(tag reflect.StructTag, name string) []string {
	return strings.FieldsFunc(tag.Get(name), func(r rune) bool { return r == ',' })
}

// into returns a pointer to a field of a known type.
func into[T any](field reflect.Value) *T { return field.Addr().Interface().(*T) }

// given are the field types that need no tag, with the functions that set them.
var given = map[reflect.Type]func(reflect.Value, *Call) error{
	reflect.TypeFor[tenant.Scope](): func(v reflect.Value, c *Call) error { *into[tenant.Scope](v) = c.Scope; return nil },
	reflect.TypeFor[Principal]():    func(v reflect.Value, c *Call) error { *into[Principal](v) = c.Principal; return nil },
	reflect.TypeFor[Origin]():       func(v reflect.Value, c *Call) error { *into[Origin](v) = Origin{c.Remote, c.Peer}; return nil },
	reflect.TypeFor[Browser](): func(v reflect.Value, c *Call) error {
		*into[Browser](v) = Browser{c.Session, c.Header["User-Agent"]}
		return nil
	},
	reflect.TypeFor[Settled](): func(v reflect.Value, c *Call) error {
		if s := c.whole(); s != nil {
			*into[Settled](v) = *s
		}
		return nil
	},
	reflect.TypeFor[Match](): func(v reflect.Value, c *Call) (err error) {
		*into[Match](v), err = MatchOf(c)
		return err
	},
}

func (p *plan) fill(v reflect.Value, c *Call) error {
	for _, s := range p.steps {
		if err := s.set(v.FieldByIndex(s.at), c); err != nil {
			return err
		}
	}
	return nil
}

// Codes of the faults that decoding a request makes.
const (
	CodeEmptyBody = "body.empty"
	CodeMalformed = "body.malformed"
	CodeSpelling  = "body.spelling" // a known member with different upper and lower case
	CodeParameter = "parameter.malformed"
)

// Unparsed is the key under which a row sets its answer to a body that is neither JSON nor
// YAML, if this differs from its answer to CodeMalformed. The fault has CodeMalformed in both
// cases.
const Unparsed = "body.unparsed"

// Optional is a body that may be left out: the row then gets its zero value.
type Optional interface{ Optional() }

// decodeBody decodes the body as JSON under any media type, because clients send JSON under
// any. A fault that the body's own type returns is passed on.
func decodeBody(v reflect.Value, c *Call) (err error) {
	switch into := v.Addr().Interface().(type) {
	case *Document:
		*into, err = decodeDocument(c)
		return err
	case *Attachment:
		*into, err = c.Upload.File, c.Upload.Err
		return err
	case *Patch:
		*into, err = decodePatch(c)
		return err
	}
	body := c.Body
	if s := c.whole(); s != nil {
		body = s.Body
	}
	if len(bytes.TrimSpace(body)) == 0 {
		if _, ok := v.Addr().Interface().(Optional); ok {
			return nil
		}
		return fault.New(fault.Invalid, CodeEmptyBody, "body is empty")
	}
	if f, ok := v.Addr().Interface().(Form); ok && !doc.IsObject(body) {
		fields, err := url.ParseQuery(string(body))
		if err != nil {
			return malformed("not valid JSON: it is no form either", "")
		}
		f.Fill(fields)
		return nil
	}
	if err := doc.Check(body, 0); err != nil {
		return unparsed(err)
	}
	if own, ok := v.Addr().Interface().(json.Unmarshaler); ok { // the text is valid: encoding/json would scan it twice more
		err = own.UnmarshalJSON(bytes.TrimSpace(body))
	} else {
		err = json.Unmarshal(body, v.Addr().Interface())
	}
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
		return malformed(fmt.Sprintf("%s must be %s, not %s", cmp.Or(t.Field, "the body"), article(t.Type), t.Value), t.Field)
	}
	if strings.HasPrefix(err.Error(), "json: ") { // texts of encoding/json name types of this program
		return malformed("the body has a value of the wrong kind: a text in place of a number, for example", "")
	}
	return malformed(err.Error(), "")
}

func article(t reflect.Type) string {
	if t == reflect.TypeFor[json.Number]() {
		return "a number"
	}
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

func malformed(reason, field string) *fault.Error {
	return fault.New(fault.Invalid, CodeMalformed, "%s", reason).At(field)
}

func unparsed(err error) error { return malformed(err.Error(), "").Because(err) }

// text returns a function that sets a field to a parameter of the request, if the request has
// it.
func text(in, name string) func(reflect.Value, *Call) error {
	key := name
	if in == "header" {
		key = textproto.CanonicalMIMEHeaderKey(name)
	}
	bad := func(want string) error {
		return fault.New(fault.Invalid, CodeParameter, "%s parameter %s must be %s", in, name, want).At(name)
	}
	return func(v reflect.Value, c *Call) error {
		var s string
		switch in {
		case "path":
			s = c.Path[key]
		case "query":
			s = c.Query.Get(key)
		case "header":
			s = c.Header[key]
		case "cookie":
			s = c.Cookies[key]
		}
		if s == "" && v.Kind() != reflect.Slice {
			return nil
		}
		switch v.Kind() {
		case reflect.Slice: // a query parameter may be repeated
			v.Set(reflect.ValueOf(slices.Clone(c.Query[key])))
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
}
