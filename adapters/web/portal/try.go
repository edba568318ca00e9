package portal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// tryable is what a user needs to call an API from a page, as an operation answers it.
type tryable struct {
	Address     string
	Credentials []struct {
		ID  int
		App string
	}
}

// header is a header of a request or a response.
type header struct{ Name, Value string }

// attempt is a call that a user sends from a page.
type attempt struct {
	Method, Path, Query string
	Headers             []header
	Body, Token         string
	CredentialID        int `json:",omitempty"`
}

// attempted is the response to an attempt.
type attempted struct {
	Status  int
	Headers []header
	Body    string
	Size    int
	Cut     bool
}

// Good reports whether the status is below 400.
func (a attempted) Good() bool { return a.Status < http.StatusBadRequest }

// Pretty returns the body, with JSON indented.
func (a attempted) Pretty() string {
	var out bytes.Buffer
	if a.Cut || json.Indent(&out, []byte(a.Body), "", "  ") != nil {
		return a.Body
	}
	return out.String()
}

// slot is a parameter of an operation with the user's value.
type slot struct {
	field
	Input, Value string
}

// tryMethods are the methods in the form for a call without a description.
var tryMethods = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}

// tryForm is the data of the form that calls an API.
type tryForm struct {
	tryable
	Operation            *call // nil: the form has all fields
	Slots                []slot
	Body, Headers, Chose string
}

// tryForm returns the form for the operation that the address names.
func (v *visit) tryForm() (f tryForm, d described, ok bool) {
	if !v.get("/catalogue-products"+v.part("path")+v.part("api")+"/try", nil, &f.tryable) {
		return f, d, false
	}
	v.peek("/catalogue-products"+v.part("path")+v.part("api")+"/docs", nil, &d)
	if ref, err := v.drawn(d); err == nil {
		anchor := cmp.Or(v.r.URL.Query().Get("operation"), v.field("operation"))
		for _, g := range ref.Groups {
			if i := slices.IndexFunc(g.Operations, func(c call) bool { return c.Anchor == anchor }); anchor != "" && i >= 0 {
				f.Operation = &g.Operations[i]
				break
			}
		}
	}
	f.Body, f.Headers, f.Chose = v.field("body"), v.field("headers"), v.field("credential")
	if o := f.Operation; o != nil {
		if v.r.Method != http.MethodPost {
			f.Body = bodyOf(*o)
		}
		for _, p := range o.Parameters {
			if name := "parameter-" + p.In + "-" + p.Name; p.In == "path" || p.In == "query" || p.In == "header" && !strings.EqualFold(p.Name, "Authorization") {
				f.Slots = append(f.Slots, slot{p, name, v.field(name)})
			}
		}
	}
	return f, d, true
}

// drawn converts a description, if it has operations.
func (v *visit) drawn(d described) (reference, error) {
	if d.Form != "oas" {
		return reference{}, errReference
	}
	return v.hall.of(d.ServedAt+"\n"+d.Text, func() (reference, error) { return v.reference(d) })
}

// faultFields maps the names of fields in faults to form fields.
var faultFields = map[string]string{"Method": "method", "Path": "path", "Query": "query", "Headers": "headers", "Body": "body", "Token": "token", "CredentialID": "credential"}

func (v *visit) showTry(status int, f tryForm, d described, answer *attempted, faults []string) {
	at := "/portal/catalogue-products/" + url.PathEscape(v.r.PathValue("path"))
	v.title = "Try " + cmp.Or(d.Name, v.r.PathValue("api"))
	known := map[string]any{"form": f, "answer": answer, "methods": tryMethods, "Name": cmp.Or(d.Name, v.r.PathValue("api")), "product": cmp.Or(d.Product, "Product"), "back": at, "docs": at + "/" + url.PathEscape(v.r.PathValue("api")) + "/docs"}
	for name, value := range v.typed("method", "path", "query") {
		known[name] = value
	}
	v.show(status, "product_try", v.said(faults, known, faultFields))
}

// tryIt shows the form that calls an API, and sends the call. The form keeps the user's
// values, except the token.
func (v *visit) tryIt() {
	f, d, ok := v.tryForm()
	if !ok {
		return
	}
	if v.r.Method != http.MethodPost {
		v.showTry(http.StatusOK, f, d, nil, nil)
		return
	}
	c, faults := v.attempt(f)
	if faults != nil {
		v.showTry(http.StatusUnprocessableEntity, f, d, nil, faults)
		return
	}
	a := v.call(http.MethodPost, "/catalogue-products"+v.part("path")+v.part("api")+"/try", nil, c)
	var out attempted
	if !a.ok() || json.Unmarshal(a.body.Bytes(), &out) != nil {
		v.showTry(statusOf(a), f, d, nil, a.faults())
		return
	}
	v.showTry(http.StatusOK, f, d, &out, nil)
}

// attempt builds a call from the form.
func (v *visit) attempt(f tryForm) (c attempt, faults []string) {
	c = attempt{Method: v.field("method"), Path: v.field("path"), Query: v.field("query"), Token: v.field("token"), Headers: []header{}}
	if o := f.Operation; o != nil {
		c.Method, c.Path, c.Query = o.Method, o.Path, ""
		q := url.Values{}
		for _, s := range f.Slots {
			switch {
			case s.In == "path":
				name, value := "{"+s.Name+"}", url.PathEscape(s.Value)
				if len(c.Path)+strings.Count(c.Path, name)*len(value) > maxForm { // longer than any form
					return c, []string{"Path is invalid"}
				}
				c.Path = strings.ReplaceAll(c.Path, name, value)
			case s.Value == "":
			case s.In == "query":
				q.Add(s.Name, s.Value)
			default:
				c.Headers = append(c.Headers, header{s.Name, s.Value})
			}
		}
		c.Query = q.Encode()
	}
	for line := range strings.Lines(f.Headers) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		if !found {
			return c, []string{"Headers is invalid: write Name: value, one in a line"}
		}
		c.Headers = append(c.Headers, header{strings.TrimSpace(name), strings.TrimSpace(value)})
	}
	if c.Method != http.MethodGet && c.Method != http.MethodHead {
		c.Body = f.Body
	}
	named := func(h header) bool { return strings.EqualFold(h.Name, "Content-Type") }
	if c.Body != "" && !slices.ContainsFunc(c.Headers, named) {
		kind := "application/json"
		if f.Operation != nil && f.Operation.BodyType != "" {
			kind = f.Operation.BodyType
		}
		c.Headers = append(c.Headers, header{"Content-Type", kind})
	}
	c.CredentialID, _ = strconv.Atoi(v.field("credential")) // an invalid number is 0
	return c, nil
}
