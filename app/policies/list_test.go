package policies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

func TestPaging(t *testing.T) {
	w := newWorld(t, policies.Settings{})
	for i := range 5 {
		w.create("admin", fmt.Sprintf(`{"name":"p%d","active":%t}`, i, i%2 == 0))
	}
	w.create("other", `{"name":"theirs"}`)
	for path, want := range map[string]string{
		"": "p0 p1", "?p=1": "p0 p1", "?p=3": "p4", "?p=4": "", "?p=0": "p0 p1 p2 p3 p4", "?p=-2": "p0 p1 p2 p3 p4", "/?p=-1": "p0 p1 p2 p3 p4",
		"?active=true": "p0 p2", "?active=1&p=2": "p4", "/search?active=x&p=-1": "p0 p2 p4", "/search/?q=&p=2": "p2 p3",
	} {
		if got := w.names("reader", path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for path, pages := range map[string]string{"": "3", "?p=0": "1", "?p=9": "3", "?active=1": "2", "/search?q=none": "1"} {
		if got := w.ask("reader", "GET", path, "").Body.String(); !strings.HasSuffix(got, `"Pages":`+pages+"}") {
			t.Errorf("%s: %s, want %s pages", path, got, pages)
		}
	}
}

func TestSearch(t *testing.T) {
	w := newWorld(t, policies.Settings{})
	w.api("a", "tokens", apidef.Classic, `{"use_standard_auth":true}`)
	w.api("a", "jwts", apidef.Classic, `{"enable_jwt":true}`)
	w.create("admin", `{"id":"gold","name":"Gold","active":true,"access_rights":{"tokens":{}}}`)
	w.create("admin", `{"id":"silver","name":"silver (gold once)","state":"draft","access_rights":{"jwts":{},"gone":{}}}`)
	w.create("admin", `{"id":"iron","name":"Iron","state":"deny","active":true,"access_rights":{"gone":{}},"auth_types":["hmac"]}`)
	db := w.create("admin", `{"id":"zinc","name":"Zinc.1"}`)
	w.api("a", "basics", apidef.Classic, `{"use_basic_auth":true}`)
	for query, want := range map[string]string{
		"": "Gold,silver (gold once),Iron,Zinc.1", "q=gold": "Gold", "q=GOLD": "Gold,silver (gold once)", "q=" + db: "Zinc.1", "q=nc.1": "Zinc.1", "q=%20(": "silver (gold once)",
		"policy_ids=iron,zinc,none": "Iron,Zinc.1", "policy_ids=" + db + ",zinc&q=gold": "Zinc.1", "policy_ids=,": "Gold,silver (gold once),Iron,Zinc.1",
		"active=false": "Gold,Iron", "state=active": "Gold,Zinc.1", "state=draft": "silver (gold once)", "state=deny": "Iron", "state=odd": "",
		"api_id=gone": "silver (gold once),Iron", "api_id=gone,tokens": "Gold,silver (gold once),Iron", "api_id=none": "", "api_id=%00": "", "api_id=%FF": "",
		"auth_type=jwt": "silver (gold once)", "auth_type=hmac,authToken": "Gold,Iron", "api_id=gone&state=deny&auth_type=hmac&active=1&q=ro": "Iron",
		"sort=name": "Gold,Iron,silver (gold once),Zinc.1", "sort=-name": "Zinc.1,silver (gold once),Iron,Gold",
		"sort=date_created": "Gold,silver (gold once),Iron,Zinc.1", "sort=-date_created": "Zinc.1,Iron,silver (gold once),Gold", "sort=state": "Gold,Zinc.1,Iron,silver (gold once)",
	} {
		got := strings.ReplaceAll(w.names("reader", "/search?p=0&"+query), " ", ",")
		if got != strings.ReplaceAll(want, " ", ",") {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	w.create("admin", `{"id":"ba","name":"BA","access_rights":{"tokens":{}},"auth_type":"ba"}`)
	w.create("admin", `{"id":"other","name":"Other","access_rights":{"tokens":{}},"auth_type":"other","auth_types":["other"]}`)
	w.create("admin", `{"id":"basic","name":"Basic","access_rights":{"basics":{}}}`)
	w.create("admin", `{"id":"told","name":"Told","access_rights":{"basics":{}},"auth_type":"oauth","auth_types":["oauth"]}`) // reads show these values, and filters find the policy by them
	for query, want := range map[string]string{"auth_type=oauth": "Told", "auth_type=ba": "BA,Basic,Told", "auth_type=basic": "BA,Basic,Told", "auth_type=other": "Other", "auth_type=authToken": "Gold,BA,Other"} {
		if got := strings.ReplaceAll(w.names("reader", "/search?p=0&"+query), " ", ","); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if got := w.names("other", "/search?q=gold"); got != "" {
		t.Errorf("another organisation finds %s", got)
	}
}

// TestOwnership checks the rules of docs/wire/ownership.md#rules and
// docs/wire/policies.md#search.
func TestOwnership(t *testing.T) {
	w := newWorld(t, policies.Settings{Ownership: true})
	w.api("a", "free", apidef.Classic, `{}`)
	w.api("a", "anns", apidef.Classic, `{}`, "ann")
	w.api("a", "bobs", apidef.Classic, `{}`, "bob")
	for _, p := range []string{"anns", "bobs", "gone", "anns,bobs", "bobs,gone", "bobs,free", ""} {
		rights := ""
		if p != "" {
			rights = `"` + strings.ReplaceAll(p, ",", `":{},"`) + `":{}`
		}
		w.create("admin", `{"name":"[`+p+`]","id":"`+strings.ReplaceAll(p, ",", "-")+`","access_rights":{`+rights+`}}`)
	}
	const anns, bobs = "[anns] [gone] [anns,bobs] [bobs,free] []", "[bobs] [gone] [anns,bobs] [bobs,gone] [bobs,free] []"
	for _, c := range []struct{ as, want string }{
		{"admin", "[anns] [bobs] [gone] [anns,bobs] [bobs,gone] [bobs,free] []"}, {"ann", anns}, {"bob", bobs}, {"reader", "[gone] [bobs,free] []"},
	} {
		for _, path := range []string{"?p=0", "/search?p=0"} {
			if got := w.names(c.as, path); got != c.want {
				t.Errorf("%s %s: %s, want %s", c.as, path, got, c.want)
			}
		}
	}
	w.want("ann", "GET", "/bobs", "", 401, notOwned)
	w.want("ann", "PUT", "/bobs", `{"name":"x"}`, 401, notOwned)
	w.want("ann", "PUT", "/bobs", `{"name":7}`, 401, notOwned) // ownership is checked before the document
	w.want("ann", "DELETE", "/bobs-gone", "", 401, notOwned)
	w.want("ann", "GET", "/unknown", "", 404, missing)
	w.want("ann", "POST", "", `{"name":"x","access_rights":{"bobs":{}}}`, 401, notOwned)
	w.want("ann", "POST", "", `{"name":"x","access_rights_array":[{"api_id":"bobs"}]}`, 401, notOwned)
	w.want("ann", "POST", "", `{"name":"x","Access_Rights":{"bobs":{}}}`, 400,
		`{"Status":"Error","Message":"policy Access_Rights must be spelled access_rights","Meta":null}`)
	w.want("ann", "PUT", "/anns", `{"name":"[anns]","access_rights":{"anns":{},"bobs":{}}}`, 401, notOwned)
	w.want("ann", "PUT", "/anns-bobs", `{"name":"[anns,bobs]","access_rights":{"bobs":{},"anns":{},"unknown":{}}}`, 200, updated) // the policy gave access to it before
	w.want("ann", "DELETE", "/gone", "", 200, deleted)
	w.want("admin", "PUT", "/anns", `{"name":"[anns]","access_rights":{"bobs":{}}}`, 200, updated)
}

// TestLongNames checks that a name of any length and with any characters can be stored,
// and that names are unique nevertheless.
func TestLongNames(t *testing.T) {
	w := newWorld(t, policies.Settings{})
	long := strings.Repeat("n", 10000)
	for _, name := range []string{long, `a\u0000b`} {
		w.create("admin", `{"name":"`+name+`","access_rights":{"`+name+`":{}}}`)
		w.want("admin", "POST", "", `{"name":"`+name+`"}`, 400, "")
	}
	if got := w.names("admin", "/search?api_id="+long); got != long {
		t.Errorf("%.20q", got)
	}
	err := w.db.View(t.Context(), w.scope("a"), func(r store.Reader) error {
		for p, err := range r.Scan(t.Context(), store.Query{Kind: policies.Kind.Name}) {
			if err != nil {
				return err
			}
			for _, k := range p.Keys {
				if len(k.Value) > 600 || strings.ContainsRune(k.Value, 0) {
					t.Errorf("key %s has a value of %d bytes", k.Index, len(k.Value))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func BenchmarkPolicies(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		w := newWorld(b, policies.Settings{})
		for i := range n {
			w.create("admin", fmt.Sprintf(`{"id":"p%d","name":"Policy %d","active":true,"rate":10,"per":1,"access_rights":{"api-%d":{"versions":["Default"]}}}`, i, i, i))
		}
		for _, c := range []struct{ name, path string }{
			{"page 1", ""}, {"last page", fmt.Sprintf("?p=%d", n/2)}, {"by name", "/search?q=y%209"}, {"by API", "/search?api_id=api-7"}, {"get", "/p7"},
		} {
			b.Run(fmt.Sprintf("%s of %d", c.name, n), func(b *testing.B) {
				for b.Loop() {
					if got := w.ask("admin", "GET", c.path, ""); got.Code != 200 {
						b.Fatal(got.Code, got.Body)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("create, delete at %d", n), func(b *testing.B) {
			for b.Loop() {
				w.create("admin", `{"id":"new","name":"new"}`)
				w.ask("admin", "DELETE", "/new", "")
			}
		})
		b.Run(fmt.Sprintf("replace at %d", n), func(b *testing.B) {
			for b.Loop() {
				w.ask("admin", "PUT", "/p7", `{"name":"Policy 7","rate":11,"access_rights":{"api-7":{}}}`)
			}
		})
	}
}

func BenchmarkBulk(b *testing.B) {
	w := newWorld(b, policies.Settings{})
	for i := range 5000 {
		w.api("a", fmt.Sprintf("api-%d", i), apidef.Classic, `{}`)
	}
	body := bulk(5000)
	w.create("admin", body)
	for b.Loop() {
		if got := w.ask("admin", "PUT", "/bulk", body); got.Code != 200 {
			b.Fatal(got.Code, got.Body)
		}
	}
}
