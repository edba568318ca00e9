package contract_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// spelling is a value of a field in the description's form, and in another accepted form.
// absent stands for a missing member.
type spelling struct{ plain, other string }

const absent = ""

// spellings returns the accepted forms for the values of a field
// (docs/wire/portal.md#fields). id is the number of a record for relations.
func spellings(f table.Fact, id string) []spelling {
	switch f.Takes.(type) {
	case *string:
		return []spelling{{`"2026"`, `2026`}, {`"1.5"`, `1.5`}, {`"true"`, `true`}, {`""`, `null`}, {`["a"]`, `{"a":1}`}}
	case *int64:
		return []spelling{{`7`, `"7"`}, {`7`, `" 7 "`}, {`7`, `7.0`}, {`1000`, `1e3`}, {`0`, `null`}, {`0`, `""`}, {`1.5`, `"x"`}, {`[1]`, `{}`}}
	case *float64:
		return []spelling{{`7`, `"7"`}, {`0.5`, `"0.5"`}, {`-1`, `"-1"`}, {`0`, `null`}, {`0`, `""`}, {`[1]`, `"x"`}}
	case *bool:
		return []spelling{{`true`, `"true"`}, {`true`, `1`}, {`true`, `"1"`}, {`true`, `"TRUE"`}, {`false`, `"false"`}, {`false`, `0`}, {`false`, `null`}, {`false`, `""`}, {`[]`, `"perhaps"`}}
	case *table.CSV:
		return []spelling{{`"a,b"`, `["a","b"]`}, {`"a"`, `["a"]`}, {`""`, `null`}, {`""`, `[]`}, {`[{}]`, `{"a":1}`}}
	case *table.Object:
		return []spelling{{`{"a":1}`, `"{\"a\":1}"`}, {`{"a":{"b":[1e2]}}`, `"{\"a\":{\"b\":[1e2]}}"`}, {`[]`, `"["`}}
	case *[]string:
		return []spelling{{`["a","b"]`, `"a,b"`}, {`["a"]`, `"a"`}, {`[]`, `null`}, {`[]`, `""`}, {`[{}]`, `{"a":1}`}}
	case *table.ID:
		return []spelling{{id, quoted(id)}, {id, `{"ID":` + id + `}`}, {id, `{"ID":"` + id + `"}`}, {`0`, `null`}, {`0`, `""`}, {`0`, `"0"`}, {absent, `"User#1"`}, {absent, `{"Name":"x"}`}, {`99999`, `"99999"`}}
	case *[]table.ID:
		return []spelling{{`[` + id + `]`, id}, {`[` + id + `]`, quoted(id)}, {`[` + id + `]`, `[` + quoted(id) + `]`}, {`[` + id + `]`, `[` + id + `,"` + id + `"]`}, {`[]`, `null`}, {absent, `["User#1"]`}, {absent, `[{"ID":1,"Name":"x"}]`},
			{absent, `"a name"`}, {`[99999]`, `["99999"]`}}
	}
	return nil
}

func quoted(text string) string { return `"` + text + `"` }

// told are bodies whose fields are in a table.
type told interface {
	Facts() (kind string, fields []table.Fact)
}

// factsOf returns the table of the body of an operation.
func factsOf(o operation.Operation) (kind string, fields []table.Fact, ok bool) {
	if o.Surface != operation.Portal || o.Body == nil {
		return "", nil, false
	}
	b, ok := reflect.New(o.Body).Interface().(told)
	if ok {
		kind, fields = b.Facts()
	}
	return kind, fields, ok
}

// TestLenientInputs sends changes in every form that clients of the portal use, field by
// field and many at once, generated from the tables: all forms get the same answer as the
// plain one.
func TestLenientInputs(t *testing.T) {
	fields := 0
	for _, o := range newService(t).Operations() {
		_, facts, ok := factsOf(o)
		if !ok || o.Method != http.MethodPut {
			continue
		}
		fields += len(facts)
		t.Run(o.ID, func(t *testing.T) {
			l := &lenient{t, newService(t), o, map[string]string{}, rand.New(rand.NewPCG(1, 2)), map[int]int{}, map[string]spelling{}}
			ways := map[string][]spelling{}
			for _, f := range facts {
				if f.Repeated {
					text := quoted(append(f.Enum, "Sent again")[0])
					l.always[f.Name] = spelling{text, text}
				}
			}
			for _, f := range facts {
				ways[f.Name] = spellings(f, l.target(f.Target))
				for _, way := range ways[f.Name] {
					l.same(map[string]spelling{f.Name: way})
				}
			}
			for range 30 {
				some := map[string]spelling{"NoField": {absent, `{"a":[null]}`}}
				for _, name := range slices.Sorted(maps.Keys(ways)) {
					if all := ways[name]; l.rng.IntN(3) > 0 && len(all) > 0 {
						some[name] = all[l.rng.IntN(len(all))]
					}
				}
				l.same(some)
			}
			if t.Log("answers by status:", l.seen); l.seen[http.StatusOK] == 0 && !acts[o.ID] || len(facts) > 1 && l.seen[http.StatusUnprocessableEntity]+l.seen[http.StatusBadRequest] == 0 {
				t.Error("nothing was taken, or nothing was refused")
			}
		})
	}
	if fields < 20 {
		t.Errorf("the tables have %d fields only", fields)
	}
}

var changed = regexp.MustCompile(`"UpdatedAt": "[^"]*"`)

// timeless returns an answer without the time of the last change.
func timeless(a answer) string { return changed.ReplaceAllString(string(a.body), "") }

// lenient compares the answers of one operation.
type lenient struct {
	t    *testing.T
	s    *service
	o    operation.Operation
	ids  map[string]string // of records that relations name, by kind
	rng  *rand.Rand
	seen map[int]int // answers by status
	// always are the fields that each change must have.
	always map[string]spelling
}

// same fails unless a body gets the same answer in all forms.
func (l *lenient) same(some map[string]spelling) {
	l.t.Helper()
	path, said := map[string]string{}, some
	some = maps.Clone(l.always)
	maps.Copy(some, said)
	if make := plans[l.o.ID].path; make != nil {
		path = make(l.t, l.s)
	}
	asPlain := func(s spelling) string { return s.plain }
	plain, other := l.put(path, some, nil, asPlain), l.put(path, some, nil, func(s spelling) string { return s.other })
	if plain.status != other.status || timeless(plain) != timeless(other) {
		l.t.Errorf("%s: %v are told apart:\n%s\n%s", l.o.ID, some, plain, other)
	}
	l.seen[plain.status]++
	for _, mediaType := range []string{"", "application/x-www-form-urlencoded", "text/plain"} { // media types of programs that do not set one
		if as := l.put(path, some, map[string]string{"Content-Type": mediaType}, asPlain); as.status != plain.status || timeless(as) != timeless(plain) {
			l.t.Errorf("%s: %v as %q is told apart:\n%s\n%s", l.o.ID, some, mediaType, plain, as)
		}
	}
	if plain.status != http.StatusOK && plain.status != http.StatusUnprocessableEntity && plain.status != http.StatusBadRequest {
		l.t.Errorf("%s: %v: %s", l.o.ID, some, plain)
	}
}

func (l *lenient) put(path map[string]string, some map[string]spelling, header map[string]string, said func(spelling) string) answer {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(some)) {
		if text := said(some[name]); text != absent {
			members = append(members, quoted(name)+":"+text)
		}
	}
	return l.s.ask(l.t, request{method: l.o.Method, path: fill(l.o, path), header: header, as: l.s.caller(l.t, l.o, plan{}), body: []byte("{" + strings.Join(members, ",") + "}")})
}

// target returns the number of a record of a kind, which is created if necessary.
func (l *lenient) target(kind string) string {
	l.t.Helper()
	if kind == "" || l.ids[kind] != "" {
		return l.ids[kind]
	}
	l.ids[kind] = "1" // an initial record of the portal, or none
	for _, o := range l.s.Operations() {
		if k, _, ok := factsOf(o); ok && k == kind && strings.HasSuffix(o.ID, ".create") {
			r := requests{t: l.t, s: l.s, o: o, plan: plans[o.ID]}
			a := l.s.ask(l.t, r.request(r.good(), nil))
			var made struct{ ID json.Number }
			if err := json.Unmarshal(a.body, &made); err != nil || a.status != http.StatusCreated {
				l.t.Fatalf("%s: %s", o.ID, a)
			}
			l.ids[kind] = made.ID.String()
		}
	}
	return l.ids[kind]
}

// acts are the operations whose records cannot be read at the same path. A body that
// requests access names records that belong together, so field forms alone do not produce
// one.
var acts = map[string]bool{"portal-apps.provision": true, "portal-app-access-requests.subscribe": true, "portal-app-credentials.renew": true,
	"portal-own-apps.subscribe": true, "portal-own-apps.renew": true}

// TestRoundTrips sends every record of the portal back as it was read: nothing changes.
func TestRoundTrips(t *testing.T) {
	all := newService(t).Operations()
	for _, o := range all {
		if _, _, ok := factsOf(o); !ok || o.Method != http.MethodPut {
			continue
		}
		i := slices.IndexFunc(all, func(g operation.Operation) bool { return g.Method == http.MethodGet && g.Path == o.Path })
		if i < 0 {
			if !acts[o.ID] {
				t.Errorf("%s cannot be read", o.ID)
			}
			continue
		}
		t.Run(o.ID, func(t *testing.T) {
			s, path := newService(t), map[string]string{}
			if make := plans[o.ID].path; make != nil {
				path = make(t, s)
			}
			as := s.caller(t, o, plan{})
			read := s.ask(t, request{method: http.MethodGet, path: fill(o, path), as: as})
			written := s.ask(t, request{method: o.Method, path: fill(o, path), as: as, body: read.body})
			again := s.ask(t, request{method: http.MethodGet, path: fill(o, path), as: as})
			if read.status != http.StatusOK || written.status != http.StatusOK || timeless(again) != timeless(read) {
				t.Errorf("%s: %s\nwas written: %s\nand read again: %s", o.ID, read, written, again)
			}
			if !terse[o.ID] && timeless(written) != timeless(read) {
				t.Errorf("%s: %s\nwas answered: %s", o.ID, read, written)
			}
		})
	}
}
