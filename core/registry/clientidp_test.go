package registry_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/shape/shapetest"
)

var (
	born  = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	later = born.Add(time.Hour)
)

func mappings(t testing.TB, text string) (ms registry.Mappings) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &ms); err != nil {
		t.Fatal(err)
	}
	return ms
}

func patch(t testing.TB, text string) (p doc.Patch) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func show(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPatchMappings has the rows of the table in docs/wire/client-idps.md#merge-patch.
func TestPatchMappings(t *testing.T) {
	const stored = `{"a":{"scope_to_policy":{"write":"p9"}},"b":{"scope_to_policy":{"x":"y"}}}`
	for _, c := range []struct{ name, before, patch, want string }{
		{"no mapping yet", `{}`, `{"a":{"scope_to_policy":{"read":"p1"}}}`, `{"a":{"scope_to_policy":{"read":"p1"}}}`},
		{"a scope added", stored, `{"a":{"scope_to_policy":{"read":"p1"}}}`, `{"a":{"scope_to_policy":{"write":"p9","read":"p1"}},"b":{"scope_to_policy":{"x":"y"}}}`},
		{"a scope replaced", stored, `{"a":{"scope_to_policy":{"write":"p1"}}}`, `{"a":{"scope_to_policy":{"write":"p1"}},"b":{"scope_to_policy":{"x":"y"}}}`},
		{"a mapping removed", stored, `{"a":null}`, `{"b":{"scope_to_policy":{"x":"y"}}}`},
		{"nothing to remove", stored, `{"zz":null}`, stored},
		{"a scope removed", stored, `{"a":{"scope_to_policy":{"write":null}}}`, `{"a":{"scope_to_policy":{}},"b":{"scope_to_policy":{"x":"y"}}}`},
		{"an absent scope removed", stored, `{"a":{"scope_to_policy":{"zz":null}}}`, stored},
		{"all scopes removed", stored, `{"a":{"scope_to_policy":null}}`, `{"a":{"scope_to_policy":{}},"b":{"scope_to_policy":{"x":"y"}}}`},
		{"an empty mapping made", stored, `{"c":{}}`, `{"a":{"scope_to_policy":{"write":"p9"}},"b":{"scope_to_policy":{"x":"y"}},"c":{"scope_to_policy":{}}}`},
		{"an empty patch of a mapping", stored, `{"a":{}}`, stored},
		{"an empty patch", stored, `{}`, stored},
		{"nulls in a new mapping", `{}`, `{"n":{"scope_to_policy":{"a":null,"b":"c"}}}`, `{"n":{"scope_to_policy":{"b":"c"}}}`},
		{"any character in names", `{}`, `{"a.b$/ü":{"scope_to_policy":{"https://x/.default":"p","orders:write":"q"}}}`,
			`{"a.b$/ü":{"scope_to_policy":{"https://x/.default":"p","orders:write":"q"}}}`},
		{"unknown members are ignored", stored, `{"a":{"other":1}}`, stored},
	} {
		p := registry.IdP{APIMappings: mappings(t, c.before), Updated: born}
		got, err := p.PatchMappings(patch(t, c.patch), later)
		if err != nil || show(t, got.APIMappings) != c.want || got.Updated != later {
			t.Errorf("%s: %s, %v; want %s", c.name, show(t, got.APIMappings), err, c.want)
		}
		if show(t, p.APIMappings) != c.before {
			t.Errorf("%s: the original changed to %s", c.name, show(t, p.APIMappings))
		}
	}
}

func TestPatchMappingsRefuses(t *testing.T) {
	p := registry.IdP{APIMappings: mappings(t, `{"a":{"scope_to_policy":{"w":"p"}}}`)}
	for text, field := range map[string]string{
		`{"b":{},"a":7}`: "a", `{"a":"x"}`: "a", `{"a":[]}`: "a", `{"a":true}`: "a", `{"a":{"scope_to_policy":[]}}`: "a.scope_to_policy",
		`{"a":{"scope_to_policy":"p"}}`: "a.scope_to_policy", `{"a":{"scope_to_policy":{"r":1}}}`: "a.scope_to_policy.r",
		`{"a":{"scope_to_policy":{"r":{}}}}`: "a.scope_to_policy.r", `{"a":{"scope_to_policy":{"r":["p"]}}}`: "a.scope_to_policy.r",
	} {
		got, err := p.PatchMappings(patch(t, text), later)
		f := new(fault.Error)
		if fault.KindOf(err) != fault.Invalid || !asFault(err, &f) || f.Field != field || got.Updated == later {
			t.Errorf("%s: %v (field %q, want %q)", text, err, f.Field, field)
		}
	}
	for _, text := range []string{`[]`, `"x"`, `1`, `true`, `null`} {
		var got doc.Patch
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is not a patch of mappings", text)
		}
	}
}

func asFault(err error, to **fault.Error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	if ok {
		*to = f
	}
	return ok
}

func TestNewAndReplace(t *testing.T) {
	draft := registry.Draft{Name: "n", JWKSURI: "https://x/jwks"}
	p, err := registry.New("5f", "org", born, draft)
	if err != nil || p.ClientIdPID != "5f" || p.OrgID != "org" || p.Created != born || p.Updated != born {
		t.Fatalf("%+v, %v", p, err)
	}
	if got := show(t, p); !strings.Contains(got, `"api_mappings":{}`) || !strings.Contains(got, `"issuer":""`) {
		t.Error("every key is always present:", got)
	}
	draft.ClientIdPID, draft.Issuer = "corp", "https://i/"
	q, err := p.Replace(draft, later)
	if err != nil || q.ClientIdPID != "corp" || q.ID != "5f" || q.Created != born || q.Updated != later {
		t.Fatalf("%+v, %v", q, err)
	}
	r, err := q.Replace(registry.Draft{Name: "m", JWKSURI: "x"}, later)
	if err != nil || r.ClientIdPID != "corp" || r.Issuer != "" || r.Name != "m" {
		t.Errorf("absent fields become empty, the identifier stays: %+v, %v", r, err)
	}
}

func TestDraftRefused(t *testing.T) {
	for _, c := range []struct {
		d              registry.Draft
		field, message string
	}{
		{registry.Draft{JWKSURI: "x"}, "name", "client idp name is required"},
		{registry.Draft{Name: " \t", JWKSURI: "x"}, "name", "client idp name is required"},
		{registry.Draft{Name: "n", JWKSURI: "  "}, "jwks_uri", "client idp jwks_uri is required"},
		{registry.Draft{Name: "n", JWKSURI: "x", ClientIdPID: "a/b"}, "client_idp_id", "invalid client_idp_id"},
		{registry.Draft{Name: "n", JWKSURI: "x", ClientIdPID: "a\nb"}, "client_idp_id", "invalid client_idp_id"},
		{registry.Draft{Name: "n", JWKSURI: "x", ClientIdPID: "a\u0085b"}, "client_idp_id", "invalid client_idp_id"},
		{registry.Draft{Name: "n", JWKSURI: "x", ClientIdPID: ".."}, "client_idp_id", "invalid client_idp_id"},
		{registry.Draft{Name: "n", JWKSURI: "x", ClientIdPID: strings.Repeat("ü", 257)}, "client_idp_id", "invalid client_idp_id"},
	} {
		_, err := registry.New("1", "o", born, c.d)
		f := new(fault.Error)
		if !asFault(err, &f) || f.Field != c.field || f.Message != c.message {
			t.Errorf("%+v: %v", c.d, err)
		}
	}
	if _, err := registry.New("1", "o", born, registry.Draft{Name: "n", JWKSURI: "x", ClientIdPID: strings.Repeat("ü", 256)}); err != nil {
		t.Error(err)
	}
}

func TestMappingDecodes(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: `{"scope_to_policy":{}}`, `{"scope_to_policy":null}`: `{"scope_to_policy":{}}`, `{"x":1,"scope_to_policy":{"b":"2","a":"1"}}`: `{"scope_to_policy":{"b":"2","a":"1"}}`,
		`null`: "", `[]`: "", `"x"`: "", `{"scope_to_policy":[]}`: "", `{"scope_to_policy":{"a":null}}`: "", `{"scope_to_policy":{"a":1}}`: "",
	} {
		p := struct{ M *registry.Mapping }{new(registry.Mapping)}
		err := p.M.UnmarshalJSON([]byte(text))
		if want == "" {
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: %v", text, err)
			}
		} else if err != nil || show(t, *p.M) != want {
			t.Errorf("%s: %s, %v", text, show(t, *p.M), err)
		}
	}
}

func TestOneMapping(t *testing.T) {
	p := registry.IdP{APIMappings: mappings(t, `{"a":{"scope_to_policy":{"r":"p"}},"b":{}}`)}
	q, err := p.WithMapping("a", registry.NewMapping([2]string{"w", "q"}), later)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(t, q.APIMappings); got != `{"a":{"scope_to_policy":{"w":"q"}},"b":{"scope_to_policy":{}}}` {
		t.Error("the mapping is replaced, not merged:", got)
	}
	r, err := q.WithoutMapping("a", later)
	if err != nil || show(t, r.APIMappings) != `{"b":{"scope_to_policy":{}}}` {
		t.Error(err, show(t, r.APIMappings))
	}
	if _, err := r.WithoutMapping("a", later); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	if m, err := p.Mapping("a"); err != nil || len(collect(m)) != 1 || collect(m)["r"] != "p" {
		t.Error(m, err)
	}
}

func collect(m registry.Mapping) map[string]string {
	out := map[string]string{}
	for scope, policy := range m.All() {
		out[scope] = policy
	}
	return out
}

func TestKeySourceDoubt(t *testing.T) {
	for uri, doubt := range map[string]bool{"https://x/jwks": false, "http://x": false, "vault://k": false, "kv://a": false, "x.json": true, "ftp://x": true} {
		if got := (registry.IdP{JWKSURI: uri}).KeySourceDoubt(); (got != "") != doubt {
			t.Errorf("%s: %q", uri, got)
		}
	}
}

func TestLoadIsTheInverseOfStoring(t *testing.T) {
	p, err := registry.New("1", "o", born, registry.Draft{Name: "<ü>\"", JWKSURI: "x", Issuer: "i", ScopeClaim: "s",
		APIMappings: mappings(t, `{"a":{"scope_to_policy":{"r":"p"}},"b\"":{}}`)})
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := registry.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := back.AppendJSON(nil); err != nil || string(again) != string(text) {
		t.Errorf("%s\n%s\n%v", text, again, err)
	}
	if feed := string(p.AppendFeed(nil)); strings.Contains(feed, "_id\":\"1\"") && !strings.Contains(feed, "client_idp_id") || strings.Contains(feed, "date_created") || !json.Valid([]byte(feed)) {
		t.Error(feed)
	}
}

// FuzzPatchMappings checks the laws of a merge patch, and compares with an independent
// implementation where both accept the input.
func FuzzPatchMappings(f *testing.F) {
	f.Add(`{"a":{"scope_to_policy":{"w":"p"}}}`, `{"a":{"scope_to_policy":{"w":null,"r":"q"}},"b":null}`)
	f.Add(`{}`, `{"a":{}}`)
	f.Add(`{"mine":{},"theirs":{"scope_to_policy":{"r":"p"}}}`, `{"mine":null,"theirs":{"scope_to_policy":null}}`)
	f.Fuzz(func(t *testing.T, before, change string) {
		var ms registry.Mappings
		var p doc.Patch
		if json.Unmarshal([]byte(before), &ms) != nil || json.Unmarshal([]byte(change), &p) != nil {
			return
		}
		once, err := ms.Merge(p)
		if err != nil {
			return
		}
		named := slices.Collect(registry.Named(p))
		for api := range registry.Differing(ms, once) {
			if !slices.Contains(named, api) {
				t.Fatalf("%s + %s changes %q, whose owner is not asked", before, change, api)
			}
		}
		twice, err := once.Merge(p)
		if err != nil || show(t, once) != show(t, twice) {
			t.Fatalf("twice differs: %s, %s, %v", show(t, once), show(t, twice), err)
		}
		oracle, err := jsonpatch.MergePatch([]byte(show(t, ms)), []byte(show(t, p.Object)))
		if err != nil {
			return
		}
		var want registry.Mappings
		if err := json.Unmarshal(complete(t, oracle), &want); err != nil {
			t.Fatalf("the oracle says %s: %v", oracle, err)
		}
		if !reflect.DeepEqual(plain(t, once), plain(t, want)) {
			t.Fatalf("%s + %s = %s; the oracle says %s", before, change, show(t, once), oracle)
		}
	})
}

// complete reduces the oracle's answer to the members of mappings.
func complete(t *testing.T, text []byte) []byte {
	var apis map[string]map[string]json.RawMessage
	if err := json.Unmarshal(text, &apis); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for api, m := range apis {
		apis[api] = map[string]json.RawMessage{"scope_to_policy": m["scope_to_policy"]}
	}
	b, err := json.Marshal(apis)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func plain(t *testing.T, v any) (out map[string]any) {
	if err := json.Unmarshal([]byte(show(t, v)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// BenchmarkPut shows that the cost of one change is proportional to the bytes of the record.
func BenchmarkPut(b *testing.B) {
	for _, n := range []int{10, 1000, 10_000} {
		e := map[string]any{}
		for i := range n {
			e[fmt.Sprintf("api-%05d", i)] = map[string]any{"scope_to_policy": map[string]string{"read": "gold", "write": "platinum"}}
		}
		text, _ := json.Marshal(e)
		var ms registry.Mappings
		if err := json.Unmarshal(text, &ms); err != nil {
			b.Fatal(err)
		}
		p := registry.IdP{APIMappings: ms}
		m := registry.NewMapping([2]string{"read", "silver"})
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				q, err := p.WithMapping("api-00005", m, later)
				if err == nil {
					_, err = q.AppendJSON(nil)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestSpelling checks that no known member in another letter case is accepted, at any depth
// and in any operation.
func TestSpelling(t *testing.T) {
	n := 0
	for c := range shapetest.Misspelt(registry.Type) {
		n++
		var d registry.Draft
		if err := json.Unmarshal([]byte(c.Text), &d); err == nil || !strings.HasPrefix(err.Error(), c.Path+" must be spelled ") {
			t.Errorf("%s: %v", c.Text, err)
		}
	}
	if n < 25 {
		t.Errorf("%d spellings", n)
	}
	for _, other := range shapetest.Spellings("scope_to_policy") {
		text := []byte(`{"` + other + `":{"a":"b"}}`)
		if err := json.Unmarshal(text, new(registry.Mapping)); err == nil {
			t.Errorf("%s is a mapping", text)
		}
		var patch doc.Patch
		if err := json.Unmarshal([]byte(`{"api":`+string(text)+`}`), &patch); err != nil {
			t.Fatal(err)
		}
		if _, err := (registry.Mappings{}).Merge(patch); err == nil {
			t.Errorf("%s is merged", text)
		}
	}
}

// TestMost: no provider takes more values or bytes than Most says, for any texts.
func TestMost(t *testing.T) {
	for _, text := range []string{"", "a", "\x01\x02\"\\<>&\u2028", strings.Repeat("ü", 100)} {
		p := registry.IdP{ID: text, ClientIdPID: text, OrgID: "o", Name: text, Issuer: text, JWKSURI: text, ScopeClaim: text}
		if err := json.Unmarshal([]byte(`{"`+strings.Repeat("é", 40)+`":{"scope_to_policy":{"a":"b"}},"\u0001\u0002":{"scope_to_policy":{}},"dense":{"scope_to_policy":{"":"","a":"","b":"","c":"","d":""}}}`), &p.APIMappings); err != nil {
			t.Fatal(err)
		}
		all, err := p.AppendJSON(nil)
		values, size := p.Most()
		if err != nil || len(all) > size || doc.Count(all) > values {
			t.Errorf("%q: %d values, at most %d; %d bytes, at most %d: %v", text, doc.Count(all), values, len(all), size, err)
		}
	}
}
