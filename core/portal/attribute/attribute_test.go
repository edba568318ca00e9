package attribute_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/attribute"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

func text(pattern string) attribute.Attribute {
	return attribute.Attribute{Base: table.Base{ID: 1}, Identifier: "t", Type: attribute.String, ValidationRegExp: pattern}
}

var (
	choice = attribute.Attribute{Base: table.Base{ID: 2}, Identifier: "c", Type: attribute.Dropdown, DropdownValues: "Red, Blue,,"}
	truth  = attribute.Attribute{Base: table.Base{ID: 3}, Identifier: "b", Type: attribute.Boolean}
	number = attribute.Attribute{Base: table.Base{ID: 4}, Identifier: "n", Type: attribute.Number}
)

// TestAccepts: valid values of attributes of every type.
func TestAccepts(t *testing.T) {
	for _, c := range []struct {
		a    attribute.Attribute
		good []string
		bad  []string
	}{
		{text(""), []string{"x", " y ", "ëëë", strings.Repeat("x", 4000)}, []string{"", "  ", strings.Repeat("x", 4001)}},
		{text("^[A-Z]+$"), []string{"ABC"}, []string{"abc", "ABC1"}},
		{text("www"), []string{"my www page"}, []string{"page"}},
		{choice, []string{"Red", "Blue"}, []string{"red", "Green", "Red, Blue", ""}},
		{truth, []string{"true", "false"}, []string{"True", "1", "yes", ""}},
		{number, []string{"0", "-1.5", "1e5", ".5"}, []string{"", "one", "0x10", "Inf", "NaN", "1_000", "1,5"}},
	} {
		for _, v := range c.good {
			if !c.a.Accepts(v) {
				t.Errorf("%s %q: refused", c.a.Identifier, v)
			}
		}
		for _, v := range c.bad {
			if c.a.Accepts(v) {
				t.Errorf("%s %q: accepted", c.a.Identifier, v)
			}
		}
	}
}

// TestPatterns: an expression that takes other engines for ever is evaluated; expressions that
// are too large or use backreferences are refused.
func TestPatterns(t *testing.T) {
	if text("^(a+)+$").Accepts(strings.Repeat("a", 3999) + "!") {
		t.Error("accepted")
	}
	for _, pattern := range []string{"(", "(a{1000}){1000}", strings.Repeat("(?:.{0,999})", 2), `\1`, "(?=a)", strings.Repeat("a", 1001)} {
		a := text(pattern)
		for _, f := range a.Table().Fields {
			if f.Name == "ValidationRegExp" && f.Valid(a) {
				t.Errorf("%.20s is valid", pattern)
			}
		}
	}
}

// TestBegin: the values of a new user, and the problems.
func TestBegin(t *testing.T) {
	required := number
	required.Required = true
	all := []attribute.Attribute{text("^[A-Z]"), choice, required}
	give := func(pairs ...string) (g attribute.Given) {
		for i := 0; i < len(pairs); i += 2 {
			g = append(g, struct{ Identifier, Value string }{pairs[i], pairs[i+1]})
		}
		return g
	}
	for name, c := range map[string]struct {
		given attribute.Given
		wrong table.Problems
		n     int
	}{
		"all":              {give("n", "1", "t", "A", "c", "Red"), nil, 3},
		"the required one": {give("n", "1", "t", ""), nil, 1},
		"none":             {nil, table.Problems{"n can't be blank"}, 0},
		"an empty one":     {give("n", " "), table.Problems{"n can't be blank"}, 0},
		"wrong ones":       {give("n", "x", "c", "Green", "t", "a"), table.Problems{"n is invalid", "c is invalid", "t is invalid"}, 0},
		"an unknown one":   {give("n", "1", "z", "1"), table.Problems{"CustomAttributes is invalid"}, 1},
	} {
		wrong := table.Problems{}
		values := attribute.Begin(all, c.given, &wrong)
		if !slices.Equal(wrong, c.wrong) || len(values) != c.n {
			t.Errorf("%s: %v %v", name, wrong, values)
		}
	}
}

// TestJoin: users cannot enter hidden values, nor replace values that an admin has set.
func TestJoin(t *testing.T) {
	hidden, seen, asked, own := text(""), text(""), text(""), text("")
	for i, a := range []*attribute.Attribute{&hidden, &seen, &asked, &own} {
		a.ID, a.Identifier, a.Behaviour = table.ID(i+1), []string{"hidden", "seen", "asked", "own"}[i], []int64{attribute.Hidden, attribute.View, attribute.View, attribute.Edit}[i]
	}
	asked.ShowOnSignUp, own.Required = true, true
	all := []attribute.Attribute{hidden, seen, asked, own}
	give := func(identifier string) attribute.Given {
		return attribute.Given{{Identifier: identifier, Value: "mine"}, {Identifier: "own", Value: "mine"}}
	}
	for identifier, ok := range map[string]bool{"hidden": false, "seen": false, "asked": true, "own": true} {
		wrong := table.Problems{}
		attribute.Join(all, nil, give(identifier), &wrong)
		if (len(wrong) == 0) != ok {
			t.Errorf("%s: %v", identifier, wrong)
		}
	}
	wrong := table.Problems{}
	have := attribute.Values{}.Put(hidden, "admin's").Put(own, "admin's")
	if got := attribute.Join(all, have, give("asked"), &wrong); len(wrong) != 0 || got.Of(1) != "admin's" || got.Of(3) != "mine" || got.Of(4) != "admin's" {
		t.Error(got, wrong)
	}
	if attribute.Join(all, have, nil, &wrong); len(wrong) != 0 {
		t.Error(wrong)
	}
}

// TestChange: the changes of a value that are refused.
func TestChange(t *testing.T) {
	once, required := text(""), text("")
	once.WriteOnceReadMany, required.Required = true, true
	set := attribute.Values{}.Put(once, "first")
	for name, c := range map[string]struct {
		values attribute.Values
		a      attribute.Attribute
		value  string
		want   string
		wrong  string
	}{
		"a first value":           {nil, once, " first ", "first", ""},
		"another one":             {set, once, "second", "first", "Value cannot be changed: the first one stays"},
		"the same once more":      {set, once, "first", "first", ""},
		"no value, written once":  {set, once, "", "first", "Value cannot be changed: the first one stays"},
		"no value of a required":  {set, required, "", "first", "Value can't be blank"},
		"no value":                {set, text(""), "", "", ""},
		"a value that cannot be":  {set, text("^[0-9]$"), "x", "first", "Value is invalid"},
		"no value where none was": {nil, required, "", "", ""},
	} {
		wrong := table.Problems{}
		got := c.values.Change(c.a, c.value, &wrong)
		if got.Of(1) != c.want || strings.Join(wrong, ";") != c.wrong {
			t.Errorf("%s: %q %v", name, got.Of(1), wrong)
		}
	}
	renamed := once
	renamed.Identifier = "called otherwise"
	if v := set.Renamed(renamed); v[0].Identifier != "called otherwise" || set[0].Identifier != "t" {
		t.Error(v, set)
	}
}

// TestModel: the default attributes that are copied to metadata.
func TestModel(t *testing.T) {
	m, d := attribute.First(), attribute.Defaults[2]
	if m.Adds(d) || !m.Switch(d, true).Adds(d) || m.Switch(d, true).Switch(d, true).Switch(d, false).Adds(d) {
		t.Error("switched")
	}
	for i, d := range attribute.Defaults {
		if found, ok := attribute.FindDefault(d.ID.String()); !ok || found != d || int(d.ID) != i+1 {
			t.Error(d)
		}
	}
	if _, ok := attribute.FindDefault("7"); ok {
		t.Error("a seventh one")
	}
}

// FuzzAccepts: the check works for any pattern and value, and no accepted value is empty.
func FuzzAccepts(f *testing.F) {
	f.Add("^[A-Z]+$", "ABC", int64(1))
	f.Add("", "1e5", int64(4))
	f.Fuzz(func(t *testing.T, pattern, value string, kind int64) {
		a := text(pattern)
		a.Type, a.DropdownValues = kind, table.CSV(pattern)
		if a.Accepts(value) && strings.TrimSpace(value) == "" {
			t.Errorf("%q", value)
		}
	})
}

// TestTables: the fields of attributes, values and switches.
func TestTables(t *testing.T) {
	const valid = `"Name":"N","Identifier":"size-1_x","Behaviour":1`
	tabletest.Sound[attribute.Attribute](t, `{`+valid+`,"Type":1}`)
	tabletest.Sound[attribute.Model](t, `{"ModelName":"User"}`)
	tabletest.Sound[attribute.Choice](t, `{"AddToKeyMetadata":true}`)
	tabletest.Sound[attribute.Entry](t, `{"Value":"x"}`)
	cases := map[string]string{
		`{` + valid + `,"Type":0}`:                                 "Type is invalid",
		`{` + valid + `,"Type":5}`:                                 "Type is invalid",
		`{` + valid + `,"Type":2,"DropdownValues":" ,, "}`:         "DropdownValues can't be blank",
		`{` + valid + `,"Type":2,"DropdownValues":["a","b"]}`:      `{"DropdownValues":"a,b"}`,
		`{` + valid + `,"Type":1,"ValidationRegExp":"("}`:          "ValidationRegExp is invalid",
		`{"Name":"N","Identifier":"i","Behaviour":0,"Type":4}`:     "Behaviour is invalid",
		`{"Name":"N","Identifier":"i","Behaviour":4,"Type":4}`:     "Behaviour is invalid",
		`{"Name":"N","Identifier":"a b","Behaviour":1,"Type":4}`:   "Identifier is invalid",
		`{"Name":"N","Identifier":"größe","Behaviour":1,"Type":4}`: "Identifier is invalid",
	}
	for _, name := range attribute.Reserved {
		cases[`{"Name":"N","Identifier":"`+name+`","Behaviour":1,"Type":1}`] = "Identifier is invalid"
	}
	tabletest.Bodies(t, attribute.Attribute{}, true, cases)
	a := attribute.Attribute{ModelID: 1, Name: "N", Identifier: "i", Type: attribute.Number, Behaviour: attribute.View}
	tabletest.Bodies(t, a, false, map[string]string{`{"Type":1,"Behaviour":3}`: `{"Type":4,"Behaviour":3}`})
	if a.Table().Parent(a) != 1 || a.TypeWord() != "Number" || a.BehaviourWord() != "View only" {
		t.Error(a.TypeWord(), a.BehaviourWord())
	}
}

// TestGiven: the forms in which a body can have values of attributes.
func TestGiven(t *testing.T) {
	for text, want := range map[string]string{ // "-": refused
		`null`: ``, `[]`: ``, `[{"Identifier":"a","Value":"1"}]`: `a=1`, `[{"Identifier":"a","Value":5},{"Identifier":"b","Value":true}]`: `a=5 b=true`, `[{"Identifier":"a"}]`: `a=`,
		`[{"CustomAttribute":{"Identifier":"c"},"Value":"1"}]`: `c=1`, `[{"CustomAttribute":{"Identifier":"c"},"Identifier":"a","Value":"1"}]`: `a=1`,
		`{}`: `-`, `"a"`: `-`, `[5]`: `-`, `[{"Value":"1"}]`: `-`, `[{"Identifier":5,"Value":"1"}]`: `-`, `[{"Identifier":"a","Value":[]}]`: `-`,
		`[` + strings.Repeat(`{"Identifier":"a"},`, attribute.Most) + `{"Identifier":"a"}]`: `-`,
	} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var sent any
		if err := d.Decode(&sent); err != nil {
			t.Fatal(err)
		}
		given, parts := attribute.Given{{Identifier: "old"}}, []string{}
		_, ok := given.Take(sent)
		for _, g := range given {
			parts = append(parts, g.Identifier+"="+g.Value)
		}
		if have := strings.Join(parts, " "); ok != (want != "-") || ok && have != want || !ok && have != "old=" {
			t.Errorf("%.80s: %q, %t", text, have, ok)
		}
	}
	if items := (attribute.Given{}).Schema()["items"]; items == nil {
		t.Error("values are not described")
	}
}
