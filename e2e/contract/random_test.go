package contract_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	visits "github.com/gatehouse-io/gatehouse/core/portal/visit"
	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// How many requests a run sends, and how many of them to one service: created records
// stay, so a service is replaced before it has too many.
const (
	shortRun   = 20_000
	longRun    = 1_000_000
	perService = 2_500
)

// failures are the 5xx answers that clients expect.
var failures = []struct{ operation, message, reason string }{
	{"schemas.", "schema not found for version", "an unknown version: docs/wire/schemas.md#answers"},
	{"hooks.", "Failed to read response body, body empty.", "an empty body: docs/wire/requests.md#bodies"},
	{"admin.", "Failed to read response body, body empty", "an empty body: docs/wire/requests.md#bodies"},
	{"admin.organisations.replace", "Failed to read request body, body empty", "as above"},
	{"admin.orgkeys.replace", "Updating orgID of org key is not allowed", "limits for another organisation: docs/wire/gateway-control.md#operations"},
	{"admin.orgkeys.delete", "Could not delete key", "no limits: docs/wire/gateway-control.md#operations"},
	{"usergroups.", "Failed to read response body, body empty.", "an empty body: docs/wire/requests.md#bodies"},
	{"users.", "Failed to read response body, body empty.", "an empty body: docs/wire/requests.md#bodies"},
	{"certs.create", "Failed to read response body, body empty.", "no file: docs/wire/certificates.md"},
	{"oauth.", "Could not retrieve policy details.", "an unknown policy: docs/wire/oauth-clients.md"},
	{"sso.", "Failed to read response body, body empty.", "an empty body: docs/wire/requests.md#bodies"},
	{"rules.", "Failed to unmarshal response body.", "a body that cannot be read"},
	{"permissions.", "Failed to unmarshal response body.", "a body that cannot be read"},
	{"apis.access.replace", "failed to unmarshal categories payload", "a body that is no JSON: docs/wire/apis.md#owners-and-categories"},
	{"data-graphs.import", "the document could not be downloaded", "network trouble: docs/wire/data-graphs.md#import"},
	{"portal", "portal is not bootstrapped", "before the portal has an admin: docs/wire/portal.md"},
	{"data-graphs.import", "the document is too large", "network trouble: docs/wire/data-graphs.md#import"},
}

// TestRandomRequests sends random requests of the whole table and checks that the service
// never fails, that a refused request changes nothing, and that gateways can load the
// final state. GATEHOUSE_E2E_SEED repeats a run.
func TestRandomRequests(t *testing.T) {
	total, seed := shortRun, uint64(1)
	if os.Getenv("GATEHOUSE_E2E_LONG") != "" {
		total = longRun
	}
	if text := os.Getenv("GATEHOUSE_E2E_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	for part := range total / perService {
		t.Run(fmt.Sprintf("seed=%d,part=%d", seed, part), func(t *testing.T) {
			t.Parallel()
			randomRun(t, rand.New(rand.NewPCG(seed, uint64(part))))
		})
	}
}

// attempted reports whether an operation stores the outcome of an attempt even if it
// fails: a provider that could not be synchronised is down.
func attempted(o operation.Operation) bool {
	return strings.HasPrefix(o.ID, "portal-providers.synchronize")
}

func randomRun(t *testing.T, rng *rand.Rand) {
	s := newServiceWith(t, false)
	feed, ok := s.Store().(store.ChangeLog)
	if !ok {
		t.Fatal("the store has no feed")
	}
	c := newChaos(t, s, rng)
	answers := map[int]int{}
	for range perService {
		o := c.table[rng.IntN(len(c.table))]
		r := c.request(o)
		if endsCallers(o, r) {
			continue // all later requests would be refused
		}
		before := head(t, feed)
		a := s.ask(t, r)
		answers[a.status/100]++
		if a.status >= 500 && !demanded(o, a) {
			t.Errorf("%s: %s\nwas answered %s", o.ID, r, a)
		}
		rehearsed := r.query.Get(operation.DryRun) == "true" && o.Rehearsable
		if wrote(t, feed, before) && (a.status >= 400 && !attempted(o) || o.Method == "GET" && o.Surface != operation.Node || rehearsed) {
			t.Errorf("%s: %s\nwas answered %s, and something was written", o.ID, r, a)
		}
		if a.status < 300 && o.Method == "POST" {
			c.learn(o, a)
		}
		if t.Failed() {
			t.FailNow() // later failures would only be consequences
		}
	}
	t.Log("answers by class:", answers)
	checkFeeds(t, s)
}

// endsCallers reports whether a request may invalidate the test callers' credentials or
// permissions.
func endsCallers(o operation.Operation, r request) bool {
	switch {
	case strings.HasPrefix(o.ID, "admin.organisations."):
		return o.Method == "DELETE" && strings.HasPrefix(r.path, "/admin/organisations/org-a")
	case strings.HasPrefix(o.ID, "users."), strings.HasPrefix(o.ID, "admin.users."):
		return o.Method != "GET" && !strings.HasSuffix(o.ID, ".create") && !strings.Contains(o.ID, ".search")
	}
	return o.ID == "rules.replace"
}

func head(t *testing.T, feed store.ChangeLog) store.Revision {
	rev, err := feed.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

// wrote reports whether a request has written since a revision. Background writes of the
// service, such as deliveries or renewed leases, name no request. The use of a session is
// recorded now and then, and requested mails are made later.
func wrote(t *testing.T, feed store.ChangeLog, since store.Revision) bool {
	t.Helper()
	last := head(t, feed)
	if last == since {
		return false
	}
	for c, err := range feed.Follow(t.Context(), since) {
		if err != nil {
			t.Fatal(err)
		}
		later := c.By.Operation == "portal-live.forgot" || slices.ContainsFunc(c.Changes, noted)
		if c.By.Request != "" && !later {
			return true
		}
		if c.Rev >= last { // following further would wait
			return false
		}
	}
	return false
}

// noted reports whether a change only records the use of a session.
func noted(c store.Change) bool { return c.Kind == visits.SessionKind && c.Op == store.Updated }

func demanded(o operation.Operation, a answer) bool {
	for _, f := range failures {
		if strings.HasPrefix(o.ID, f.operation) && strings.Contains(string(a.body), f.message) {
			return true
		}
	}
	return false
}

// shared is the reason why a feed rightly leaves out a record: another organisation has
// one with the same identifier, and gateways could not distinguish them.
const shared = "an identifier of its own"

// checkFeeds makes a gateway, which refuses any wrong type, load the state; nothing may
// be left out of feeds because of a type.
func checkFeeds(t *testing.T, s *service) {
	server := httptest.NewServer(s)
	defer server.Close()
	g := gatewaysim.New(gatewaysim.Config{DashboardURL: server.URL, NodeSecret: nodeSecret})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := g.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer g.Kill()
	err := g.WaitFor(ctx, func(s gatewaysim.State) bool { return s.Ready || s.ReloadsFailed > 0 || !s.Running })
	if state := g.State(); err != nil || state.ReloadsFailed > 0 || state.IdPRefreshesFailed > 0 || !state.Running || len(state.APIs) == 0 {
		t.Errorf("the gateway could not load: %v; %s", err, state.LastError)
	}
	for id, reason := range g.State().Skipped {
		t.Errorf("the gateway left out API %q: %s\n%s", id, reason, s.document(t, id))
	}
	a := s.ask(t, request{method: "GET", path: "/api/system/feeds", as: admin})
	var feeds []struct {
		Feed string
		Left []struct {
			ID       string
			Problems []struct{ Path, Want, Got string }
		} `json:"left_out"`
	}
	if err := json.Unmarshal(a.body, &feeds); err != nil || a.status != http.StatusOK {
		t.Fatal(a, err)
	}
	for _, f := range feeds {
		for _, l := range f.Left {
			if len(l.Problems) == 0 || l.Problems[0].Want != shared {
				t.Errorf("%s was left out of the feed %s: %v", l.ID, f.Feed, l.Problems)
			}
		}
	}
}

// document returns an API as its own class of operations shows it.
func (s *service) document(t testing.TB, id string) []byte {
	for _, path := range []string{"/api/apis/oas/", "/api/apis/streams/", "/api/mcps/", "/api/apis/"} {
		if a := s.ask(t, request{method: "GET", path: path + url.PathEscape(id), as: admin}); a.status == http.StatusOK {
			return a.body
		}
	}
	return nil
}

// chaos generates random requests.
type chaos struct {
	t     testing.TB
	s     *service
	rng   *rand.Rand
	table []operation.Operation
	known map[string][]string // identifiers by placeholder
}

func newChaos(t testing.TB, s *service, rng *rand.Rand) *chaos {
	c := &chaos{t: t, s: s, rng: rng, table: s.Operations(), known: map[string][]string{"orgID": {"org-a", "org-b"}, "userId": {"000000000000000000000002"}, "location": {"udg/vat"}, "host": {"gateway-1"}}}
	for _, kind := range []string{classicKind, oasKind, baseKind, childKind, streamsKind, mcpKind, mcpBaseKind} {
		c.known["apiId"] = append(c.known["apiId"], s.create(t, kind), s.create(t, kind))
	}
	c.known["next-base-apiId"] = c.known["apiId"]
	c.known["hookId"], c.known["assetID"] = []string{s.create(t, hookKind)}, []string{s.create(t, assetKind)}
	c.known["id"] = []string{s.create(t, policyKind), s.create(t, idpKind), registered(t, s)["id"]}
	return c
}

// learn stores the identifier of a created record.
func (c *chaos) learn(o operation.Operation, a answer) {
	var made struct{ ID string }
	if json.Unmarshal(a.body, &made) != nil || made.ID == "" {
		return
	}
	name := map[string]string{"apis": "apiId", "mcps": "apiId", "hooks": "hookId", "assets": "assetID"}[strings.Split(o.ID, ".")[0]]
	if name != "" && len(c.known[name]) < 200 {
		c.known[name] = append(c.known[name], made.ID)
	}
}

// one returns true once in n times.
func (c *chaos) one(n int) bool { return c.rng.IntN(n) == 0 }

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

// request generates a request for an operation.
func (c *chaos) request(o operation.Operation) request {
	p := plans[o.ID]
	path := map[string]string{"apiId": c.identifier("apiId")} // bodies may contain it as well
	r := request{method: o.Method, as: c.s.caller(c.t, o, p), query: url.Values{}, header: map[string]string{}}
	for _, param := range o.Params {
		switch param.In {
		case "path":
			path[param.Name] = c.identifier(param.Name)
		case "query":
			if c.one(5) {
				r.query.Set(param.Name, c.parameter(p, param))
			}
		}
	}
	if len(p.header) > 0 {
		r.header = filled(pick(c.rng, p.header), path)
	}
	if c.one(20) {
		r.header[pick(c.rng, []string{"If-Match", "If-None-Match"})] = pick(c.rng, []string{"*", `"x"`, `W/"x"`, ",", "\""})
	}
	if c.one(5) {
		r.as = pick(c.rng, []caller{anonymous, stranger, inactive, nobody, writer, writer, other, root, node})
	}
	r.path = fill(o, path)
	if o.Body != nil {
		c.body(&r, o, p, path)
	}
	return r
}

func (c *chaos) identifier(name string) string {
	if list := c.known[name]; len(list) > 0 && !c.one(10) {
		return pick(c.rng, list)
	}
	if text := pick(c.rng, odd); text != "" && !strings.ContainsAny(text, "/\x00\n") {
		return text
	}
	return "nowhere"
}

func (c *chaos) parameter(p plan, param operation.Param) string {
	good := p.query[param.Name]
	switch {
	case strings.HasSuffix(param.Name, "_api_id") && !c.one(5):
		return pick(c.rng, c.known["apiId"])
	case strings.HasPrefix(strings.ToLower(param.Name), "templateid") && !c.one(5):
		return pick(c.rng, c.known["assetID"])
	case param.Type == reflect.TypeFor[bool]() && !c.one(5):
		return pick(c.rng, []string{"true", "false"})
	case len(good) > 0 && !c.one(4):
		return pick(c.rng, good)
	}
	return pick(c.rng, odd)
}

// body sets the body of a request: a valid one, a changed one, or none.
func (c *chaos) body(r *request, o operation.Operation, p plan, path map[string]string) {
	seed := c.seed(o, p, path)
	n, err := doc.ParseNode(seed)
	switch {
	case c.one(20):
		r.body = garble(seed, c.rng)
		return
	case err != nil || c.one(4):
		r.body = seed
	default:
		r.body = mutate(n, c.rng, 1+c.rng.IntN(4)).JSON()
	}
	if mediaType := r.header["Content-Type"]; err == nil && strings.Contains(mediaType, "yaml") && c.one(2) {
		q := requests{t: c.t}
		r.body = q.yaml(r.body)
	}
	if o.Body == reflect.TypeFor[operation.Document]() && c.one(10) {
		if c.one(2) {
			r.body = archive(c.t, string(r.body))
		}
		r.header["Content-Type"], r.body = form(c.t, r.body)
		if c.one(4) {
			r.body = garble(r.body, c.rng)
		}
	}
}

// seed returns a valid body for an operation, or for another one.
func (c *chaos) seed(o operation.Operation, p plan, path map[string]string) []byte {
	if c.one(30) {
		o = pick(c.rng, c.table)
		p = plans[o.ID]
	}
	if p.bodies != nil && !c.one(6) {
		return []byte(pick(c.rng, p.bodies(c.s, path)))
	}
	return []byte(example(c.t, o))
}
