package contract_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/key"
	stored "github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

// worlds is how many sets of keys and policies are compared with the simulated gateway.
const worlds = 10_000

// someRights generates random keys and policies.
type someRights struct{ *rand.Rand }

func (r someRights) maybe(n int) bool { return r.IntN(n) == 0 }

func (r someRights) limit(to map[string]any) {
	if r.maybe(2) {
		to["rate"], to["per"] = []float64{-1, 0, 1, 5, 10, 100}[r.IntN(6)], []float64{0, 1, 10, 60}[r.IntN(4)]
	}
	if r.maybe(3) {
		to["throttle_interval"], to["throttle_retry_limit"] = r.IntN(3), r.IntN(4)
	}
	if r.maybe(4) {
		to["smoothing"] = map[string]any{"enabled": r.maybe(2), "threshold": r.IntN(3), "trigger": 0.5, "step": r.IntN(5), "delay": r.IntN(30)}
	}
	if r.maybe(3) {
		to["max_query_depth"] = []int{-1, 0, 3, 10}[r.IntN(4)]
	}
	if r.maybe(2) {
		to["quota_max"], to["quota_renewal_rate"] = []int{-1, 0, 1, 50, 1000}[r.IntN(5)], r.IntN(3)*60
	}
}

func (r someRights) names(of ...string) []string {
	out := []string{}
	for _, s := range of {
		if r.maybe(2) {
			out = append(out, s)
		}
	}
	return out
}

func (r someRights) lists() map[string]any {
	return map[string]any{"allowed": r.names("a.*", "b", "c"), "blocked": r.names("ab", "b.")}
}

func (r someRights) limited(name string) map[string]any {
	limit := map[string]any{}
	r.limit(limit)
	return map[string]any{"name": name, "type": "tool", "limit": limit}
}

func (r someRights) field() string { return []string{"users", "orders", "*"}[r.IntN(3)] }

func (r someRights) types() []any {
	out := []any{}
	for _, name := range r.names("Query", "User") {
		out = append(out, map[string]any{"name": name, "fields": r.names("users", "orders", "*")})
	}
	return out
}

func (r someRights) definition(api string) map[string]any {
	d := map[string]any{"api_id": api, "versions": r.names("Default", "v1", "v2")}
	if r.maybe(2) {
		d["allowed_urls"] = []any{map[string]any{"url": "^/" + fmt.Sprint(r.IntN(3)), "methods": r.names("GET", "POST")}}
	}
	if r.maybe(3) {
		limit := map[string]any{}
		r.limit(limit)
		d["limit"] = limit
	}
	if r.maybe(3) {
		d["endpoints"] = []any{map[string]any{"path": "/p", "methods": []any{r.limited("GET")}}}
	}
	if r.maybe(3) {
		d["restricted_types"], d["allowed_types"] = r.types(), r.types()
		d["field_access_rights"] = []any{map[string]any{"type_name": "Query", "field_name": r.field(), "limits": map[string]any{"max_query_depth": r.IntN(4) - 1}}}
	}
	if r.maybe(3) {
		d["json_rpc_methods_access_rights"] = r.lists()
		d["mcp_access_rights"] = map[string]any{"tools": r.lists(), "resources": r.lists(), "prompts": r.lists()}
		d["json_rpc_methods"], d["mcp_primitives"] = []any{r.limited("tools/call")}, []any{r.limited("sum")}
	}
	return d
}

func (r someRights) rights(to map[string]any) {
	rights := map[string]any{}
	for _, api := range r.names("a", "b", "c") {
		rights[api] = r.definition(api)
	}
	to["access_rights"] = rights
	if r.maybe(3) {
		to["tags"] = r.names("t1", "t2", "t3")
	}
	if r.maybe(3) {
		to["meta_data"] = map[string]any{"m" + fmt.Sprint(r.IntN(3)): r.IntN(100)}
	}
	if r.maybe(20) {
		to["is_inactive"] = true
	}
	r.limit(to)
}

func (r someRights) policy(id string) map[string]any {
	p := map[string]any{"id": id, "org_id": "o"}
	r.rights(p)
	switch r.IntN(4) {
	case 0:
		p["partitions"] = map[string]any{"per_api": true}
	case 1, 2:
		partitions := map[string]any{}
		for _, name := range r.names("acl", "rate_limit", "quota", "complexity") {
			partitions[name] = true
		}
		p["partitions"] = partitions
	}
	return p
}

// plainly is the compared part: rights and limit of each API, and settings independent of APIs.
type plainly struct {
	Refused  bool
	Inactive bool
	Tags     []string
	Meta     string
	APIs     map[string]string
}

func (w plainly) String() string { text, _ := json.MarshalIndent(w, "", " "); return string(text) }

// TestEffectiveRights compares the permissions of a key according to the service with those in
// the simulated gateway for the same key and policies.
func TestEffectiveRights(t *testing.T) {
	r := someRights{rand.New(rand.NewPCG(1, 2))}
	for world := range worlds {
		policies := map[string]map[string]any{}
		ids := []string{}
		for i := range r.IntN(4) {
			id := fmt.Sprint("p", i)
			policies[id] = r.policy(id)
			ids = append(ids, id)
		}
		session := map[string]any{"org_id": "o", "apply_policies": ids}
		r.rights(session)
		if r.maybe(30) {
			session["apply_policies"] = append(ids, "gone")
		}
		ours, gateways := effective(t, session, policies), simulated(t, session, policies)
		if ours.String() != gateways.String() {
			text, _ := json.MarshalIndent(map[string]any{"session": session, "policies": policies}, "", " ")
			t.Fatalf("world %d\n%s\nours %s\ngateway %s", world, text, ours, gateways)
		}
	}
}

// compared converts both sides' data about one API to text: lists are compared as sets.
func compared(lists [][]string, l counted, each bool) string {
	if l.rate == 0 {
		l.per = 0 // of no rate
	}
	if l.quota == 0 {
		l.renewal = 0
	}
	text := ""
	for _, list := range lists {
		slices.Sort(list)
		text += fmt.Sprint(slices.Compact(list), " ")
	}
	return text + fmt.Sprintf("%+v %t", l, each)
}

// counted is the limit that applies to one API.
type counted struct {
	rate, per, throttle     float64
	retries, quota, renewal int64
	depth                   int64
	smoothing               string
}

func effective(t *testing.T, session map[string]any, policies map[string]map[string]any) plainly {
	t.Helper()
	known := map[string]stored.Policy{}
	for id, p := range policies {
		text, _ := json.Marshal(p)
		loaded, err := stored.Load(text)
		if err != nil {
			t.Fatal(err)
		}
		known[id] = loaded
	}
	text, _ := json.Marshal(session)
	s, err := doc.ParseNode(text)
	if err != nil {
		t.Fatal(err)
	}
	carried := key.CarriedBy(s, known)
	e := key.Explain(s, carried.Applied())
	out := plainly{APIs: map[string]string{}}
	for _, p := range carried.Problems() {
		out.Refused = out.Refused || p.Code == key.ProblemMissing || p.Code == key.ProblemMixed
	}
	if out.Refused {
		return out
	}
	out.Inactive, out.Tags = e.Session.Get("is_inactive").True(), append([]string{}, e.Session.Get("tags").Texts()...)
	slices.Sort(out.Tags)
	out.Meta = sorted(e.Session.Get("meta_data"))
	for api, d := range e.Session.Get("access_rights").Members() {
		var urls, lists, endpoints, calls, graph []string
		for _, sort := range []string{"restricted_types", "allowed_types"} {
			for _, x := range d.Get(sort).Items() {
				graph = append(graph, fmt.Sprint(sort, x.Get("name").Text(), x.Get("fields").Texts()))
			}
		}
		for _, x := range d.Get("field_access_rights").Items() {
			graph = append(graph, fmt.Sprint(x.Get("type_name").Text(), x.Get("field_name").Text(), x.Get("limits", "max_query_depth").Int()))
		}
		for _, u := range d.Get("allowed_urls").Items() {
			urls = append(urls, fmt.Sprint(u.Get("url").Text(), u.Get("methods").Texts()))
		}
		for _, at := range [][]string{{"json_rpc_methods_access_rights"}, {"mcp_access_rights", "tools"}, {"mcp_access_rights", "resources"}, {"mcp_access_rights", "prompts"}} {
			for _, sort := range []string{"allowed", "blocked"} {
				for _, name := range d.Get(append(at[:len(at):len(at)], sort)...).Texts() {
					lists = append(lists, fmt.Sprint(at, sort, name))
				}
			}
		}
		for _, p := range d.Get("endpoints").Items() {
			for _, m := range p.Get("methods").Items() {
				endpoints = append(endpoints, fmt.Sprint(p.Get("path").Text(), m.Get("name").Text(), m.Get("limit", "rate").Float(), m.Get("limit", "per").Float()))
			}
		}
		for _, name := range []string{"json_rpc_methods", "mcp_primitives"} {
			for _, m := range d.Get(name).Items() {
				calls = append(calls, fmt.Sprint(name, m.Get("name").Text(), m.Get("limit", "rate").Float(), m.Get("limit", "per").Float()))
			}
		}
		l := e.LimitOf(api)
		smooth := "none"
		if s := l.Get("smoothing"); s.Is(doc.TypeObject) {
			smooth = fmt.Sprint(s.Get("enabled").True(), s.Get("threshold").Float(), s.Get("trigger").Float(), s.Get("step").Float(), s.Get("delay").Float())
		}
		out.APIs[api] = compared([][]string{slices.Clone(d.Get("versions").Texts()), urls, lists, endpoints, calls, graph},
			counted{l.Get("rate").Float(), l.Get("per").Float(), l.Get("throttle_interval").Float(), l.Get("throttle_retry_limit").Int(),
				l.Get("quota_max").Int(), l.Get("quota_renewal_rate").Int(), l.Get("max_query_depth").Int(), smooth}, e.Each[api])
	}
	return out
}

func sorted(n *doc.Node) string {
	var m map[string]any
	_ = json.Unmarshal(n.JSON(), &m)
	if len(m) == 0 {
		return ""
	}
	text, _ := json.Marshal(m)
	return string(text)
}

func simulated(t *testing.T, session map[string]any, policies map[string]map[string]any) plainly {
	t.Helper()
	var feed []json.RawMessage
	for _, p := range policies {
		text, _ := json.Marshal(p)
		feed = append(feed, text)
	}
	text, _ := json.Marshal(session)
	s, err := gatewaysim.SessionOf(feed, "o", text)
	out := plainly{Refused: err != nil, APIs: map[string]string{}}
	if out.Refused {
		return out
	}
	out.Inactive, out.Tags = s.Inactive, append([]string{}, s.Tags...)
	slices.Sort(out.Tags)
	if len(s.Meta) > 0 {
		meta, _ := json.Marshal(s.Meta)
		out.Meta = string(meta)
	}
	for api, a := range s.Rights {
		var urls, lists, endpoints, calls, graph []string
		for sort, types := range map[string][]gatewaysim.GraphType{"restricted_types": a.Restricted, "allowed_types": a.Allowed} {
			for _, x := range types {
				graph = append(graph, fmt.Sprint(sort, x.Name, x.Fields))
			}
		}
		for _, x := range a.Fields {
			graph = append(graph, fmt.Sprint(x.Type, x.Field, x.Limits.Depth))
		}
		for _, u := range a.URLs {
			urls = append(urls, fmt.Sprint(u.URL, u.Methods))
		}
		for at, l := range map[string]gatewaysim.Lists{"[json_rpc_methods_access_rights]": a.Methods, "[mcp_access_rights tools]": a.Primitives.Tools,
			"[mcp_access_rights resources]": a.Primitives.Resources, "[mcp_access_rights prompts]": a.Primitives.Prompts} {
			for _, name := range l.Allowed {
				lists = append(lists, at+"allowed"+name)
			}
			for _, name := range l.Blocked {
				lists = append(lists, at+"blocked"+name)
			}
		}
		for _, p := range a.Endpoints {
			for _, m := range p.Methods {
				endpoints = append(endpoints, fmt.Sprint(p.Path, m.Name, m.Limit.Rate, m.Limit.Per))
			}
		}
		for _, m := range a.MethodLimits {
			calls = append(calls, fmt.Sprint("json_rpc_methods", m.Name, m.Limit.Rate, m.Limit.Per))
		}
		for _, m := range a.PrimitiveLimits {
			calls = append(calls, fmt.Sprint("mcp_primitives", m.Name, m.Limit.Rate, m.Limit.Per))
		}
		l, each := s.LimitOf(api)
		smooth := "none"
		if s := l.Smoothing; s != nil {
			smooth = fmt.Sprint(s.Enabled, s.Threshold, s.Trigger, s.Step, s.Delay)
		}
		out.APIs[api] = compared([][]string{slices.Clone(a.Versions), urls, lists, endpoints, calls, graph},
			counted{l.Rate, l.Per, l.ThrottleInterval, l.ThrottleRetries, l.QuotaMax, l.QuotaRenewal, l.Depth, smooth}, each)
	}
	return out
}
