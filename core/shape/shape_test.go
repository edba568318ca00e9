package shape_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

var inner = shape.Object(shape.Members("deep", shape.Bool))

var sample = shape.Object(
	shape.Members("name Key other?", shape.String),
	shape.Members("on", shape.Bool),
	shape.Members("n", shape.Int),
	shape.Members("small?", shape.IntOf(8)),
	shape.Members("port?", shape.UintOf(16)),
	shape.Members("skew?", shape.UintOf(64)),
	shape.Members("rate", shape.Float),
	shape.Members("data", shape.Map(shape.Any)),
	shape.Members("any", shape.Any),
	shape.Members("raw?", shape.Raw),
	shape.Members("at?", shape.Time),
	shape.Members("wait", shape.Duration),
	shape.Members("id?", shape.ObjectID),
	shape.Members("list", shape.List(shape.Int)),
	shape.Members("inner", inner),
	shape.Members("maybe", shape.Optional(inner)),
	shape.Members("many", shape.Map(shape.List(inner))),
)

// decoded is the Go type that sample describes. encoding/json with it is the oracle.
type decoded struct {
	Name  string          `json:"name"`
	Key   string          `json:"Key"`
	Other string          `json:"other,omitempty"`
	On    bool            `json:"on"`
	N     int             `json:"n"`
	Small int8            `json:"small,omitempty"`
	Port  uint16          `json:"port,omitempty"`
	Skew  uint64          `json:"skew,omitempty"`
	Rate  float64         `json:"rate"`
	Data  map[string]any  `json:"data"`
	Any   any             `json:"any"`
	Raw   json.RawMessage `json:"raw,omitempty"`
	At    *time.Time      `json:"at,omitempty"`
	Wait  duration        `json:"wait"`
	ID    objectID        `json:"id,omitempty"`
	List  []int           `json:"list"`
	Inner struct {
		Deep bool `json:"deep"`
	} `json:"inner"`
	Maybe *struct{ Deep bool }             `json:"maybe"`
	Many  map[string][]struct{ Deep bool } `json:"many"`
}

type duration string

// UnmarshalJSON refuses null and numbers, as gateways do.
func (d *duration) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*d = duration(*must(s))
	return nil
}

// MarshalJSON writes the zero duration.
func (d duration) MarshalJSON() ([]byte, error) { return []byte(`"0s"`), nil }

type objectID string

// UnmarshalJSON accepts 24 hexadecimal digits, empty text and null.
func (o *objectID) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if string(b) == "null" || string(b) == `""` {
		return nil
	}
	if len(b) != 26 || b[0] != '"' || strings.Trim(s, "0123456789abcdefABCDEF") != "" {
		return errBad
	}
	*o = objectID(s)
	return nil
}

type failure string

// Error implements error.
func (f failure) Error() string { return string(f) }

const errBad = failure("bad")

// must panics on nil, so that the oracle fails on a null duration.
func must(s *string) *string {
	if s == nil {
		panic(errBad)
	}
	return s
}

// decodes reports whether the oracle decodes a text.
func decodes(text string) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if r != errBad {
				panic(r)
			}
			ok = false
		}
	}()
	var v decoded
	return json.Unmarshal([]byte(text), &v) == nil
}

var cases = []struct {
	text string
	want string // "path: want, got; ..." or "" for none
}{
	{`{}`, ""},
	{`{"unknown":{"name":1}}`, ""},
	{`{"name":null,"on":null,"n":null,"rate":null,"list":null,"inner":null,"maybe":null,"many":null,"data":null,"any":null,"raw":null,"at":null,"id":null}`, ""},
	{`{"name":1}`, "name: want a string, got a number"},
	{`{"NAME":1}`, `NAME must be spelled name; NAME: want a string, got a number`},
	{`{"NAME":"x"}`, `NAME must be spelled name`},
	{`{"name":"x","Name":null}`, `Name must be spelled name`},
	{`{"key":1}`, `key must be spelled Key; key: want a string, got a number`},
	{"{\"\u212aey\":1}", "\u212aey must be spelled Key; \u212aey: want a string, got a number"},
	{"{\"li\u017ft\":1}", "li\u017ft must be spelled list; li\u017ft: want a list, got a number"},
	{`{"many":{"NAME":[{"Deep":true}]}}`, `many.NAME[0].Deep must be spelled deep`},
	{`{"on":"true"}`, "on: want true or false, got a string"},
	{`{"on":1}`, "on: want true or false, got a number"},
	{`{"n":"60"}`, "n: want a whole number, got a string"},
	{`{"n":1.0}`, "n: want a whole number, got another number"},
	{`{"n":1e3}`, "n: want a whole number, got another number"},
	{`{"n":-9223372036854775808}`, ""},
	{`{"n":9223372036854775808}`, "n: want a whole number, got another number"},
	{`{"small":127}`, ""},
	{`{"small":128}`, "small: want a whole number from -128 to 127, got another number"},
	{`{"port":65535}`, ""},
	{`{"port":65536}`, "port: want a whole number from 0 to 65535, got another number"},
	{`{"port":-1}`, "port: want a whole number from 0 to 65535, got another number"},
	{`{"skew":18446744073709551615}`, ""},
	{`{"skew":-1}`, "skew: want a whole number of at least 0, got another number"},
	{`{"rate":1.5e2}`, ""},
	{`{"rate":1e400}`, "rate: want a number, got one that is too large"},
	{`{"rate":"1"}`, "rate: want a number, got a string"},
	{`{"data":{"a":[{"b":1e400}],"c":1e400}}`, "data.a[0].b: want a value whose numbers are below 1.8e308, got a number; data.c: want a value whose numbers are below 1.8e308, got a number"},
	{`{"data":[]}`, "data: want an object, got a list"},
	{`{"any":[1,"a",{"b":null}]}`, ""},
	{`{"any":1e999}`, "any: want a value whose numbers are below 1.8e308, got a number"},
	{`{"raw":{"a":1e999}}`, ""},
	{`{"at":"2026-01-02T03:04:05.678+01:00"}`, ""},
	{`{"at":"2026-01-02"}`, "at: want a time such as 2026-01-02T03:04:05Z, got another string"},
	{`{"at":5}`, "at: want a time such as 2026-01-02T03:04:05Z, got a number"},
	{`{"wait":"5s"}`, ""},
	{`{"wait":"nonsense"}`, ""},
	{`{"wait":null}`, `wait: want a duration such as "1.5s", got null`},
	{`{"wait":5}`, `wait: want a duration such as "1.5s", got a number`},
	{`{"id":""}`, ""},
	{`{"id":"5f0000000000000000000A01"}`, ""},
	{`{"id":"a1"}`, "id: want 24 hexadecimal digits or empty text, got another string"},
	{`{"id":"\u0035f0000000000000000000a01"}`, "id: want 24 hexadecimal digits or empty text, got another string"},
	{`{"id":7}`, "id: want 24 hexadecimal digits or empty text, got a number"},
	{`{"list":[1,2]}`, ""},
	{`{"list":[1,"2",null,3.5]}`, "list[1]: want a whole number, got a string; list[3]: want a whole number, got another number"},
	{`{"list":{}}`, "list: want a list, got an object"},
	{`{"inner":{"deep":"x"}}`, "inner.deep: want true or false, got a string"},
	{`{"inner":[]}`, "inner: want an object, got a list"},
	{`{"maybe":{"deep":0}}`, "maybe.deep: want true or false, got a number"},
	{`{"many":{"":[{},{"deep":1}]}}`, `many.""[1].deep: want true or false, got a number`},
	{`[]`, "want an object, got a list"},
	{`"x"`, "want an object, got a string"},
	{`true`, "want an object, got true or false"},
}

func TestCheck(t *testing.T) {
	for _, c := range cases {
		var all []string
		for _, p := range sample.Check(doctest.Node(t, c.text)) {
			all = append(all, p.String())
		}
		have := strings.Join(all, "; ")
		if have != c.want {
			t.Errorf("%s\nhave %s\nwant %s", c.text, have, c.want)
		}
		if ok := decodes(c.text); ok != typed(sample.Check(doctest.Node(t, c.text))) {
			t.Errorf("%s: encoding/json accepts it: %v", c.text, ok)
		}
	}
}

// TestLongNames: a long name that a client chose is not repeated in full in each problem below
// it.
func TestLongNames(t *testing.T) {
	typ := shape.Map(shape.List(shape.Int))
	said := 0
	for _, p := range typ.Check(doctest.Node(t, fmt.Sprintf(`{%q:[%s""]}`, strings.Repeat("n", 100_000), strings.Repeat(`"",`, 1000)))) {
		said += len(p.String())
	}
	if said == 0 || said > 1000*shape.MaxProblems {
		t.Errorf("%d characters", said)
	}
}

// typed reports whether all problems are names in another spelling, which encoding/json takes
// for the known ones.
func typed(problems []shape.Problem) bool {
	return !slices.ContainsFunc(problems, func(p shape.Problem) bool { return !strings.HasPrefix(p.Want, "the spelling ") })
}

// tree contains itself, and may have members with any name besides the known one.
var tree shape.Type

var _ = shape.Define(&tree, shape.Open(shape.Ref(&tree), shape.Members("leaf", shape.Int)))

func TestOpenAndRef(t *testing.T) {
	for text, want := range map[string]string{
		`{"leaf":1,"a":{"leaf":null,"b":{}},"c":null}`: "",
		`{"a":{"b":{"leaf":"x"}}}`:                     "a.b.leaf: want a whole number, got a string",
		`{"a":{"b":5}}`:                                "a.b: want an object, got a number",
		`{"a":{"LEAF":5}}`:                             `a.LEAF must be spelled leaf`,
	} {
		var all []string
		for _, p := range tree.Check(doctest.Node(t, text)) {
			all = append(all, p.String())
		}
		if have := strings.Join(all, "; "); have != want {
			t.Errorf("%s\nhave %s\nwant %s", text, have, want)
		}
	}
	var places []string
	tree.Walk(func(at shape.Place, _ shape.Type) { places = append(places, at.String()) })
	if want := []string{"", "leaf", "{}", "{}.leaf"}; !slices.Equal(places, want) {
		t.Errorf("%q", places)
	}
}

func TestCheckOfNothing(t *testing.T) {
	for _, typ := range []shape.Type{sample, shape.String, shape.Raw, shape.Any, shape.List(shape.Int), shape.Int} {
		if ps := typ.Check(nil); len(ps) != 1 || ps[0].Got != "nothing" {
			t.Errorf("%s: %v", typ, ps)
		}
	}
}

func TestManyProblems(t *testing.T) {
	if ps := shape.List(shape.Int).Check(doctest.Node(t, "["+strings.Repeat(`"x",`, 1000)+`1]`)); len(ps) != 50 {
		t.Errorf("%d problems", len(ps))
	}
}

// TestZero compares with what encoding/json writes.
func TestZero(t *testing.T) {
	want, err := json.Marshal(decoded{})
	if err != nil {
		t.Fatal(err)
	}
	have := sample.Zero()
	if !have.Equal(doctest.Node(t, string(want))) {
		t.Errorf("have %s\nwant %s", have.JSON(), want)
	}
	if ps := sample.Check(have); ps != nil {
		t.Error(ps)
	}
	if never, _ := json.Marshal(time.Time{}); !shape.Time.Zero().Equal(doctest.Node(t, string(never))) {
		t.Error(shape.Time.Zero().JSON())
	}
}

// FuzzCheck compares with encoding/json.
func FuzzCheck(f *testing.F) {
	for _, c := range cases {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := doc.ParseNode([]byte(text))
		if err != nil || n.Is(doc.TypeNull) {
			return
		}
		once := string(n.JSON()) // of members with the same name only the last one stays
		if ps := sample.Check(n); typed(ps) != decodes(once) {
			t.Errorf("%s: %v", once, ps)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	n := doctest.Node(b, `{"name":"a","on":true,"n":5,"rate":1.5,"list":[1,2,3],"inner":{"deep":true},"many":{"x":[{"deep":false}]},"data":{"a":[1,2]}}`)
	for b.Loop() {
		sample.Check(n)
	}
}
