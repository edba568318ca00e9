package linear_test

import (
	"math"
	"testing"

	"github.com/anishathalye/porcupine"
)

var (
	gold   = mappings{"orders": {"read": "gold"}}
	silver = mappings{"orders": {"read": "silver"}}
)

func ptr(s string) *string { return &s }

// at is a request and its answer between two points in time.
func at(from, to int64, in input, out output) porcupine.Operation {
	in.Record = "corp"
	if out.Unknown {
		to = math.MaxInt64
	}
	return porcupine.Operation{Input: in, Output: out, Call: from, Return: to}
}

func created(from, to int64) porcupine.Operation {
	return at(from, to, input{Verb: create, Name: "a", Mappings: gold}, output{Status: 201, Tag: "1"})
}

func found(from, to int64, tag, name string, m mappings) porcupine.Operation {
	return at(from, to, input{Verb: read}, output{Status: 200, Tag: tag, Name: name, Mappings: m})
}

func swapped(from, to int64, match, tag, name string, m mappings) porcupine.Operation {
	return at(from, to, input{Verb: replace, Name: name, Mappings: m, Match: match}, output{Status: 200, Tag: tag, Name: name, Mappings: m})
}

func refused(from, to int64, v verb, match string, status int) porcupine.Operation {
	return at(from, to, input{Verb: v, Name: "x", Mappings: mappings{}, Match: match}, output{Status: status})
}

func TestModel(t *testing.T) {
	deleted := at(10, 11, input{Verb: remove}, output{Status: 200})
	lost := at(10, 0, input{Verb: replace, Name: "b", Mappings: silver}, output{Unknown: true})
	put := at(10, 11, input{Verb: putMapping, API: "billing", Mappings: mappings{"billing": {}}},
		output{Status: 200, Tag: "2", Name: "a", Mappings: mappings{"orders": {"read": "gold"}, "billing": {}}})
	patched := func(out mappings) porcupine.Operation {
		p := merge{"orders": {"read": nil, "write": ptr("tin")}, "billing": {"read": nil}, "gone": nil}
		return at(10, 11, input{Verb: patch, Patch: p}, output{Status: 200, Tag: "2", Name: "a", Mappings: out})
	}
	for name, c := range map[string]struct {
		want    porcupine.CheckResult
		history []porcupine.Operation
	}{
		"read what was written":           {porcupine.Ok, []porcupine.Operation{created(0, 1), found(2, 3, "1", "a", gold)}},
		"read before a concurrent write":  {porcupine.Ok, []porcupine.Operation{created(0, 1), swapped(2, 9, "1", "2", "b", silver), found(3, 4, "1", "a", gold)}},
		"stale read":                      {porcupine.Illegal, []porcupine.Operation{created(0, 1), swapped(2, 3, "1", "2", "b", silver), found(4, 5, "1", "a", gold)}},
		"back in time":                    {porcupine.Illegal, []porcupine.Operation{created(0, 1), swapped(2, 9, "1", "2", "b", silver), found(3, 4, "2", "b", silver), found(5, 6, "1", "a", gold)}},
		"absent after creation":           {porcupine.Illegal, []porcupine.Operation{created(0, 1), refused(2, 3, read, "", 404)}},
		"created twice":                   {porcupine.Illegal, []porcupine.Operation{created(0, 5), created(1, 6)}},
		"created again":                   {porcupine.Ok, []porcupine.Operation{created(0, 1), deleted, at(12, 13, input{Verb: create, Name: "c", Mappings: mappings{}}, output{Status: 201, Tag: "3"})}},
		"taken":                           {porcupine.Ok, []porcupine.Operation{created(0, 1), refused(2, 3, create, "", 409)}},
		"alive after deletion":            {porcupine.Illegal, []porcupine.Operation{created(0, 1), deleted, found(12, 13, "1", "a", gold)}},
		"one of two swaps":                {porcupine.Ok, []porcupine.Operation{created(0, 1), swapped(2, 9, "1", "2", "b", silver), refused(3, 8, replace, "1", 412)}},
		"both of two swaps":               {porcupine.Illegal, []porcupine.Operation{created(0, 1), swapped(2, 9, "1", "2", "b", silver), swapped(3, 8, "1", "3", "c", gold)}},
		"refused without reason":          {porcupine.Illegal, []porcupine.Operation{created(0, 1), refused(2, 3, replace, "1", 412)}},
		"same tag after a write":          {porcupine.Illegal, []porcupine.Operation{created(0, 1), swapped(2, 3, "", "1", "b", silver)}},
		"other mappings stay":             {porcupine.Ok, []porcupine.Operation{created(0, 1), put}},
		"lost update":                     {porcupine.Illegal, []porcupine.Operation{created(0, 1), swapped(2, 3, "", "2", "b", silver), put}},
		"patched":                         {porcupine.Ok, []porcupine.Operation{created(0, 1), patched(mappings{"orders": {"write": "tin"}, "billing": {}})}},
		"half patched":                    {porcupine.Illegal, []porcupine.Operation{created(0, 1), patched(mappings{"orders": {"write": "tin", "read": "gold"}, "billing": {}})}},
		"lost answer, no effect":          {porcupine.Ok, []porcupine.Operation{created(0, 1), lost, found(12, 13, "1", "a", gold)}},
		"lost answer, late effect":        {porcupine.Ok, []porcupine.Operation{created(0, 1), lost, found(12, 13, "1", "a", gold), found(14, 15, "2", "b", silver)}},
		"lost answer, effect taken back":  {porcupine.Illegal, []porcupine.Operation{created(0, 1), lost, found(12, 13, "2", "b", silver), found(14, 15, "1", "a", gold)}},
		"lost answer, tag of before":      {porcupine.Illegal, []porcupine.Operation{created(0, 1), lost, found(12, 13, "2", "b", silver), swapped(14, 15, "1", "3", "c", gold)}},
		"unchanged":                       {porcupine.Ok, []porcupine.Operation{created(0, 1), at(2, 3, input{Verb: read, NoneMatch: "1"}, output{Status: 304})}},
		"unchanged, although it did":      {porcupine.Illegal, []porcupine.Operation{created(0, 1), swapped(2, 3, "", "2", "b", silver), at(4, 5, input{Verb: read, NoneMatch: "1"}, output{Status: 304})}},
		"mapping removed twice":           {porcupine.Illegal, []porcupine.Operation{created(0, 1), unmapped(2, 3, "2"), unmapped(4, 5, "3")}},
		"mapping read after it was there": {porcupine.Illegal, []porcupine.Operation{created(0, 1), unmapped(2, 3, "2"), at(4, 5, input{Verb: readMapping, API: "orders"}, output{Status: 200, Tag: "2", Mappings: gold})}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := verdict(c.history); got != c.want {
				t.Errorf("%s, want %s:%s", got, c.want, lines(c.history))
			}
		})
	}
}

func unmapped(from, to int64, tag string) porcupine.Operation {
	return at(from, to, input{Verb: removeMapping, API: "orders"}, output{Status: 200, Tag: tag})
}

func TestShortest(t *testing.T) {
	history := []porcupine.Operation{created(0, 1), swapped(2, 9, "1", "2", "b", silver), found(3, 4, "2", "b", silver),
		found(5, 6, "1", "a", gold), found(7, 8, "2", "b", silver), found(10, 11, "2", "b", silver)}
	if got := shortest(history); len(got) != 4 {
		t.Errorf("want creation, replacement and two reads:%s", lines(got))
	}
}

func TestReused(t *testing.T) {
	if tag := reused([]porcupine.Operation{created(0, 1), found(2, 3, "1", "a", gold)}); tag != "" {
		t.Errorf("a read shows the tag of the write: %q", tag)
	}
	if tag := reused([]porcupine.Operation{created(0, 1), swapped(2, 3, "", "1", "b", gold)}); tag != "1" {
		t.Errorf("got %q, want the tag of both writes", tag)
	}
	other := created(2, 3)
	in := other.Input.(input)
	in.Record = "staff"
	other.Input = in
	if tag := reused([]porcupine.Operation{created(0, 1), other}); tag != "" {
		t.Errorf("two records may have the same tag: %q", tag)
	}
}
