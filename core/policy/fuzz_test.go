package policy_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/policy"
)

// decided are the members that the server may write or add.
var decided = map[string]bool{
	"_id": true, "id": true, "org_id": true, "date_created": true, "last_updated": true, "state": true, "is_inactive": true,
	"access_rights": true, "access_rights_array": true, "auth_type": true, "auth_types": true,
}

// FuzzLens: an accepted document is returned unchanged, in order and with its spelling;
// storing it again changes nothing; and gateways can decode it.
func FuzzLens(f *testing.F) {
	for _, seed := range []string{
		`{"name":"n"}`, `{"name":"n","x":1.0,"a":{"b":[null,1e5,"\u00e9"]},"rate":1e2,"access_rights":{"rest":{"z":0.10}},"tags":["b","a"]}`,
		`{"name":"n","access_rights_array":[{"api_id":"a"}]}`, `{"NAME":"n","Access_Rights":{"mcp":{"Mcp_Primitives":[{"Type":"tool"}]}}}`,
		`{"name":"n","graphql_access_rights":{"k":"x"}}`, `{"name":"n","graphql_access_rights":[]}`, `{"name":"n","graphql_access_rights":{"k":{"any":[1]},"l":null}}`,
		`{"name":"n","RATE":1}`, "{\"name\":\"n\",\"parti\u017fions\":null,\"acce\u017fs_rights\":{\"a\":null}}", `{"name":"n","access_rights":{"a":{"Limit":{"Rate":1}}}}`,
		`{"name":"n","partitions":{"per_api":true}}`, `[]`, `null`, `{"name":"n","id":"a b"}`, `{"name":"n","state":"draft"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := policy.NewDraft(body)
		if err != nil {
			return
		}
		p, err := policy.New(id, "org", now, d, rules)
		if err != nil {
			return
		}
		again := draft(t, text(t, p))
		q, err := p.Replace(again, now, rules)
		if err != nil || text(t, q) != text(t, p) {
			t.Fatalf("storing it again: %v\n%s\n%s", err, text(t, p), text(t, q))
		}
		if _, problems := p.Entry(); problems != nil {
			t.Fatalf("%s: gateways fail: %v", text(t, p), problems)
		}
		sent, err := d.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if want, got := rest(t, sent), rest(t, []byte(text(t, p))); !bytes.Equal(want, got) {
			t.Fatalf("sent %s\nhave %s", want, got)
		}
	})
}

// rest returns the members that the server does not write.
func rest(t *testing.T, text []byte) []byte {
	t.Helper()
	o, err := doc.ParseObject(text)
	if err != nil {
		t.Fatal(err)
	}
	e := doc.Object{}.Edit()
	for name, raw := range o.All() {
		if !decided[name] {
			e.Set(name, raw)
		}
	}
	out, err := e.Object().AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// bulk returns a policy with access to n APIs.
func bulk(n int) string {
	var b strings.Builder
	b.WriteString(`{"name":"bulk","access_rights":{`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"api-%d":{"api_name":"API %d","versions":["Default"],"allowed_urls":[{"url":"/a","methods":["GET"]}],"limit":{"rate":10,"per":1}}`, i, i)
	}
	return b.String() + "}}"
}

// TestBulk: a policy may give access to thousands of APIs.
func TestBulk(t *testing.T) {
	d := draft(t, bulk(2000))
	known := policy.APIs{}
	for _, api := range d.APIs() {
		known[api] = policy.API{AuthTypes: []string{"jwt"}}
	}
	p, err := policy.New(id, "org", now, d, policy.Checks{APIs: known})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.APIs()) != 2000 || !slices.Equal(p.AuthTypes(), []string{"jwt"}) {
		t.Error(len(p.APIs()), p.AuthTypes())
	}
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{1, 100, 2000} {
		b.Run(fmt.Sprint(n, " APIs"), func(b *testing.B) {
			body := []byte(bulk(n))
			b.ReportAllocs()
			for b.Loop() {
				d, err := policy.NewDraft(body)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := policy.New(id, "org", now, d, rules); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEntry(b *testing.B) {
	for _, n := range []int{1, 100, 2000} {
		b.Run(fmt.Sprint(n, " APIs"), func(b *testing.B) {
			p := make1(b, bulk(n))
			b.ReportAllocs()
			for b.Loop() {
				if _, problems := p.Entry(); problems != nil {
					b.Fatal(problems)
				}
			}
		})
	}
}

func BenchmarkView(b *testing.B) {
	for _, n := range []int{1, 100, 2000} {
		b.Run(fmt.Sprint(n, " APIs"), func(b *testing.B) {
			v := make1(b, bulk(n)).View()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.AppendJSON(nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
