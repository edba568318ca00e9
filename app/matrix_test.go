package app_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/outbound"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// estate is a control plane with two organisations and callers of every sort.
type estate struct {
	t         *testing.T
	a         *app.App
	db        *memdb.DB
	ownership bool
	keys      map[string]string // access keys by caller
	ids       map[string]string // user IDs by caller
	emails    map[string]string // addresses by caller
	open      credentials       // of a browser whose session holds
	over      credentials       // of one that has logged out
	group     string            // what owns APIs besides the owner
	n         int
}

func newEstate(t *testing.T, ownership bool) *estate {
	t.Helper()
	db, err := memdb.New(apptest.Clock())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(withRulesAPI, app.WithStore(db), app.WithKeys(keys), app.WithLogger(slog.New(slog.DiscardHandler)), app.WithClock(apptest.Clock()), app.WithAdminSecret(adminSecret), app.WithBrokerSecret(brokerSecret),
		app.WithNodeSecret(nodeSecret), app.WithPasswords(crypto.Passwords{Iterations: 1}), app.WithSessions(session.Config{Life: 1 << 20 * time.Hour, Delay: -1}), app.WithFetcher(web), app.WithExamples(examplesIndex),
		app.WithGateways(outbound.Gateway{URL: "http://gateway.example:8080", Trusted: true}),
		app.WithGatewayAPI(outbound.GatewayAPI{URL: "http://gateway.example:8080", Secret: "gateway-secret"}),
		app.WithDefinitions(app.Definitions{APIs: apis.Settings{Ownership: ownership, Streams: true}, Hosts: servers.Config{Protocol: "http", DefaultHost: "gateway.example:8080"}}))
	if err != nil {
		t.Fatal(err)
	}
	e := &estate{t: t, a: a, db: db, ownership: ownership, keys: map[string]string{}, ids: map[string]string{}, emails: map[string]string{}}
	for _, org := range []string{"a", "b"} {
		b, err := a.Bootstrap(t.Context(), identity.First{OrgID: "org-" + org, OwnerSlug: org, Email: "admin@" + org + ".example"})
		if err != nil {
			t.Fatal(err)
		}
		e.keys["admin of "+org], e.ids["admin of "+org] = b.AccessKey, b.UserID
	}
	e.group = e.must("admin of a", "POST", "/api/usergroups", `{"name":"Owners","user_permissions":`+everyGroup("write")+`}`)
	for name, draft := range map[string]string{
		"no permission":       `"org_id":"org-a","user_permissions":{"websockets":"read"}`,
		"read":                `"org_id":"org-a","user_permissions":` + everyGroup("read"),
		"write":               `"org_id":"org-a","user_permissions":` + everyGroup("write"),
		"deny":                `"org_id":"org-a","user_permissions":` + everyGroup("deny"),
		"owner":               `"org_id":"org-a","user_permissions":` + everyGroup("write"),
		"member":              `"org_id":"org-a","group_id":"` + e.group + `","user_permissions":` + everyGroup("deny"),
		"admin":               `"org_id":"org-a","user_permissions":{"IsAdmin":"admin"}`,
		"admin, denied":       `"org_id":"org-a","user_permissions":{"IsAdmin":"admin",` + everyGroup("deny")[1:],
		"browser":             `"org_id":"org-a","password":"` + browserPassword + `","user_permissions":` + everyGroup("write"),
		"inactive":            `"org_id":"org-a","active":false,"user_permissions":{"IsAdmin":"admin"}`,
		"super":               `"user_permissions":{"IsAdmin":"admin"}`,
		"other, no admin":     `"org_id":"org-b","user_permissions":` + everyGroup("write"),
		"member, other group": `"org_id":"org-a","group_id":"` + e.must("admin of a", "POST", "/api/usergroups", `{"name":"Others","user_permissions":`+everyGroup("write")+`}`) + `"`,
	} {
		e.n++
		e.emails[name] = fmt.Sprintf("u%d@example.com", e.n)
		text := e.send(credentials{"Admin-Auth": adminSecret}, "POST", "/admin/users", fmt.Sprintf(`{"email_address":%q,%s}`, e.emails[name], draft)).Body.String()
		var answer struct {
			Message string
			Meta    struct{ ID string }
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Meta.ID == "" {
			t.Fatal(text, err)
		}
		e.keys[name], e.ids[name] = answer.Message, answer.Meta.ID
	}
	e.ids["program"] = e.must("admin of a", "POST", "/api/service-accounts", `{"name":"program","user_permissions":`+everyGroup("write")+`}`)
	text := e.send(credentials{"Authorization": e.keys["admin of a"]}, "POST", "/api/service-accounts/"+e.ids["program"]+"/keys", `{"name":"key"}`).Body.String()
	var made struct{ Meta struct{ Key string } }
	if err := json.Unmarshal([]byte(text), &made); err != nil || made.Meta.Key == "" {
		t.Fatal(text, err)
	}
	e.keys["program"] = made.Meta.Key
	e.open = e.login(fmt.Sprintf(`{"username":%q,"password":%q}`, e.emails["browser"], browserPassword))
	e.over = e.login(fmt.Sprintf(`{"username":%q,"password":%q}`, e.emails["browser"], browserPassword))
	if w := e.send(e.over, "POST", "/logout", ""); w.Code != 200 {
		t.Fatal(w.Code, w.Body)
	}
	return e
}

// browserPassword is the password of the user who has browsers.
const browserPassword = "known to browsers alone" // no example has it

// login logs in and returns what the browser presents from then on.
func (e *estate) login(body string) credentials {
	e.t.Helper()
	w, out := e.send(nil, "POST", "/login", body), credentials{}
	for _, c := range w.Result().Cookies() {
		switch c.Name {
		case operation.SessionCookie:
			out["Cookie"] = c.Name + "=" + c.Value
		case operation.ProofCookie:
			out["X-Csrf-Token"] = c.Value
		}
	}
	if len(out) != 2 {
		e.t.Fatal(w.Code, w.Body)
	}
	return out
}

// everyGroup is a map with one level for every group of permissions.
func everyGroup(level string) string {
	m := map[string]string{}
	for _, p := range guarded {
		if p != "" && p != "IsAdmin" {
			m[p] = level
		}
	}
	text, _ := json.Marshal(m)
	return string(text)
}

// callers are who calls, with what the law needs to know of them.
func (e *estate) callers() []caller {
	out := []caller{{name: "anonymous"}, {name: "inactive"}, {name: "no permission"}, {name: "read", level: "read"}, {name: "write", level: "write"}, {name: "deny", level: "deny"},
		{name: "owner", level: "write", owner: true}, {name: "member", level: "write", owner: true}, {name: "member, other group", level: "write"},
		{name: "admin", admin: true}, {name: "admin, denied", admin: true}, {name: "super", admin: true, super: true},
		{name: "program", level: "write"}, {name: "admin of b", admin: true, away: true}, {name: "other, no admin", level: "write", away: true}}
	for i := range out {
		if key := e.keys[out[i].name]; key != "" {
			out[i].with = credentials{"Authorization": key}
		}
	}
	return append(out,
		caller{name: "browser", level: "write", with: e.open},
		caller{name: "page of another site", level: "write", forged: true, with: credentials{"Cookie": e.open["Cookie"]}},
		caller{name: "proof of another session", level: "write", forged: true, with: credentials{"Cookie": e.open["Cookie"], "X-Csrf-Token": e.over["X-Csrf-Token"]}},
		caller{name: "session that is over", stranger: true, with: e.over},
		caller{name: "super-admin", stranger: true, with: credentials{"Admin-Auth": adminSecret}},
		caller{name: "super-admin, wrong header", stranger: true, with: credentials{"Authorization": adminSecret}},
		caller{name: "gateway", stranger: true, with: credentials{"Authorization": nodeSecret}},
		caller{name: "key that is none", stranger: true, with: credentials{"Authorization": strings.Repeat("0", 32)}},
		caller{name: "wrong key in a browser", stranger: true, with: credentials{"Authorization": "x", "Cookie": e.open["Cookie"], "X-Csrf-Token": e.open["X-Csrf-Token"]}},
	)
}

// credentials are headers by name.
type credentials map[string]string

func (e *estate) send(with credentials, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(e.t.Context(), method, path, strings.NewReader(body))
	for name, value := range with {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	e.a.ServeHTTP(w, r)
	return w
}

// must carries out a request that succeeds and returns the ID in the answer.
func (e *estate) must(as, method, path, body string) string {
	e.t.Helper()
	w := e.send(credentials{"Authorization": e.keys[as]}, method, path, body)
	var answer struct {
		ID, Message string
		Meta        any
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code > 201 {
		e.t.Fatalf("%s %s %s: %d %s", method, path, body, w.Code, w.Body)
	}
	if answer.ID != "" {
		return answer.ID
	}
	if id, ok := answer.Meta.(string); ok {
		return id
	}
	return answer.Message // of a new policy
}

// make makes what a placeholder of a path names, in an organisation, and returns its
// identifier. What can have owners has some.
func (e *estate) make(org, pattern, param string) string {
	e.t.Helper()
	e.n++
	as, n := "admin of "+org, e.n
	own := func(id string) string {
		if e.ownership && org == "a" {
			e.must(as, "PUT", "/api/apis/"+id+"/access", fmt.Sprintf(`{"userIds":[%q],"userGroupIds":[%q]}`, e.ids["owner"], e.group))
		}
		return id
	}
	document := func(kind, vendor string) string {
		return fmt.Sprintf(`{"openapi":"3.0.3","info":{"title":"%s %d","version":"1"},"paths":{},%s"x-tyk-api-gateway":{"info":{"name":"%s %d","state":{"active":true}},`+
			`"upstream":{"url":"http://up.example/"},"server":{"listenPath":{"value":"/%s%d/"}}}}`, kind, n, vendor, kind, n, kind, n)
	}
	switch {
	case param == "apiId" && below(pattern, "/api/apis/oas"), param == "next-base-apiId":
		return own(e.must(as, "POST", "/api/apis/oas", document("oas", "")))
	case param == "apiId" && below(pattern, "/api/apis/streams"):
		return own(e.must(as, "POST", "/api/apis/streams", document("streams", `"x-tyk-streaming":{"streams":{"s":{"input":{"http_server":{"path":"/in"}},"output":{"http_server":{"ws_path":"/out"}}}}},`)))
	case param == "apiId" && below(pattern, "/api/mcps"):
		return own(e.must(as, "POST", "/api/mcps", document("mcp", "")))
	case param == "apiId":
		return own(e.must(as, "POST", "/api/apis", fmt.Sprintf(`{"api_definition":{"name":"API %d","active":true,"use_keyless":true,"proxy":{"listen_path":"/classic%d/","target_url":"http://up.example/"}}}`, n, n)))
	case below(pattern, "/api/portal/policies"):
		api := e.make(org, "/api/apis/{apiId}", "apiId")
		return e.must(as, "POST", "/api/portal/policies", fmt.Sprintf(`{"name":"P%d","rate":1,"per":1,"access_rights":{%q:{"api_id":%q,"versions":["Default"]}}}`, n, api, api))
	case below(pattern, "/api/clientidps"):
		return e.must(as, "POST", "/api/clientidps", fmt.Sprintf(`{"client_idp_id":"idp-%d","name":"I%d","jwks_uri":"https://i%d.example/jwks"}`, n, n, n))
	case below(pattern, "/api/gateway/intents"):
		in := resting(tenant.ID("org-"+org), n, time.Unix(1767323045, 0))
		if _, err := e.db.Update(e.t.Context(), tenant.Everyone("test"), func(w store.Writer) error {
			return intents.Registration().Untyped.Insert(e.t.Context(), w, in)
		}); err != nil {
			e.t.Fatal(err)
		}
		return in.ID
	case below(pattern, "/api/assets"):
		return e.must(as, "POST", "/api/assets", fmt.Sprintf(`{"kind":"oas-template","name":"T%d","data":{}}`, n))
	case below(pattern, "/api/hooks"), below(pattern, "/api/history"):
		return e.must(as, "POST", "/api/hooks", fmt.Sprintf(`{"name":"H%d","method":"POST","target_path":"https://h%d.example/"}`, n, n))
	case below(pattern, "/api/users"):
		return e.must(as, "POST", "/api/users", fmt.Sprintf(`{"first_name":"F","last_name":"L","email_address":"m%d@example.com","user_permissions":{"apis":"read"}}`, n))
	case param == "keyId":
		return "5f1a0c5d8e3b2a1fffff0001" // none: an account has its keys, and what the account is decides
	case below(pattern, "/api/service-accounts"):
		return e.must(as, "POST", "/api/service-accounts", fmt.Sprintf(`{"name":"s%d","user_permissions":{"apis":"read"}}`, n))
	case below(pattern, "/api/usergroups"):
		return e.must(as, "POST", "/api/usergroups", fmt.Sprintf(`{"name":"G%d","user_permissions":{"apis":"read"}}`, n))
	}
	return "" // elsewhere
}

// path fills the placeholders of a pattern. ok is false when there is nothing that
// they could name.
func (e *estate) path(pattern, target, as string) (path string, ids []string, ok bool) {
	segments := strings.Split(pattern, "/")
	idp := ""
	for i, s := range segments {
		param, open := operation.Placeholder(s)
		if !open {
			continue
		}
		id := fmt.Sprintf("5f1a0c5d8e3b2a1fffff%04d", e.n)
		switch {
		case param == "kind": // every kind is there
			id = "webhook"
		case param == "revision":
			id = "1"
		case target == "self":
			id = e.ids[as]
		case target == "own":
			id = e.make("a", pattern, param)
		case target == "foreign":
			id = e.make("b", pattern, param)
		}
		if id == "" {
			return "", nil, false
		}
		if strings.HasPrefix(pattern, "/api/clientidps/{id}/mappings/") && target != "missing" {
			if param == "id" {
				idp = id
			} else {
				e.must("admin of "+map[string]string{"own": "a", "foreign": "b"}[target], "PUT", "/api/clientidps/"+idp+"/mappings/"+id, `{"scope_to_policy":{"read":"gold"}}`)
			}
		}
		segments[i], ids = url.PathEscape(id), append(ids, id)
	}
	return strings.Join(segments, "/"), ids, true
}

// TestSuperUsersAreToldWhere has a user without organisation read everything: what there is in
// one organisation only says so, and nothing is trouble of the service.
func TestSuperUsersAreToldWhere(t *testing.T) {
	e := newEstate(t, false)
	told := 0
	for _, o := range e.a.Operations() {
		if o.Surface != operation.Management || o.Public || o.Intent != access.Read {
			continue
		}
		path, _, ok := e.path(o.Path, "own", "super")
		if !ok {
			path = o.Path
		}
		w := e.send(credentials{"Authorization": e.keys["super"]}, o.Method, path, "{}")
		said := w.Code == 400 && strings.Contains(w.Body.String(), "this belongs to an organisation: send the request as one of its users")
		if said {
			told++
		}
		if said != o.OneOrganisation || w.Code >= 500 && o.Path != "/api/org/opa" && o.Path != "/api/org/permissions" { // which have words of their own
			t.Errorf("%s %s: %d %s", o.Method, path, w.Code, w.Body)
		}
	}
	if told < 20 {
		t.Errorf("%d operations say so", told)
	}
}

// TestAuthorisationMakesEveryKind: what a path names is made by the estate, or stands among what
// is elsewhere. The matrix would otherwise pass over a new kind without a word.
func TestAuthorisationMakesEveryKind(t *testing.T) {
	e, used := newEstate(t, false), map[string]bool{}
	for _, o := range e.a.Operations() {
		if o.Surface != operation.Management || o.Public {
			continue
		}
		_, _, made := e.path(o.Path, "own", "admin of a")
		away, at := "", 0
		for _, prefix := range elsewhere {
			if below(o.Path, prefix) && len(prefix) > at {
				away, at = prefix, len(prefix)
			}
		}
		switch {
		case made:
		case away == "":
			t.Errorf("%s %s: the estate does not make what it names; add it to make", o.Method, o.Path)
		default:
			used[away] = true
		}
	}
	for _, prefix := range elsewhere {
		if !used[prefix] {
			t.Errorf("%s: the estate makes all that paths below it name", prefix)
		}
	}
}

// ended returns how a call ended.
func ended(w *httptest.ResponseRecorder) outcome {
	switch {
	case w.Code == 401:
		return unknown
	case w.Code == 403 && (strings.Contains(w.Body.String(), "access denied: ") || strings.Contains(w.Body.String(), "Not authorised - ")):
		return forbidden
	}
	return passes
}

// TestAuthorisation holds every operation for users against the law of who may do what:
// every sort of caller, what is its own, another organisation's, missing, or itself, with
// ownership and without. A call that is refused changes nothing, and to callers of one
// organisation what belongs to another one looks exactly like what does not exist.
func TestAuthorisation(t *testing.T) {
	cells := 0
	for _, ownership := range []bool{false, true} {
		e := newEstate(t, ownership)
		// Examples of bodies name an API: it is there, and everybody's.
		e.must("admin of a", "POST", "/api/apis", `{"api_definition":{"name":"Orders","api_id":"orders","active":true,"use_keyless":true,"proxy":{"listen_path":"/the-orders/","target_url":"http://up.example/"}}}`)
		for _, o := range e.a.Operations() {
			if o.Surface != operation.Management || o.Public {
				continue
			}
			if _, known := guardian(o.Path); !known {
				t.Errorf("%s %s: no rule says who may call it; add its path to guarded", o.Method, o.Path)
				continue
			}
			cells += e.check(o)
		}
	}
	if t.Logf("%d cells", cells); cells < 5000 {
		t.Errorf("%d cells, want 5000 at least", cells)
	}
}

// check holds one operation against the law and returns how many cells that were.
func (e *estate) check(o operation.Operation) (cells int) {
	body := ""
	if o.Request != nil {
		text, err := json.Marshal(o.Request)
		if err != nil {
			e.t.Fatal(err)
		}
		body = string(text)
	}
	targets := []string{""}
	if strings.Contains(o.Path, "{") {
		targets = []string{"own", "missing", "foreign"}
	}
	if strings.Contains(o.Path, "{userId}") {
		targets = append(targets, "self")
	}
	for _, who := range e.callers() {
		missing := ""
		for _, target := range targets {
			if target == "self" && (e.ids[who.name] == "" && who.name != "anonymous" || who.name == "program" || (who.name == "anonymous" || o.Method != "GET") && !strings.HasSuffix(o.Path, "/actions/reset")) {
				continue // it is no user, or it would change who calls
			}
			place := target
			if who.away { // what is its own is the other's, and the other way round
				place = map[string]string{"own": "foreign", "foreign": "own"}[target]
				if place == "" {
					place = target
				}
			}
			path, ids, ok := e.path(o.Path, place, who.name)
			if !ok {
				continue
			}
			c := cell{o.Method, o.Path, who, target, e.ownership && !who.away}
			cells++
			before, _ := e.db.Head(e.t.Context())
			w := e.send(who.with, o.Method, path, body)
			after, _ := e.db.Head(e.t.Context())
			want, have := c.expected(), ended(w)
			text := fmt.Sprint(w.Code, " ", w.Body)
			for _, id := range ids {
				text = strings.ReplaceAll(text, id, "ID")
			}
			refused := want == unknown || want == foreign || want == forbidden
			switch {
			case want == foreign && have == unknown, want == nothingThere && have == passes, want == have:
			default:
				e.t.Errorf("%s %s by %q of what is %q, ownership %v: %s, want %s", o.Method, o.Path, who.name, target, e.ownership, text, want)
				continue
			}
			if refused && before != after {
				e.t.Errorf("%s %s by %q is refused and changes something", o.Method, o.Path, who.name)
			}
			if target == "missing" {
				missing = text
			}
			if target == "foreign" && want == nothingThere && text != missing {
				e.t.Errorf("%s %s by %q: what belongs to others differs from what is missing:\n%s\n%s", o.Method, o.Path, who.name, text, missing)
			}
		}
	}
	return cells
}
