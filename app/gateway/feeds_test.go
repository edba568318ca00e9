package gateway_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/gzip"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/gateway"
	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	port "github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

func TestAPIs(t *testing.T) {
	w := newWorld(t)
	w.expect("apis")
	w.put(api("o2", 1, "", ""), api("o1", 2, `,"x":1.0`, `,"user_owners":["u"]`), api("o1", 3, `,"active":false`, ""))
	w.expect("apis", served("o1", 2, `,"x":1.0`), served("o2", 1, ""))
	oas := api("o1", 4, `,"is_oas":true`, `,"oas":{"openapi":"3.0.3","x":1e2}`)
	w.put(oas)
	w.expect("apis", served("o1", 2, `,"x":1.0`), strings.Replace(served("o1", 4, `,"is_oas":true`), `"oas":null`, `"oas":{"openapi":"3.0.3","x":1e2}`, 1), served("o2", 1, ""))
	w.remove("o1", "api", id(2))
	w.remove("o1", "api", id(4))
	w.remove("o2", "api", id(1))
	w.expect("apis")
}

// TestOneChange: when one API of many changes, only this API is encoded again.
func TestOneChange(t *testing.T) {
	w := newWorld(t)
	const n = 2000
	var all []record
	for i := range n {
		all = append(all, api("o1", i, "", ""))
	}
	w.put(all...)
	for range 3 {
		if have := len(fetch(t, w.nodes, "apis")); have != n {
			t.Fatalf("%d entries", have)
		}
	}
	if have := w.encoded("apis"); have != n {
		t.Errorf("%d encoded at first", have)
	}
	for i, change := range []func(){
		func() { w.put(api("o1", 77, `,"name":"b"`, "")) },
		func() { w.put(api("o1", n+1, "", "")) },
		func() { w.put(api("o2", 77000, "", "")) },
	} {
		change()
		fetch(t, w.nodes, "apis")
		if have := w.encoded("apis"); have != 1 {
			t.Errorf("change %d: %d encoded", i, have)
		}
	}
	w.remove("o1", "api", id(5))
	w.put(record{org: "o1", kind: "user", id: "u", text: "{}"})
	if have := len(fetch(t, w.nodes, "apis")); have != n+1 || w.encoded("apis") != 0 {
		t.Errorf("%d entries", have)
	}
}

const hookText = `{"id":"%s","org_id":"o1","name":"n","method":"POST","target_path":"%s","header_map":{},"event_timeout":0}`

// TestHook: a changed webhook reaches every API that refers to it, and no other
// is encoded.
func TestHook(t *testing.T) {
	w := newWorld(t)
	hook := func(org, id, target string) record {
		return record{org: org, kind: "webhook", id: id, text: fmt.Sprintf(hookText, id, target)}
	}
	ref := `,"hook_references":[{"event_name":"AuthFailure","event_timeout":9,"hook":{"id":"h1"}}]`
	handler := func(target string) string {
		return `,"event_handlers":{"events":{"AuthFailure":[{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"h1","name":"n","disabled":false,"method":"POST","target_path":"` + target +
			`","template_path":"","header_map":{},"event_timeout":9}}]}}`
	}
	w.put(api("o1", 1, "", ref), api("o1", 2, "", ""), api("o2", 3, "", ref), hook("o1", "h1", "https://a.example"))
	w.expect("apis", served("o1", 1, handler("https://a.example")), served("o1", 2, ""), served("o2", 3, ""))
	w.encoded("apis")
	w.put(hook("o1", "h1", "https://b.example"))
	w.expect("apis", served("o1", 1, handler("https://b.example")), served("o1", 2, ""), served("o2", 3, ""))
	if have := w.encoded("apis"); have != 1 {
		t.Errorf("%d encoded", have)
	}
	w.put(hook("o1", "h2", "https://c.example"))
	fetch(t, w.nodes, "apis")
	if have := w.encoded("apis"); have != 0 {
		t.Errorf("%d encoded for an unused webhook", have)
	}
	w.remove("o1", "webhook", "h1")
	w.expect("apis", served("o1", 1, ""), served("o1", 2, ""), served("o2", 3, ""))
	w.put(hook("o2", "h1", "https://d.example"))
	w.expect("apis", served("o1", 1, ""), served("o1", 2, ""), served("o2", 3, handler("https://d.example")))
}

func TestPolicies(t *testing.T) {
	w := newWorld(t)
	pol := func(i int, more string) record {
		return record{org: "o1", kind: "policy", id: id(i), text: fmt.Sprintf(`{"_id":"%s","id":"p%d","org_id":"o1","name":"n"%s}`, id(i), i, more)}
	}
	w.put(pol(1, `,"rate":1.50`), pol(2, `,"state":"deny"`), pol(3, `,"rate":"1"`), record{org: "o1", kind: "policy", id: "x", text: `{"_id":"x"}`})
	w.expect("policies", pol(1, `,"rate":1.50`).text)
	if n, err := w.nodes.LeftOut(t.Context(), "policies"); n != 2 || err != nil {
		t.Errorf("%d left out, %v", n, err)
	}
	w.put(pol(4, `,"graphql_access_rights":{"k":"x"}`), pol(5, `,"graphql_access_rights":{"k":{"x":1},"l":null}`), pol(6, `,"RATE":-1`), pol(7, `,"access_rights":{"a":{"Limit":{}}}`))
	w.expect("policies", pol(1, `,"rate":1.50`).text, pol(5, `,"graphql_access_rights":{"k":{"x":1},"l":null}`).text)
	if n, err := w.nodes.LeftOut(t.Context(), "policies"); n != 5 || err != nil {
		t.Errorf("%d left out, %v", n, err)
	}
}

// TestRightsElsewhere: a policy does not give rights to APIs of another organisation.
// It does not end up without any rights either, because that would mean all APIs. It
// gives the rights when its own organisation has the API instead.
func TestRightsElsewhere(t *testing.T) {
	w := newWorld(t)
	const theirs, mine = "api-1", "api-2"
	pol := func(i int, rights string) string {
		return fmt.Sprintf(`{"_id":"%s","id":"p%d","org_id":"o1","name":"n","access_rights":%s}`, id(i), i, rights)
	}
	put := func(i int, rights string) {
		w.put(record{org: "o1", kind: "policy", id: id(i), text: pol(i, rights)})
	}
	w.put(api("o2", 1, "", ""), api("o1", 2, "", ""))
	put(11, `{"`+theirs+`":{"api_id":"`+theirs+`"}}`)
	put(12, `{"`+mine+`":{},"gone":{}}`)
	w.expect("policies", pol(11, `{"`+theirs+` of another organisation":{"api_id":"`+theirs+` of another organisation"}}`), pol(12, `{"`+mine+`":{},"gone":{}}`))
	w.encoded("policies")
	w.put(api("o2", 3, "", ""))
	fetch(t, w.nodes, "policies")
	if n := w.encoded("policies"); n != 0 {
		t.Errorf("%d encoded for another API", n)
	}
	w.remove("o2", "api", id(1))
	w.put(api("o1", 1, "", ""))
	w.expect("policies", pol(11, `{"`+theirs+`":{"api_id":"`+theirs+`"}}`), pol(12, `{"`+mine+`":{},"gone":{}}`))
	if n := w.encoded("policies"); n != 1 {
		t.Errorf("%d encoded", n)
	}
	w.put(api("o1", 4, "", "")) // APIs that other organisations create later, or create again, count as theirs as well
	put(13, `{"api-4":{"api_id":"api-4"},"api-5":{"api_id":"api-5"},"`+mine+`":{}}`)
	given := `"` + theirs + `":{"api_id":"` + theirs + `"}`
	w.expect("policies", pol(11, `{`+given+`}`), pol(12, `{"`+mine+`":{},"gone":{}}`), pol(13, `{"api-4":{"api_id":"api-4"},"api-5":{"api_id":"api-5"},"`+mine+`":{}}`))
	w.remove("o1", "api", id(4))
	w.put(api("o2", 4, "", ""), api("o2", 5, "", ""))
	w.expect("policies", pol(11, `{`+given+`}`), pol(12, `{"`+mine+`":{},"gone":{}}`),
		pol(13, `{"`+mine+`":{},"api-4 of another organisation":{"api_id":"api-4 of another organisation"},"api-5 of another organisation":{"api_id":"api-5 of another organisation"}}`))
}

// TestStoredSpelling: a record with a member name in another letter case, which an
// older version stored, is left out and listed.
func TestStoredSpelling(t *testing.T) {
	w := newWorld(t)
	w.put(api("o1", 1, `,"use_keyless":false,"Use_Keyless":true`, ""), api("o1", 2, `,"auth_configs":{"authToken":{"Use_Param":true}}`, ""), api("o1", 3, "", ""),
		api("o1", 4, "", `,"oas":{"x-tyk-api-gateway":{"server":{"authentication":{"securitySchemes":{"a":{"AllowedIssuers":[]}}}}}}`))
	w.expect("apis", served("o1", 3, ""))
	listed := do(t, w.nodes, "system.feeds.list", operation.Call{Scope: tenant.Everyone("test")}).([]gateway.FeedContent)
	if left := listed[0].LeftOut; len(left) != 3 || left[0].Problems[0].String() != "api_definition.Use_Keyless must be spelled use_keyless" {
		t.Errorf("%v", left)
	}
}

// TestLeftOut: records that gateways could not read are left out, logged once for each
// revision, counted and listed, and the others are served.
func TestLeftOut(t *testing.T) {
	w := newWorld(t)
	w.put(api("o1", 1, "", ""), api("o1", 2, `,"active":true,"proxy":{"listen_path":5}`, ""), record{org: "o2", kind: "api", id: id(3), text: `{"broken`},
		record{org: "o2", kind: "api", id: id(4), text: `{"_id":"4","class":"classic"}`}, record{org: "o2", kind: "api", id: id(5), text: `[]`},
		record{org: "o2", kind: "api", id: id(6), text: `{"_id":"6","class":"oas","api_definition":{"active":true},"oas":[],"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"}`})
	for range 3 {
		w.expect("apis", served("o1", 1, ""))
	}
	if n := w.log.Count("left out"); n != 5 {
		t.Errorf("logged %d times: %s", n, w.log.String())
	}
	w.put(api("o1", 1, `,"name":"b"`, ""))
	w.expect("apis", served("o1", 1, `,"name":"b"`))
	if n := w.log.Count("left out"); n != 5 {
		t.Errorf("logged %d times after another change", n)
	}
	w.put(api("o1", 2, `,"proxy":{"listen_path":6}`, ""))
	w.expect("apis", served("o1", 1, `,"name":"b"`))
	if n := w.log.Count("left out"); n != 6 {
		t.Errorf("logged %d times after the record was changed", n)
	}
	if n, err := w.nodes.LeftOut(t.Context(), "apis"); n != 5 || err != nil {
		t.Errorf("%d left out, %v", n, err)
	}
	s, err := tenant.Of("o1")
	if err != nil {
		t.Fatal(err)
	}
	list := do(t, w.nodes, "system.feeds.list", operation.Call{Scope: s}).([]gateway.FeedContent)
	if have := fmt.Sprint(list[0]); have != "{apis 1 [{api "+id(2)+" o1 3 [api_definition.proxy.listen_path: want a string, got a number]}]}" {
		t.Errorf("listed: %s", have)
	}
	all := do(t, w.nodes, "system.feeds.list", operation.Call{Scope: tenant.Everyone("test")}).([]gateway.FeedContent)
	if len(all) != 3 || len(all[0].LeftOut) != 5 || len(all[1].LeftOut) != 0 {
		t.Errorf("listed: %v", all)
	}
	w.put(api("o1", 2, "", ""))
	w.expect("apis", served("o1", 1, `,"name":"b"`), served("o1", 2, ""))
}

// TestSameIdentifier: gateways would serve the later of two APIs with the same
// identifier instead of the earlier one.
func TestSameIdentifier(t *testing.T) {
	w := newWorld(t)
	thief := api("o1", 9, "", "")
	thief.text = strings.ReplaceAll(thief.text, `"api-9"`, `"api-3"`)
	w.put(api("o2", 3, "", ""), thief)
	w.expect("apis", served("o2", 3, ""))
	if n, err := w.nodes.LeftOut(t.Context(), "apis"); n != 1 || err != nil {
		t.Errorf("%d left out, %v", n, err)
	}
	idle := api("o2", 3, "", "")
	idle.text = strings.ReplaceAll(idle.text, `"active":true`, `"active":false`)
	w.put(idle) // idle keeps its name while it is switched off
	w.expect("apis")
	const said = "what another organisation has under a name"
	if n := w.log.Count(said); n != 0 {
		t.Errorf("%d lines", n)
	}
	w.remove("o2", "api", id(3))
	w.expect("apis", strings.ReplaceAll(served("o1", 9, ""), `"api-9"`, `"api-3"`))
	if n := w.log.Count(said); n != 1 {
		t.Errorf("%d lines", n)
	}
	lower := api("o3", 1, "", "") // created later, with an ID that its creator chose
	lower.text = strings.NewReplacer(`"api-1"`, `"api-3"`, "2026-01-02", "2026-01-03").Replace(lower.text)
	w.put(lower)
	w.expect("apis", strings.ReplaceAll(served("o1", 9, ""), `"api-9"`, `"api-3"`))
}

// TestSeparateGateways: where each gateway loads the APIs of one organisation, APIs of
// two organisations may have the same identifier, and both are served.
func TestSeparateGateways(t *testing.T) {
	w := newWorld(t)
	w.nodes = gateway.New(gateway.Config{Store: w.db, Tokens: tokens{}, Now: time.Now, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
		Board: gateway.NewMemory(), Coding: &gzip.Coding{}, Sources: []port.Source{*apis.Feed(true)}})
	twin := api("o2", 2, "", "")
	twin.text = strings.ReplaceAll(twin.text, `"api-2"`, `"api-1"`)
	w.put(api("o1", 1, "", ""), twin)
	w.expect("apis", served("o1", 1, ""), strings.ReplaceAll(served("o2", 2, ""), `"api-2"`, `"api-1"`))
}

func TestClientIDPs(t *testing.T) {
	w := newWorld(t)
	idp := func(org string, i int, name, mappings string) record {
		return record{org: org, kind: "clientidp", id: id(i), text: fmt.Sprintf(`{"_id":"%s","client_idp_id":"%s","org_id":"%s","name":"n","issuer":"i","jwks_uri":"j","scope_claim_name":"","api_mappings":%s,`+
			`"date_created":"2026-01-02T03:04:05Z","last_updated":"2026-01-02T03:04:05Z"}`, id(i), name, org, mappings)}
	}
	entry := func(org, name, mappings string) string {
		return fmt.Sprintf(`{"client_idp_id":"%s","org_id":"%s","name":"n","issuer":"i","jwks_uri":"j","scope_claim_name":"","api_mappings":%s}`, name, org, mappings)
	}
	const both = `{"api-1":{"scope_to_policy":{"a":"b"}},"api-2":{"scope_to_policy":{}},"unknown":{"scope_to_policy":{}}}`
	w.put(idp("o1", 2, "corp", both), idp("o2", 1, "corp", both), idp("o1", 3, "bad", `{"api-1":{"scope_to_policy":{"a":5}}}`),
		idp("o1", 4, "worse", `null`), record{org: "o1", kind: "clientidp", id: "x", text: `{"issuer":5}`})
	w.expect("clientidps", entry("o1", id(2), both), entry("o2", "corp", both))
	if n, err := w.nodes.LeftOut(t.Context(), "clientidps"); n != 3 || err != nil || w.log.Count("panic") > 0 {
		t.Errorf("%d left out, %v", n, err)
	}
	w.put(api("o1", 1, "", ""), api("o2", 2, "", ""))
	w.expect("clientidps", entry("o1", id(2), `{"api-1":{"scope_to_policy":{"a":"b"}},"unknown":{"scope_to_policy":{}}}`),
		entry("o2", "corp", `{"api-2":{"scope_to_policy":{}},"unknown":{"scope_to_policy":{}}}`))
	w.encoded("clientidps")
	w.put(api("o3", 7, "", ""))
	fetch(t, w.nodes, "clientidps")
	if have := w.encoded("clientidps"); have != 0 {
		t.Errorf("%d encoded for an API that nothing maps", have)
	}
	both12 := api("o1", 20, "", "")
	both12.keys[0].Value = "api-2" // o1 has one with the same identifier
	w.put(both12)
	w.expect("clientidps", entry("o1", id(2), both), entry("o2", "corp", `{"api-2":{"scope_to_policy":{}},"unknown":{"scope_to_policy":{}}}`))
	w.remove("o2", "clientidp", id(1))
	w.expect("clientidps", entry("o1", "corp", both))
	w.put(idp("o2", 1, "corp", `{}`), idp("o3", 5, id(2), `{}`), idp("o3", 6, id(5), `{}`)) // o1's record has its own ID as its name, although a record of o3 has chosen that ID, and so on
	w.expect("clientidps", entry("o1", id(2), both), entry("o2", "corp", `{}`), entry("o3", id(5), `{}`), entry("o3", id(6), `{}`))
	w.remove("o2", "clientidp", id(1))
	w.remove("o3", "clientidp", id(5))
	w.remove("o3", "clientidp", id(6))
	w.put(idp("o1", 2, id(2), both), idp("o3", 1, id(2), `{}`)) // the name of o1's record is its own ID, which o3 has chosen too
	w.expect("clientidps", entry("o1", id(2), both), entry("o3", id(1), `{}`))
}

// TestAnyHistory: after any sequence of changes, a feed equals one that is made from
// scratch.
func TestAnyHistory(t *testing.T) {
	w := newWorld(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	present := map[int]bool{}
	for step := range 300 {
		i := rnd.IntN(150)
		org := fmt.Sprint("o", i%3)
		switch {
		case present[i] && rnd.IntN(3) == 0:
			w.remove(org, "api", id(i))
			present[i] = false
		case rnd.IntN(8) == 0:
			w.put(api(org, i, `,"name":5`, ""))
			present[i] = true
		default:
			w.put(api(org, i, fmt.Sprintf(`,"name":"%d"`, step), ""))
			present[i] = true
		}
		if rnd.IntN(3) > 0 {
			continue
		}
		have, want := fetch(t, w.nodes, "apis"), fetch(t, w.gateway(), "apis")
		if fmt.Sprintf("%s", have) != fmt.Sprintf("%s", want) {
			t.Fatalf("step %d:\n%s\n%s", step, have, want)
		}
	}
}

// TestTogether: nodes load feeds while records change.
func TestTogether(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				fetch(t, w.nodes, "apis")
				fetch(t, w.nodes, "clientidps")
			}
		})
	}
	for i := range 200 {
		w.put(api("o1", i%50, fmt.Sprintf(`,"name":"%d"`, i), ""))
	}
	cancel()
	all.Wait()
	if have := len(fetch(t, w.nodes, "apis")); have != 50 {
		t.Errorf("%d entries", have)
	}
}

// TestPanic: a panic costs one record its place in the feed.
func TestPanic(t *testing.T) {
	w := newWorld(t)
	n := gateway.New(gateway.Config{Store: w.db, Tokens: tokens{}, Now: time.Now, Log: slog.New(slog.NewTextHandler(&w.log, nil)), Board: gateway.NewMemory(), Coding: &gzip.Coding{},
		Sources: []port.Source{{Name: "things", Kind: "thing", Entry: func(rec store.Record, _ port.Lookup) feed.Entry {
			if rec.ID == "b" {
				panic("unforeseen")
			}
			return feed.Of(rec.Doc, nil)
		}}}})
	w.put(record{org: "o", kind: "thing", id: "a", text: "{}"}, record{org: "o", kind: "thing", id: "b", text: "{}"})
	if have := fetch(t, n, "things"); len(have) != 1 {
		t.Errorf("have %s", have)
	}
	if left, err := n.LeftOut(t.Context(), "things"); left != 1 || err != nil {
		t.Errorf("%d left out, %v", left, err)
	}
}

var sizes = []int{100, 1000, 10000}

// crowd returns a world with n APIs, each of the size of an ordinary definition:
// about 6 KB.
func crowd(b *testing.B, n int) (w *world, more string) {
	b.Helper()
	more = strings.TrimSuffix(strings.TrimPrefix(string(classic.Zero().JSON()), "{"), "}")
	w = newWorld(b)
	var all []record
	for i := range n {
		all = append(all, api("o1", i, ","+more, ""))
	}
	w.put(all...)
	return w, "," + more
}

func ask(b *testing.B, n *gateway.Nodes) {
	b.Helper()
	_, _, _, packed := do(b, n, "system.apis", operation.Call{}).(operation.Stream).Stream()
	if len(packed) == 0 {
		b.Fatal("no feed")
	}
}

// BenchmarkAfterChange measures a feed right after one of its APIs changed.
func BenchmarkAfterChange(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w, more := crowd(b, n)
			ask(b, w.nodes)
			w.encoded("apis")
			i := 0
			for b.Loop() {
				b.StopTimer()
				i++
				w.put(api("o1", i%n, more+fmt.Sprintf(`,"slug":"s%d"`, i), ""))
				b.StartTimer()
				ask(b, w.nodes)
			}
			b.ReportMetric(float64(w.encoded("apis"))/float64(i), "encoded/op")
		})
	}
}

// BenchmarkFromNothing measures the first feed of a process.
func BenchmarkFromNothing(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w, _ := crowd(b, n)
			for b.Loop() {
				ask(b, w.gateway())
			}
		})
	}
}

// BenchmarkUnchanged measures an unchanged feed.
func BenchmarkUnchanged(b *testing.B) {
	w, _ := crowd(b, 1000)
	for b.Loop() {
		ask(b, w.nodes)
	}
}
