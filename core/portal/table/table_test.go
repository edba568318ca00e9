package table_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

// thing has a field of each sort.
type thing struct {
	table.Base
	Name   string
	Note   string
	Word   string
	Kinds  table.CSV
	Meta   table.Object
	Free   json.RawMessage
	Rate   int64
	Price  float64
	Active bool
	Labels []string
	Owner  table.ID
	Plans  []table.ID
	Type   string
}

func (thing) Table() *table.Table[thing] { return things }

var things = &table.Table[thing]{
	Kind: "portal-thing", Noun: "small thing",
	Base: func(t *thing) *table.Base { return &t.Base },
	Fields: []table.Field[thing]{
		{Name: "Name", At: func(t *thing) any { return &t.Name }, Required: true, Max: 10, Line: true, Doc: "What it is called."},
		{Name: "Note", At: func(t *thing) any { return &t.Note }, Valid: func(t thing) bool { return t.Note != "bad" }},
		{Name: "Word", At: func(t *thing) any { return &t.Word }, Default: "no", Enum: []string{"yes", "no"}},
		{Name: "Kinds", At: func(t *thing) any { return &t.Kinds }},
		{Name: "Meta", At: func(t *thing) any { return &t.Meta }},
		{Name: "Free", At: func(t *thing) any { return &t.Free }},
		{Name: "Rate", At: func(t *thing) any { return &t.Rate }},
		{Name: "Price", At: func(t *thing) any { return &t.Price }},
		{Name: "Active", At: func(t *thing) any { return &t.Active }},
		{Name: "Labels", At: func(t *thing) any { return &t.Labels }},
		{Name: "OwnerID", Also: []string{"Owner"}, At: func(t *thing) any { return &t.Owner }, Target: "portal-user"},
		{Name: "Plans", At: func(t *thing) any { return &t.Plans }, Target: "portal-plan"},
		{Name: "Type", At: func(t *thing) any { return &t.Type }, Fixed: true, Required: true},
	},
	Check: func(t thing, wrong *table.Problems) {
		if t.Name == "free" && t.Price > 0 {
			wrong.Invalid("Price")
		}
	},
}

const cid = "2r7p8aUnkzby17hCJk8w2XvK3K6"

// resolve knows the records 1 to 9, and 4 by its CID.
func resolve(_, name string) (table.ID, bool, error) {
	switch {
	case name == cid:
		return 4, true, nil
	case name == "13":
		return 0, false, errAway
	}
	id, ok := table.ParseID(name)
	return id, ok && id < 10, nil
}

var errAway = errors.New("away")

func stored() thing {
	return thing{Name: "old", Type: "fixed", Owner: 3, Plans: []table.ID{1, 2}, Rate: 7, Active: true, Kinds: "a,b", Labels: []string{"x"}}
}

func apply(t testing.TB, text string, making bool) (thing, error) {
	t.Helper()
	var b table.Body[thing]
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return thing{}, err
	}
	v := stored()
	if making {
		v = thing{}
	}
	err := b.Apply(&v, making, resolve)
	return v, err
}

// TestApply states which values each type of field takes.
func TestApply(t *testing.T) {
	for text, want := range map[string]func(*thing){
		`{}`:                                     func(*thing) {},
		`{"Name":"new","Unknown":1,"name":"no"}`: func(v *thing) { v.Name = "new" },
		`{"Name":5}`:                             func(v *thing) { v.Name = "5" },
		`{"Name":true}`:                          func(v *thing) { v.Name = "true" },
		`{"Name":"a","Name":"b"}`:                func(v *thing) { v.Name = "b" },
		`{"Rate":"12"}`:                          func(v *thing) { v.Rate = 12 },
		`{"Rate":12.0}`:                          func(v *thing) { v.Rate = 12 },
		`{"Rate":1e3}`:                           func(v *thing) { v.Rate = 1000 },
		`{"Rate":-1}`:                            func(v *thing) { v.Rate = -1 },
		`{"Rate":9007199254740993}`:              func(v *thing) { v.Rate = 9007199254740993 },
		`{"Rate":null}`:                          func(v *thing) { v.Rate = 0 },
		`{"Rate":""}`:                            func(v *thing) { v.Rate = 0 },
		`{"Price":"1.5"}`:                        func(v *thing) { v.Price = 1.5 },
		`{"Active":"false"}`:                     func(v *thing) { v.Active = false },
		`{"Active":"TRUE"}`:                      func(*thing) {},
		`{"Active":0}`:                           func(v *thing) { v.Active = false },
		`{"Active":null}`:                        func(v *thing) { v.Active = false },
		`{"Kinds":["c","d"]}`:                    func(v *thing) { v.Kinds = "c,d" },
		`{"Kinds":"c,d"}`:                        func(v *thing) { v.Kinds = "c,d" },
		`{"Kinds":null}`:                         func(v *thing) { v.Kinds = "" },
		`{"Labels":"c, d,,"}`:                    func(v *thing) { v.Labels = []string{"c", "d"} },
		`{"Labels":["c",4]}`:                     func(v *thing) { v.Labels = []string{"c", "4"} },
		`{"Labels":null}`:                        func(v *thing) { v.Labels = nil },
		`{"Meta":{"b":1.50,"a":{}}}`:             func(v *thing) { v.Meta = `{"a":{},"b":1.50}` },
		`{"Meta":"{\"URL\":\"x\"}"}`:             func(v *thing) { v.Meta = `{"URL":"x"}` },
		`{"Meta":null}`:                          func(*thing) {},
		`{"Free":[1,"x"]}`:                       func(v *thing) { v.Free = json.RawMessage(`[1,"x"]`) },
		`{"OwnerID":5}`:                          func(v *thing) { v.Owner = 5 },
		`{"OwnerID":"5"}`:                        func(v *thing) { v.Owner = 5 },
		`{"OwnerID":"` + cid + `"}`:              func(v *thing) { v.Owner = 4 },
		`{"Owner":{"ID":5}}`:                     func(v *thing) { v.Owner = 5 },
		`{"Owner":{"ID":"5"}}`:                   func(v *thing) { v.Owner = 5 },
		`{"Owner":"User#5"}`:                     func(*thing) {},
		`{"Owner":"Default Organisation"}`:       func(*thing) {},
		`{"Owner":{"Name":"x"}}`:                 func(*thing) {},
		`{"Owner":{"ID":{}}}`:                    func(*thing) {},
		`{"OwnerID":5,"Owner":{"ID":6}}`:         func(v *thing) { v.Owner = 5 },
		`{"OwnerID":"a name","Owner":{"ID":6}}`:  func(v *thing) { v.Owner = 6 },
		`{"OwnerID":null}`:                       func(v *thing) { v.Owner = 0 },
		`{"OwnerID":0}`:                          func(v *thing) { v.Owner = 0 },
		`{"Plans":[3,"5","` + cid + `",3]}`:      func(v *thing) { v.Plans = []table.ID{3, 5, 4} },
		`{"Plans":"2"}`:                          func(v *thing) { v.Plans = []table.ID{2} },
		`{"Plans":2}`:                            func(v *thing) { v.Plans = []table.ID{2} },
		`{"Plans":null}`:                         func(v *thing) { v.Plans = nil },
		`{"Plans":[]}`:                           func(v *thing) { v.Plans = []table.ID{} },
		`{"Plans":""}`:                           func(v *thing) { v.Plans = nil },
		`{"Plans":["Gold",3]}`:                   func(*thing) {},
		`{"Plans":[{"ID":3}]}`:                   func(*thing) {},
		`{"Plans":{"ID":3}}`:                     func(*thing) {},
		`{"Type":"other","CID":"` + cid + `"}`:   func(*thing) {},
		`{"Note":"a\tb\n"}`:                      func(v *thing) { v.Note = "a\tb\n" },
		`{"Word":"yes"}`:                         func(v *thing) { v.Word = "yes" },
		`{"Word":""}`:                            func(*thing) {},
	} {
		want0 := stored()
		want(&want0)
		got, err := apply(t, text, false)
		if err != nil || !reflect.DeepEqual(got, want0) {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want0)
		}
	}
}

// TestFresh states which relations of a body repeat a response, and are therefore ignored.
func TestFresh(t *testing.T) {
	const answer = `{"Name":"7","OwnerID":"8","Owner":"` + cid + `","Plans":["3","5"],"Kinds":"1"}`
	for text, want := range map[string]struct {
		asked bool
		owner table.ID
		plans []table.ID
	}{
		`{"Plans":["3","5"]}`:      {true, 3, []table.ID{1, 2}},
		`{"Plans":["5","3"]}`:      {true, 3, []table.ID{5, 3}},
		`{"Plans":["3"]}`:          {true, 3, []table.ID{3}},
		`{"Plans":"3"}`:            {true, 3, []table.ID{3}},
		`{"Plans":[3,5]}`:          {false, 3, []table.ID{3, 5}},
		`{"Plans":["3",5]}`:        {false, 3, []table.ID{3, 5}},
		`{"Plans":["Gold"]}`:       {false, 3, []table.ID{1, 2}},
		`{"Plans":[]}`:             {false, 3, []table.ID{}},
		`{"Plans":null}`:           {false, 3, nil},
		`{"OwnerID":""}`:           {false, 0, []table.ID{1, 2}},
		`{"OwnerID":"8"}`:          {true, 3, []table.ID{1, 2}},
		`{"OwnerID":"7"}`:          {true, 7, []table.ID{1, 2}},
		`{"Owner":"` + cid + `"}`:  {true, 3, []table.ID{1, 2}},
		`{"Owner":{"ID":"8"}}`:     {false, 8, []table.ID{1, 2}},
		`{"Kinds":"1","Name":"7"}`: {false, 3, []table.ID{1, 2}},
	} {
		var b table.Body[thing]
		if err := json.Unmarshal([]byte(text), &b); err != nil {
			t.Fatal(err)
		}
		asked, v := false, stored()
		fresh, err := b.Fresh(func() (any, error) { asked = true; return json.RawMessage(answer), nil })
		if err == nil {
			err = fresh.Apply(&v, false, resolve)
		}
		if err != nil || asked != want.asked || v.Owner != want.owner || !reflect.DeepEqual(v.Plans, want.plans) {
			t.Errorf("%s: asked %t, owner %d, plans %v, %v", text, asked, v.Owner, v.Plans, err)
		}
		var sent table.Body[thing]
		if err := json.Unmarshal([]byte(text), &sent); err != nil || !reflect.DeepEqual(b, sent) {
			t.Errorf("%s: the body itself has changed: %v", text, err)
		}
	}
	var b table.Body[thing]
	if err := json.Unmarshal([]byte(`{"Plans":["3"]}`), &b); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Fresh(func() (any, error) { return nil, errAway }); !errors.Is(err, errAway) {
		t.Errorf("the answer cannot be had: %v", err)
	}
}

// TestProblems states which validations fail, all of them, and how.
func TestProblems(t *testing.T) {
	for text, want := range map[string][]string{
		`{"Name":""}`:                       {"Name can't be blank"},
		`{"Name":null}`:                     {"Name can't be blank"},
		`{"Name":"a\u0000b"}`:               {"Name is invalid"},
		`{"Name":"\u001b[31m"}`:             {"Name is invalid"},
		`{"Name":"a\nb"}`:                   {"Name is invalid"},
		`{"Name":"much too long"}`:          {"Name is too long (the maximum is 10 characters)"},
		`{"Name":[],"Rate":1.5,"Word":"x"}`: {"Name is invalid", "Word is invalid", "Rate is invalid"},
		`{"Rate":"x"}`:                      {"Rate is invalid"},
		`{"Rate":true}`:                     {"Rate is invalid"},
		`{"Rate":1e300}`:                    {"Rate is invalid"},
		`{"Price":"NaN"}`:                   {"Price is invalid"},
		`{"Price":"Inf"}`:                   {"Price is invalid"},
		`{"Price":{}}`:                      {"Price is invalid"},
		`{"Active":"maybe"}`:                {"Active is invalid"},
		`{"Active":[]}`:                     {"Active is invalid"},
		`{"Kinds":[{}]}`:                    {"Kinds is invalid"},
		`{"Labels":{}}`:                     {"Labels is invalid"},
		`{"Meta":"{"}`:                      {"Meta is invalid"},
		`{"Meta":"{} {}"}`:                  {"Meta is invalid"},
		`{"Meta":[]}`:                       {"Meta is invalid"},
		`{"OwnerID":99}`:                    {"OwnerID is invalid"},
		`{"OwnerID":1.5}`:                   {"OwnerID is invalid"},
		`{"OwnerID":true}`:                  {"OwnerID is invalid"},
		`{"OwnerID":-1}`:                    {"OwnerID is invalid"},
		`{"Owner":{"ID":99}}`:               {"OwnerID is invalid"},
		`{"Plans":[1,99]}`:                  {"Plans is invalid"},
		`{"Plans":[null]}`:                  {"Plans is invalid"},
		`{"Plans":["` + cid[:26] + `5"]}`:   {"Plans is invalid"},
		`{"Note":"bad"}`:                    {"Note is invalid"},
		`{"Name":"free","Price":1}`:         {"Price is invalid"},
		`{"Labels":[` + strings.Repeat(`1,`, 1000) + `1]}`: {"Labels is invalid"},
		`{"Plans":[` + strings.Repeat(`1,`, 1000) + `1]}`:  {"Plans is invalid"},
	} {
		_, err := apply(t, text, false)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Kind != fault.Invalid || !slices.Equal(f.All, want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
	for sent, want := range map[string]string{``: "no", `,"Word":""`: "no", `,"Word":null`: "no", `,"Word":"yes"`: "yes"} {
		if v, err := apply(t, `{"Name":"n","Type":"t"`+sent+`}`, true); err != nil || v.Word != want {
			t.Errorf("%s: %q, %v", sent, v.Word, err)
		}
	}
	_, err := apply(t, `{"CID":"short"}`, true)
	if f, ok := errors.AsType[*fault.Error](err); !ok || !slices.Equal(f.All, []string{"CID is invalid", "Name can't be blank", "Type can't be blank"}) {
		t.Errorf("of a new record %v", err)
	}
	if v, err := apply(t, `{"Name":"n","Type":"t","CID":"`+cid+`"}`, true); err != nil || v.CID != cid || v.Type != "t" {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := apply(t, `{"OwnerID":13}`, false); !errors.Is(err, errAway) {
		t.Errorf("a store that is away is told as %v", err)
	}
	for _, text := range []string{`[]`, `null`, `1`, `"x"`} {
		if _, err := apply(t, text, false); fault.CodeOf(err) != table.CodeBody {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestCID states that CIDs have one form, are ordered by time, and differ.
func TestCID(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	a, b, c := table.NewCID(at, "a"), table.NewCID(at, "b"), table.NewCID(at.Add(time.Second), "a")
	for _, id := range []string{a, b, c, cid, table.NewCID(time.Time{}, ""), table.NewCID(time.Unix(5_694_967_295, 0), "last")} {
		if !table.IsCID(id) {
			t.Errorf("%q is no CID", id)
		}
	}
	if a == b || c <= a || c <= b {
		t.Error(a, b, c)
	}
	for _, id := range []string{"", "7", a[1:], a + "0", strings.Repeat("z", 27), a[:26] + "-", a[:25] + "é"} {
		if table.IsCID(id) {
			t.Errorf("%q is a CID", id)
		}
	}
}

// TestID states which texts are the number of a record, and that storage keeps the order.
func TestID(t *testing.T) {
	for text, want := range map[string]table.ID{"1": 1, "007": 7, "999999999999": 999999999999, "0": 0, "": 0, "-1": 0, "1.0": 0, "1e3": 0, "1000000000000": 0, "٣": 0, " 1": 0} {
		if id, ok := table.ParseID(text); ok != (want != 0) || ok && id != want {
			t.Errorf("%q: %d, %v", text, id, ok)
		}
	}
	if table.ID(9).Key() >= table.ID(10).Key() || table.ID(12).String() != "12" {
		t.Error(table.ID(9).Key(), table.ID(12))
	}
}

// TestMember states by which names lists are ordered, and the order.
func TestMember(t *testing.T) {
	early, late := thing{Name: "a", Rate: 1, Price: 0.5}, thing{Name: "B", Rate: 2, Price: 1, Active: true}
	early.ID, late.ID = 1, 2
	early.CreatedAt, late.CreatedAt = time.Unix(1, 0), time.Unix(2, 0)
	for _, name := range []string{"Name", "name", "rate", "Price", "active", "ID", "created_at", "CreatedAt"} {
		at, ok := things.Member(name)
		if !ok || table.Compare(at(&early), at(&late)) >= 0 || table.Compare(at(&late), at(&early)) <= 0 || table.Compare(at(&late), at(&late)) != 0 {
			t.Errorf("%s: %v", name, ok)
		}
	}
	if _, ok := things.Member("secret"); ok {
		t.Error("a member that no field names orders lists")
	}
	if !things.Matches(&late, "b") || things.Matches(&early, "b") {
		t.Error("a keyword is not found in texts without regard to case")
	}
}

// TestStamp states the format of times.
func TestStamp(t *testing.T) {
	if s := table.Stamp(time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)); s != "2026-01-02 03:04" || table.Stamp(time.Time{}) != "" {
		t.Error(s)
	}
}

// FuzzBody states that no body causes a panic, and that a changed record is the same after it
// is read again.
func FuzzBody(f *testing.F) {
	for _, s := range []string{`{"Name":"a","Plans":[1],"Owner":{"ID":"2"}}`, `{"Meta":"{\"a\":[1]}","Rate":"1e2"}`, `{"Kinds":["a",null]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := apply(t, text, false)
		if err != nil {
			return
		}
		again, err := apply(t, text, false)
		if err != nil || !reflect.DeepEqual(v, again) {
			t.Errorf("%q: %+v and then %+v, %v", text, v, again, err)
		}
		if len(v.Plans) > table.MaxList || len(v.Labels) > table.MaxList {
			t.Errorf("%d plans and %d labels", len(v.Plans), len(v.Labels))
		}
	})
}

// TestSound: the fields of the table, and what is known of them without a record.
func TestSound(t *testing.T) {
	tabletest.Sound[thing](t, `{"Name":"n","Type":"t"}`)
	var b table.Body[thing]
	kind, facts := b.Facts()
	if kind != "portal-thing" || len(facts) != len(things.Fields) || b.SchemaName() != "SmallThingInput" {
		t.Errorf("%s, %s with %d fields", kind, b.SchemaName(), len(facts))
	}
	for i, want := range map[int]table.Fact{
		0:  {Name: "Name", Takes: new(string), Required: true},
		2:  {Name: "Word", Takes: new(string), Enum: []string{"yes", "no"}},
		10: {Name: "OwnerID", Takes: new(table.ID), Target: "portal-user"},
		12: {Name: "Type", Takes: new(string), Required: true, Fixed: true},
	} {
		if !reflect.DeepEqual(facts[i], want) {
			t.Errorf("%+v, want %+v", facts[i], want)
		}
	}
	text, err := json.Marshal(b.Schema())
	const want = `{"properties":{"CID":{"description":"Identifier that the client can choose for a new record. Generated when absent.","type":"string"},"Name":{"description":"What it is called.","type":"string"},"Note":{"type":"string"},` +
		`"Word":{"enum":["yes","no"],"type":"string"},"Kinds":{"type":"string"},"Meta":{"type":"object"},"Free":{},"Rate":{"type":"integer"},"Price":{"type":"number"},"Active":{"type":"boolean"},` +
		`"Labels":{"items":{"type":"string"},"type":["array","null"]},"OwnerID":{"type":"integer"},"Plans":{"items":{"type":"integer"},"type":["array","null"]},"Type":{"type":"string"}},"type":"object"}`
	if err != nil || string(text) != want {
		t.Errorf("have %s, %v\nwant %s", text, err, want)
	}
}

// TestNames: by which members lists are sorted and searched, and which one is shown.
func TestNames(t *testing.T) {
	if got := strings.Join(things.Ordered(), " "); got != "ID CID CreatedAt UpdatedAt Name Note Word Kinds Rate Price Active OwnerID Type" {
		t.Error(got)
	}
	for _, name := range things.Ordered() {
		if _, ok := things.Member(name); !ok {
			t.Errorf("%s does not sort", name)
		}
	}
	if got := strings.Join(things.Texts(), " "); got != "Name Note Word Kinds Type" {
		t.Error(got)
	}
	optional := *things
	optional.Fields = things.Fields[1:12]
	numbers := *things
	numbers.Fields = things.Fields[6:8]
	if things.Label() != "Name" || optional.Label() != "Note" || numbers.Label() != "" {
		t.Error(things.Label(), optional.Label(), numbers.Label())
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{{"DisplayName", "display_name", true}, {"id", "ID", true}, {"Name", "Names", false}, {"", "_", true}} {
		if table.SameName(c.a, c.b) != c.same {
			t.Error(c)
		}
	}
}

// TestBodyMembers: the members of a body, and a body without one.
func TestBodyMembers(t *testing.T) {
	var b table.Body[thing]
	if err := json.Unmarshal([]byte(`{"Name":null,"Rate":5}`), &b); err != nil {
		t.Fatal(err)
	}
	less := b.Without("Rate")
	if !b.Has("Name") || b.Has("Note") || b.Get("Name") != nil || b.Get("Rate") != json.Number("5") || less.Has("Rate") || !b.Has("Rate") {
		t.Error(b, less)
	}
	if text, ok := table.Text(json.Number("1.50")); text != "1.50" || !ok {
		t.Error(text, ok)
	}
	if _, ok := table.Text([]any{}); ok {
		t.Error("a list is a text")
	}
	if _, err := b.Fresh(func() (any, error) { return nil, errAway }); err != nil {
		t.Errorf("a body without relations asks for the answer: %v", err)
	}
	if err := json.Unmarshal([]byte(`{"OwnerID":"8"}`), &b); err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string]any{"no object": json.RawMessage(`[]`), "no JSON": make(chan int)} {
		if _, err := b.Fresh(func() (any, error) { return answer, nil }); err == nil {
			t.Errorf("an answer that is %s is taken", name)
		}
	}
}

// TestAway: records that no operation shows.
func TestAway(t *testing.T) {
	for _, c := range []struct {
		b    table.Base
		away bool
	}{{table.Base{}, false}, {table.Base{Hidden: true}, true}, {table.Base{DeletedAt: time.Unix(1, 0)}, true}} {
		if c.b.Away() != c.away {
			t.Errorf("%+v", c.b)
		}
	}
}
