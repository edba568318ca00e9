package operation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

type draft struct {
	Name string            `json:"name"`
	N    int               `json:"n,omitempty"`
	M    map[string]string `json:"m,omitempty"`
}

type input struct {
	Scope tenant.Scope
	Who   operation.Principal
	Match operation.Match
	ID    string `path:"id"`
	Page  int    `query:"p"`
	All   bool   `query:"all"`
	Trace string `header:"x-trace"`
	Draft draft  `body:""`
}

func echo(_ context.Context, in input) (input, error) { return in, nil }

func group(rows ...operation.Row) []operation.Operation {
	return operation.Group{Surface: operation.Management, Name: "things", Path: "/api/things", Tag: "Things", Permission: access.APIs,
		Style: operation.Style{Word: "OK", Faults: map[string]operation.Answer{"a": {Status: 400}, "b": {Status: 401}}}}.Rows(rows...)
}

var good = operation.PUT("put", "/{id}", "Put", echo, operation.Example(draft{}, draft{}), operation.Answers(map[string]operation.Answer{"b": {Status: 402}}))

// A table with two rows, as a service lists it.
func Example() {
	ops := operation.Group{Surface: operation.Probe, Name: "greetings", Path: "/greetings", Tag: "Greetings"}.Rows(
		operation.GET("list", "", "List greetings", func(context.Context, struct{}) ([]string, error) { return []string{"hello"}, nil },
			operation.Public(), operation.Example(nil, []string{"hello"})),
		operation.GET("get", "/{name}", "Greet somebody", func(_ context.Context, in struct {
			Name string `path:"name"`
		}) (string, error) {
			return "hello, " + in.Name, nil
		}, operation.Public(), operation.Example(nil, "hello, you")),
	)
	fmt.Println(operation.Check(ops))
	out, err := ops[1].Do(context.Background(), &operation.Call{Path: map[string]string{"name": "world"}})
	fmt.Println(ops[1].ID, out, err)
	// Output:
	// <nil>
	// greetings.get hello, world <nil>
}

func TestDoBinds(t *testing.T) {
	scope, _ := tenant.Of("o")
	o := group(good)[0]
	out, err := o.Do(t.Context(), &operation.Call{
		Spec: &o.Spec, Scope: scope, Principal: operation.Principal{ID: "u"}, Path: map[string]string{"id": "7"},
		Query:  url.Values{"p": {"-2"}, "all": {"true"}},
		Header: map[string]string{"X-Trace": "t", "If-Match": `"3"`}, Body: []byte(`{"name":"n","n":4}`),
	})
	in := out.(input)
	if err != nil || in.Scope.Org() != "o" || in.Who.ID != "u" || in.ID != "7" || in.Page != -2 || !in.All || in.Trace != "t" || in.Draft.N != 4 || in.Match.Check(3) != nil || in.Match.Check(4) == nil {
		t.Errorf("%+v, %v", in, err)
	}
	if o.ID != "things.put" || o.Path != "/api/things/{id}" || o.Style.Faults["a"].Status != 400 || o.Style.Faults["b"].Status != 402 || o.Permission != access.APIs || o.Intent != access.Write {
		t.Errorf("%+v", o.Spec)
	}
}

func TestDoRefuses(t *testing.T) {
	o := group(good)[0]
	for _, c := range []struct {
		call        operation.Call
		code, field string
	}{
		{operation.Call{}, operation.CodeEmptyBody, ""},
		{operation.Call{Body: []byte(`{`)}, operation.CodeMalformed, ""},
		{operation.Call{Body: []byte(`[]`)}, operation.CodeMalformed, ""},
		{operation.Call{Body: []byte(`null`)}, operation.CodeMalformed, ""},
		{operation.Call{Body: []byte(`{"name":7}`)}, operation.CodeMalformed, "name"},
		{operation.Call{Body: []byte(`{"n":"x"}`)}, operation.CodeMalformed, "n"},
		{operation.Call{Body: []byte(`{"m":{"k":1}}`)}, operation.CodeMalformed, "m.k"},
		{operation.Call{Body: []byte(`{}`), Query: url.Values{"p": {"x"}}}, operation.CodeParameter, "p"},
		{operation.Call{Body: []byte(`{}`), Query: url.Values{"all": {"maybe"}}}, operation.CodeParameter, "all"},
		{operation.Call{Body: []byte(`{}`), Header: map[string]string{"If-Match": "3"}}, operation.CodeParameter, "If-Match"},
	} {
		c.call.Spec = &o.Spec
		_, err := o.Do(t.Context(), &c.call)
		f, _ := errors.AsType[*fault.Error](err)
		if f == nil || f.Kind != fault.Invalid || f.Code != c.code || !strings.HasPrefix(f.Field, strings.Split(c.field, ".")[0]) {
			t.Errorf("%s %v: %v", c.call.Body, c.call.Query, err)
		}
	}
}

func TestCheck(t *testing.T) {
	none := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	if err := operation.Check(group(good, operation.GET("a", "/a", "A", none, operation.Refuses(404), operation.Example(nil, 1)))); err != nil {
		t.Error(err)
	}
	for want, ops := range map[string][]operation.Operation{
		"declared twice":           group(good, good),
		"succeeds with status 404": group(operation.GET("a", "/a", "A", none, operation.Status(404), operation.Example(nil, 1))),
		"route PUT /api/things":    group(good, operation.PUT("other", "/{id}", "Put", echo, operation.Example(draft{}, draft{}))),
		"nothing binds {x}":        group(operation.GET("a", "/{x}", "A", none, operation.Example(nil, 1))),
		"path has no {id}":         group(operation.PUT("a", "", "A", echo, operation.Example(1, 1))),
		"needs a summary":          group(operation.GET("a", "", "", none, operation.Example(nil, 1))),
		"needs an example":         group(operation.PUT("a", "/{id}", "A", echo, operation.Example(nil, 1))),
		"no permission":            operation.Group{Surface: operation.Management, Name: "x", Tag: "X"}.Rows(operation.GET("a", "/a", "A", none, operation.Example(nil, 1))),
		"no surface":               operation.Group{Name: "x", Tag: "X"}.Rows(operation.GET("a", "/a", "A", none, operation.Example(nil, 1))),
		"must say that it is public": operation.Group{Surface: operation.Probe, Name: "x", Tag: "X"}.Rows(
			operation.GET("a", "/a", "A", none, operation.Example(nil, 1))),
		"nodes know no brokers": operation.Group{Surface: operation.Node, Name: "x", Tag: "X"}.Rows(operation.GET("a", "/a", "A", none, operation.Brokers(), operation.Example(nil, 1))),
	} {
		if err := operation.Check(ops); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The cases of RFC 9110, 13.1 and 8.8.3.2.
func TestMatch(t *testing.T) {
	for _, c := range []struct {
		ifMatch, ifNoneMatch, tag string
		exists, holds, unchanged  bool
	}{
		{"", "", "5", true, true, false},
		{`"5"`, "", "5", true, true, false},
		{`"4", "5"`, "", "5", true, true, false},
		{`"4"`, "", "5", true, false, false},
		{`W/"5"`, "", "5", true, false, false},
		{"*", "", "5", true, true, false},
		{"*", "", "", false, false, false},
		{`"5"`, "", "", false, false, false},
		{"", "*", "5", true, false, true},
		{"", "*", "", false, true, false},
		{"", `"5"`, "5", true, false, true},
		{"", `W/"5"`, "5", true, false, true},
		{"", `"4"`, "5", true, true, false},
	} {
		m, err := operation.MatchOf(&operation.Call{Header: map[string]string{"If-Match": c.ifMatch, "If-None-Match": c.ifNoneMatch}})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.CheckTag(c.tag, c.exists) == nil; got != c.holds {
			t.Errorf("%+v: %v", c, got)
		}
		if got := c.exists && m.Unchanged(c.tag); got != c.unchanged {
			t.Errorf("%+v: unchanged %v", c, got)
		}
	}
}

// A client may write with the tag of the YAML form as well as with that of the JSON form.
func TestMatchOfAnotherRepresentation(t *testing.T) {
	m, err := operation.MatchOf(&operation.Call{Header: map[string]string{"If-Match": `"5-yaml"`}})
	if err != nil || m.Check(5) != nil || m.Check(6) == nil || m.CheckTag("5", true) == nil {
		t.Error(err)
	}
}

// Rules decide about the values that the decoder uses, with any spelling of members.
func TestCanonical(t *testing.T) {
	o := group(good)[0]
	for in, want := range map[string]string{
		`{"name":"x"}`: `{"name":"x"}`, `{"NAME":"x"}`: `{"name":"x"}`, `{"name":"a","Name":"b","other":1}`: `{"name":"b","other":1}`,
		`{"name":"a","other":{"a":{"x":1},"a":{"y":2}},"name":"b"}`: `{"name":"b","other":{"a":{"y":2}}}`, `{ "name": ":" }`: `{ "name": ":" }`,
		`{"other":1}`: `{"other":1}`, `[1]`: `[1]`, `{`: `{`, ``: ``,
	} {
		got := string(o.Canonical([]byte(in)))
		if got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
		var a, b draft
		if json.Unmarshal([]byte(in), &a) == nil && json.Unmarshal([]byte(got), &b) == nil && a.Name != b.Name {
			t.Errorf("%s decodes to %q, then to %q", in, a.Name, b.Name)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add(`"a", W/"b"`, "*")
	f.Fuzz(func(t *testing.T, ifMatch, ifNoneMatch string) {
		m, err := operation.MatchOf(&operation.Call{Header: map[string]string{"If-Match": ifMatch, "If-None-Match": ifNoneMatch}})
		if err == nil && m.IsZero() && m.CheckTag("x", true) != nil {
			t.Error("no precondition does not hold")
		}
	})
}
