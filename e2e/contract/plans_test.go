package contract_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/intents"
	core "github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// plan says how to call an operation successfully.
type plan struct {
	// path creates the records for the placeholders of the path.
	path func(t testing.TB, s *service) map[string]string
	// bodies returns valid bodies for these records; invalid ones are derived from the
	// first.
	bodies func(s *service, path map[string]string) []string
	query  map[string][]string // valid values besides those of the file
	always map[string]string   // query values of all valid requests
	header []map[string]string // valid headers; "{name}" stands for a value of the path
	as     caller              // admin by default
	// options change the service so that the operation can succeed; nil: no change.
	options func() []app.Option
}

// one creates a record for the only placeholder.
func one(name, kind string) func(testing.TB, *service) map[string]string {
	return func(t testing.TB, s *service) map[string]string {
		t.Helper()
		return map[string]string{name: s.create(t, kind)}
	}
}

func apiOf(kind string) func(testing.TB, *service) map[string]string { return one("apiId", kind) }

// rewritten creates a record and returns its last change.
func rewritten(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := map[string]string{"kind": "webhook", "id": s.create(t, hookKind)}
	a := s.ask(t, request{method: "GET", path: "/api/history/webhook/" + path["id"], as: admin})
	var answer struct{ Changes []struct{ Revision uint64 } }
	if err := json.Unmarshal(a.body, &answer); err != nil || len(answer.Changes) == 0 {
		t.Fatalf("%v in %s", err, a)
	}
	path["revision"] = fmt.Sprint(answer.Changes[0].Revision)
	return path
}

// some creates records for lists.
func some(kinds ...string) func(testing.TB, *service) map[string]string {
	return func(t testing.TB, s *service) map[string]string {
		t.Helper()
		for _, kind := range kinds {
			s.create(t, kind)
		}
		return nil
	}
}

// every creates an API of every class.
var every = some(classicKind, oasKind, baseKind, streamsKind, mcpKind)

// family creates a base API and the child that replaces it.
func family(t testing.TB, s *service) map[string]string {
	t.Helper()
	base := s.create(t, oasKind)
	n := s.next()
	id := s.must(t, request{method: "POST", path: "/api/apis/oas", as: admin, body: []byte(oas(n, fmt.Sprintf("child-%d", n), "3.0.3")),
		query: map[string][]string{"base_api_id": {base}, "base_api_version_name": {"base"}, "new_version_name": {"v2"}}})
	return map[string]string{"apiId": base, "next-base-apiId": id}
}

func mappingOf(t testing.TB, s *service) map[string]string {
	t.Helper()
	return map[string]string{"id": s.create(t, idpKind), "apiId": "orders"}
}

// fresh returns bodies of new records.
func fresh(bodies ...func(n int, id string) string) func(*service, map[string]string) []string {
	return func(s *service, _ map[string]string) []string {
		var out []string
		for _, b := range bodies {
			n := s.next()
			out = append(out, b(n, fmt.Sprintf("new-%d", n)))
		}
		return out
	}
}

// again returns bodies for existing records.
func again(param string, bodies ...func(n int, id string) string) func(*service, map[string]string) []string {
	return func(s *service, path map[string]string) []string {
		var out []string
		for _, b := range bodies {
			out = append(out, b(s.next(), path[param]))
		}
		return out
	}
}

func fixed(bodies ...string) func(*service, map[string]string) []string {
	return func(*service, map[string]string) []string { return bodies }
}

func oas30(n int, id string) string  { return oas(n, id, "3.0.3") }
func oas31(n int, id string) string  { return oas(n, id, "3.1.0") }
func plain30(n int, _ string) string { return plain(n, "3.0.3") }
func plain31(n int, _ string) string { return plain(n, "3.1.0") }
func noID(body func(int, string) string) func(int, string) string {
	return func(n int, _ string) string { return body(n, "") }
}
func numbered(body func(int) string) func(int, string) string {
	return func(n int, _ string) string { return body(n) }
}

var (
	listQuery   = map[string][]string{"p": {"1", "2", "0", "-1", "-2", "999"}, "q": {"orders", "ORDERS", "/classic", "%", ""}, "sort": {"name", "-name"}}
	importQuery = map[string][]string{"upstreamURL": {"https://orders.example.com"}, "listenPath": {"/import/"}, "customDomain": {"orders.example.com"}, "allowList": {"true", "false"}, "validateRequest": {"true", "false"},
		"mockResponse": {"true", "false"}, "authentication": {"true", "false"}}
	zone = []map[string]string{{"x-tyk-nodeid": "{id}", "x-tyk-hostname": "gateway-1", "x-tyk-session-id": "session"}, {"x-tyk-nodeid": "unknown"}, nil}
)

// plans has every operation that needs more than its path.
var plans = together(clientPlans, loginPlans, analyticsPlans, keyPlans, hookPlans, peoplePlans, portalPlans, appPlans, documentPlans, contentPlans, livePlans, ownPlans, showcasePlans, map[string]plan{
	"sessions.login":         {path: withPassword, bodies: logins},
	"sessions.forgot":        {path: withPassword, bodies: forgets},
	"sessions.reset":         {path: withCode, bodies: chooses},
	"sso.create":             {path: signedOn, bodies: aPerson},
	"sso.tap":                {path: withNonce, query: map[string][]string{"nonce": {"{nonce}"}}},
	"tib.profiles.list":      {path: operators, query: listQuery},
	"tib.profiles.create":    {bodies: fresh(operating, operatingByDirectory)},
	"tib.profiles.create_as": {path: newOperators, bodies: fresh(operating, operatingByDirectory)},
	"tib.profiles.get":       {path: operators},
	"tib.profiles.replace":   {path: operators, bodies: fresh(operating, operatingByDirectory)},
	"tib.profiles.delete":    {path: operators},
	"tib.login":              {path: operatorsAt},
	"tib.callback": {path: operatorsBack, query: map[string][]string{"iss": {"https://login.example.com"}}, always: map[string]string{"state": "{state}", "code": "ada"},
		header: []map[string]string{{"Cookie": "{cookie}"}}},
	"admin.sso.create": {path: signedOn, bodies: aPerson, as: root},

	"apis.list":              {path: every, query: joined(listQuery, map[string][]string{"api_type": {"graph"}, "category": {"shop", "shop,#shop"}, "auth_type": {"jwt"}, "tags": {"edge"}, "base_apis": {"true"}, "compressed": {"1"}})},
	"apis.search":            {path: every, query: listQuery},
	"apis.create":            {bodies: fresh(classic, noID(classic))},
	"apis.get":               {path: apiOf(classicKind)},
	"apis.replace":           {path: apiOf(classicKind), bodies: again("apiId", classic)},
	"apis.patch":             {path: apiOf(classicKind), bodies: fixed(`{"api_definition":{"name":"Patched","tags":null}}`, `[{"op":"replace","path":"/api_definition/active","value":false}]`)},
	"apis.delete":            {path: apiOf(classicKind)},
	"apis.url":               {path: apiOf(classicKind)},
	"apis.access":            {path: apiOf(classicKind)},
	"apis.migration.migrate": {path: apiOf(classicKind), bodies: migrations},
	"cache.delete":           {path: apiOf(classicKind)},
	"apis.access.replace":    {path: apiOf(classicKind), bodies: fixed(`{"userIds":["000000000000000000000002"],"userGroupIds":[]}`, `{"userIds":[],"userGroupIds":[]}`)},

	"apis.categories":     {path: every},
	"apis.groups":         {path: every},
	"apis.references":     {path: apiOf(classicKind)},
	"mcps.references":     {path: apiOf(mcpKind)},
	"policies.references": {path: one("id", policyKind)},
	"hooks.references":    {path: one("hookId", hookKind)},
	"assets.references":   {path: one("assetID", assetKind)},
	"clientidps.report":   {path: some(idpKind)},

	"apis.oas.create":  {bodies: fresh(oas30, oas31, noID(oas30)), query: map[string][]string{"accept_additional_properties": {"true"}}, header: typed("application/x-yaml")},
	"apis.oas.get":     {path: apiOf(childKind), header: accepting("application/x-yaml", "application/json", "*/*")},
	"apis.oas.replace": {path: apiOf(oasKind), bodies: again("apiId", oas30, oas31), header: typed("application/x-yaml")},
	"apis.oas.patch": {path: apiOf(oasKind), bodies: func(s *service, p map[string]string) []string {
		return append(again("apiId", plain30, plain31)(s, p), fmt.Sprintf(`{"url":%q}`, openapiURL))
	}, query: importQuery, header: typed("application/x-yaml")},
	"apis.oas.import": {bodies: func(s *service, p map[string]string) []string {
		return append(fresh(plain30, plain31)(s, p), fmt.Sprintf(`{"url":%q}`, openapiURL), `{"url":"http://10.0.0.1/"}`)
	}, query: importQuery, header: typed("application/x-yaml")},
	"data-graphs.import": {bodies: func(s *service, _ map[string]string) []string {
		return []string{plain(s.next(), "3.0.3"), plain(s.next(), "3.1.0"), fmt.Sprintf(`{"url":%q}`, openapiURL)}
	}},
	"apis.oas.dry-run": {bodies: func(s *service, _ map[string]string) []string {
		n := s.next()
		return []string{`{"oas":` + plain(n, "3.0.3") + `}`, `{"tyk_oas":` + oas(n, "", "3.0.3") + `}`, `{"oas":` + plain(n, "3.0.3") + `,"tyk_oas":` + oas(n, "", "3.0.3") + `}`}
	}, query: importQuery},
	"apis.oas.delete":             {path: apiOf(baseKind), query: map[string][]string{"purge": {"true"}}},
	"apis.oas.export":             {path: apiOf(oasKind), query: map[string][]string{"mode": {"public"}}, header: typed("application/x-yaml", "application/json")},
	"apis.oas.urls":               {path: apiOf(baseKind)},
	"apis.oas.versions":           {path: apiOf(baseKind), query: map[string][]string{"searchText": {"v1", "orders"}}},
	"apis.oas.rebase":             {path: family},
	"apis.oas.rebase.short":       {path: family},
	"apis.oas.categories":         {path: apiOf(oasKind)},
	"apis.oas.categories.replace": {path: apiOf(oasKind), bodies: fixed(`{"categories":["shop"," ","shop","b"]}`, `{"categories":[]}`)},

	"apis.streams.create":  {bodies: fresh(streams, noID(streams)), header: typed("application/vnd.tyk.streams.oas")},
	"apis.streams.get":     {path: apiOf(streamsKind), header: accepting("application/vnd.tyk.streams.oas")},
	"apis.streams.replace": {path: apiOf(streamsKind), bodies: again("apiId", streams), header: typed("application/vnd.tyk.streams.oas")},
	"apis.streams.patch":   {path: apiOf(streamsKind), bodies: again("apiId", plain30), query: importQuery, header: typed("application/vnd.tyk.streams.oas")},
	"apis.streams.delete":  {path: apiOf(streamsKind), header: typed("application/vnd.tyk.streams.oas")},

	"mcps.list":     {path: some(mcpKind, mcpBaseKind), query: listQuery},
	"mcps.create":   {bodies: fresh(mcp, noID(mcp)), header: typed("application/x-yaml")},
	"mcps.get":      {path: apiOf(mcpKind)},
	"mcps.replace":  {path: apiOf(mcpKind), bodies: again("apiId", mcp), header: typed("application/x-yaml")},
	"mcps.delete":   {path: apiOf(mcpKind)},
	"mcps.versions": {path: apiOf(mcpBaseKind)},

	"policies.list":   {path: some(policyKind, policyKind), query: listQuery},
	"policies.search": {path: some(policyKind, policyKind), query: joined(listQuery, map[string][]string{"policy_ids": {"gold", "policy-1,policy-2"}, "active": {"true"}, "api_id": {"orders"}, "auth_type": {"jwt"}, "sort": {"state", "-name", "date_created"}})},
	"policies.create": {bodies: func(s *service, _ map[string]string) []string {
		n := s.next()
		return []string{policy(n, fmt.Sprintf("pol-%d", n), "orders"), policy(s.next(), "", "orders"), mcpPolicy(s.next(), "", "nowhere")}
	}},
	"policies.get": {path: one("id", policyKind)},
	"policies.replace": {path: one("id", policyKind), bodies: func(s *service, p map[string]string) []string {
		return []string{policy(s.next(), p["id"], "orders"), policy(s.next(), "", "orders")}
	}},
	"policies.patch":  {path: one("id", policyKind), bodies: fixed(`{"rate":200,"tags":null,"access_rights":{"users":{}}}`, `[{"op":"replace","path":"/rate","value":7}]`)},
	"policies.delete": {path: one("id", policyKind)},

	"hooks.list":    {path: some(hookKind, hookKind), query: listQuery},
	"hooks.create":  {bodies: fresh(numbered(hook))},
	"hooks.get":     {path: one("hookId", hookKind)},
	"hooks.replace": {path: one("hookId", hookKind), bodies: fresh(numbered(hook))},
	"hooks.delete":  {path: one("hookId", hookKind)},

	"assets.list":    {path: some(assetKind), query: map[string][]string{"kind": {"oas-template"}}},
	"assets.create":  {bodies: fresh(numbered(asset))},
	"assets.get":     {path: one("assetID", assetKind)},
	"assets.replace": {path: one("assetID", assetKind), bodies: fresh(numbered(asset))},
	"assets.delete":  {path: one("assetID", assetKind)},

	"clientidps.list":            {path: some(idpKind, idpKind), query: listQuery},
	"clientidps.create":          {bodies: fresh(func(n int, _ string) string { return idp(n, "orders") })},
	"clientidps.get":             {path: one("id", idpKind)},
	"clientidps.references":      {path: one("id", idpKind)},
	"clientidps.replace":         {path: one("id", idpKind), bodies: fresh(func(n int, _ string) string { return idp(n, "orders") })},
	"clientidps.delete":          {path: one("id", idpKind)},
	"clientidps.mappings.patch":  {path: one("id", idpKind), bodies: fixed(`{"old":null,"orders":{"scope_to_policy":{"legacy":null,"read":"gold"}},"new":{}}`, `{}`)},
	"clientidps.mappings.get":    {path: mappingOf},
	"clientidps.mappings.put":    {path: mappingOf, bodies: fixed(`{"scope_to_policy":{"read":"gold"}}`, `{}`)},
	"clientidps.mappings.delete": {path: mappingOf},

	"schemas.get":     {query: map[string][]string{"oasVersion": {"3.0", "3.1", "3.0.3"}, "pretty": {"1"}}},
	"schemas.all":     {query: map[string][]string{"oasVersion": {"3.0", "3.1"}}},
	"schemas.oas":     {query: map[string][]string{"oasVersion": {"3.0", "3.1"}, "pretty": {"true"}}},
	"schemas.streams": {query: map[string][]string{"oasVersion": {"3.0", "3.1"}}},
	"schemas.mcp":     {query: map[string][]string{"mcpVersion": {"3.0", "3.1"}}},
	"examples.list":   {header: []map[string]string{nil, {"x-tyk-examples-index": examplesURL}}},
	"examples.get": {path: func(testing.TB, *service) map[string]string { return map[string]string{"location": "udg/vat"} }, query: map[string][]string{"readme": {"true"}},
		header: []map[string]string{nil, {"x-tyk-examples-index": examplesURL}}},
	"proxy.call":         {bodies: fixed(`{"method":"GET","url":"`+gatewayURL+`/orders/1","headers":{"Accept":"application/json"}}`, `{"method":"POST","url":"`+gatewayURL+`/orders/odd","body":"x"}`, `{"method":"GET","url":"https://elsewhere.example.com/"}`)},
	"system.stats.get":   {query: map[string][]string{"start_day": {"2026-01-01"}, "end_day": {"2026-01-31"}, "resolution": {"day"}, "entity": {"apis", "dataplanes", "dataplanes.gateways"}}},
	"notifications.list": {query: map[string][]string{"refresh": {"true"}}},
	"system.nodes.get":   {path: registered},

	"register.node":        {as: node, path: registered, header: zone},
	"register.ping":        {as: node, path: registered, header: zone},
	"system.apis":          {path: every, as: node, header: zone},
	"system.policies":      {path: some(policyKind), as: node, header: zone},
	"system.clientidps":    {path: some(idpKind), as: node, header: zone},
	"system.node.delete":   {as: node, path: registered, header: zone},
	"system.quota_trigger": {as: node, path: registered, header: zone, bodies: fixed(`{"Message":"Quota trigger reached","org_id":"org-a","trigger_limit":80,"usage_percentage":80}`)},

	"admin.hello":                          {as: root},
	"admin.license":                        {as: root},
	"admin.organisations.list":             {as: root, query: listQuery},
	"admin.organisations.get":              {as: root, path: func(testing.TB, *service) map[string]string { return map[string]string{"orgID": "org-a"} }},
	"admin.organisations.generate-portals": {as: root, path: func(testing.TB, *service) map[string]string { return map[string]string{"orgID": "org-a"} }},
	"admin.organisations.create": {as: root, bodies: fresh(func(n int, _ string) string {
		return fmt.Sprintf(`{"owner_name":"Example","owner_slug":"slug-%d","cname":"","cname_enabled":true}`, n)
	})},
	"admin.organisations.import":  {as: root, bodies: fresh(organisation)},
	"admin.organisations.replace": {as: root, path: organisations, bodies: again("orgID", organisation)},
	"admin.organisations.delete":  {as: root, path: organisations, query: map[string][]string{"purge": {"true", "false"}}},
	"admin.orgkeys.list":          {as: root, path: none(orgLimited), query: listQuery},
	"admin.orgkeys.create":        {as: root, bodies: fresh(func(n int, _ string) string { return orgLimits(n, fmt.Sprintf("org-%d", n)) })},
	"admin.orgkeys.get":           {as: root, path: orgLimited},
	"admin.orgkeys.replace":       {as: root, path: orgLimited, bodies: again("keyId", orgLimits)},
	"admin.orgkeys.delete":        {as: root, path: orgLimited},
	"gateway.control":             {},
	"gateway.reload":              {},
	"history.list":                {path: rewritten, query: map[string][]string{"p": {"1", "2", "-1", "999"}}},
	"history.get":                 {path: rewritten},
	"intents.list":                {path: none(rests), query: map[string][]string{"p": {"1", "2", "-1"}}},
	"intents.get":                 {path: rests},
	"intents.retry":               {path: rests},
	"intents.abandon":             {path: rests},
	"admin.deliveries.list":       {as: root, path: none(delivered), query: map[string][]string{"state": {"pending", "failed", "done"}, "org_id": {"org-a", ""}, "lane": {"api_event"}, "p": {"1", "2", "-1"}}},
	"admin.deliveries.get":        {as: root, path: delivered},
	"admin.deliveries.resend":     {as: root, path: delivered},
	"admin.oauth.tokens.purge":    {as: root, query: map[string][]string{"scope": {"lapsed"}}},
	"admin.users.get": {as: root, path: func(testing.TB, *service) map[string]string {
		return map[string]string{"userId": "000000000000000000000002"}
	}},
	"admin.users.update":          {as: root, path: somebody, bodies: fixed(`{"first_name":"Ada","last_name":"Example","user_permissions":{"apis":"write","ResetPassword":"admin"}}`)},
	"admin.users.resets.allow":    {as: root, path: somebody},
	"admin.users.resets.disallow": {as: root, path: somebody},
	"admin.users.create": {as: root, bodies: fresh(func(n int, _ string) string {
		return fmt.Sprintf(`{"org_id":"org-a","email_address":"user-%d@a.example","first_name":"Ada","last_name":"Example","active":true,"user_permissions":{"apis":"read"}}`, n)
	})},
	"admin.apis.import":     {as: root, bodies: imported(`{"apis":[%s]}`, classic)},
	"admin.policies.import": {as: root, bodies: imported(`{"Data":[%s],"Pages":1}`, func(n int, id string) string { return policy(n, id, "orders") })},
	"users.password.set": {path: func(testing.TB, *service) map[string]string {
		return map[string]string{"userId": "000000000000000000000002"}
	},
		bodies: fixed(`{"current_password":"","new_password":"a-long-passphrase"}`)},
})

// together merges several tables; the last one wins.
func together[V any](tables ...map[string]V) map[string]V {
	all := map[string]V{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}

// somebody creates a user.
func somebody(t testing.TB, s *service) map[string]string {
	t.Helper()
	a := s.ask(t, request{method: "POST", path: "/admin/users", as: root, body: fmt.Appendf(nil, `{"org_id":"org-a","first_name":"Ada","last_name":"Example","email_address":"writer-%d@a.example","user_permissions":{"apis":"write"}}`, s.next())})
	var made struct{ Meta struct{ ID string } }
	if err := json.Unmarshal(a.body, &made); err != nil || made.Meta.ID == "" {
		t.Fatalf("%v in %s", err, a)
	}
	return map[string]string{"userId": made.Meta.ID}
}

// organisation returns an organisation with most members.
func organisation(n int, id string) string {
	return fmt.Sprintf(`{"id":%q,"owner_name":"Example %d","owner_slug":"slug-%[2]d","cname":"","cname_enabled":true,"apis":[{"api_human_name":"Orders","api_id":"orders"}],"developer_quota":1,"developer_count":0,`+
		`"event_options":{"api_event":{"webhook":"https://hooks.example.com/","email":"ops@example.com","redis":true}},"hybrid_enabled":false,"ui":{"hide_help":true},"org_options_meta":{},"open_policy":{"enabled":false,"rules":""},"additional_permissions":{}}`, id, n)
}

// organisations makes an organisation.
func organisations(t testing.TB, s *service) map[string]string {
	t.Helper()
	n := s.next()
	id := fmt.Sprintf("org-%d", n)
	s.must(t, request{method: "POST", path: "/admin/organisations", as: root, body: []byte(organisation(n, id))})
	return map[string]string{"orgID": id}
}

// orgLimits returns the limits of an organisation.
func orgLimits(n int, org string) string {
	return fmt.Sprintf(`{"org_id":%q,"rate":%d,"per":1,"quota_max":1000,"quota_renewal_rate":3600,"tags":["blue"]}`, org, n+1)
}

// orgLimited sets limits of an organisation.
func orgLimited(t testing.TB, s *service) map[string]string {
	t.Helper()
	n := s.next()
	org := fmt.Sprintf("org-%d", n)
	s.must(t, request{method: "POST", path: "/admin/org/keys", as: root, body: []byte(orgLimits(n, org))})
	return map[string]string{"keyId": org}
}

// rests stores an intent that waits for an operator.
func rests(t testing.TB, s *service) map[string]string {
	t.Helper()
	now := time.Now()
	in, err := intent.Begin(fmt.Sprintf("intent-%d", s.next()), "org-a", "keys.update", intent.Subject{Kind: "key", ID: "hash"}, intent.By{Actor: "ada"}, now).On(intent.Exhaust, now, "no gateway answers")
	if err == nil {
		_, err = s.Store().Update(t.Context(), tenant.Everyone("test"), func(w store.Writer) error {
			return intents.Registration().Untyped.Insert(t.Context(), w, in)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"intentID": in.ID}
}

// delivered stores a successful delivery.
func delivered(t testing.TB, s *service) map[string]string {
	t.Helper()
	now := time.Now()
	d := core.New("org-a", "organisation", "api_event", "api_event", core.Origin{Revision: uint64(s.next()), At: now}, []byte(`{}`)).Succeeded(now, 204)
	if _, err := s.Store().Update(t.Context(), tenant.Everyone("test"), func(w store.Writer) error {
		return delivery.Registration().Untyped.Insert(t.Context(), w, d)
	}); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"deliveryID": d.ID}
}

// none creates records for lists.
func none(make func(testing.TB, *service) map[string]string) func(testing.TB, *service) map[string]string {
	return func(t testing.TB, s *service) map[string]string {
		make(t, s)
		return nil
	}
}

// registered registers a gateway node.
func registered(t testing.TB, s *service) map[string]string {
	t.Helper()
	a := s.ask(t, request{method: "GET", path: "/register/node", as: node, header: map[string]string{"x-tyk-hostname": "gateway-1", "x-tyk-session-id": "session"}})
	var registration struct{ Message struct{ NodeID string } }
	if err := json.Unmarshal(a.body, &registration); err != nil {
		t.Fatalf("%v in %s", err, a)
	}
	return map[string]string{"id": registration.Message.NodeID, "host": "gateway-1"}
}

// imported returns bodies with a record for an organisation.
func imported(format string, record func(n int, id string) string) func(*service, map[string]string) []string {
	return fresh(func(n int, id string) string {
		text := record(n, id)
		if inner := strings.TrimPrefix(text, `{"api_definition":{`); inner != text {
			return fmt.Sprintf(format, `{"api_definition":{"org_id":"org-a",`+inner)
		}
		return fmt.Sprintf(format, with(text, `"org_id":"org-a"`))
	})
}

// migrations returns bodies that migrate one classic API in every mode, and others.
func migrations(_ *service, path map[string]string) []string {
	var out []string
	for _, mode := range []string{"dryRun", "stage", "promote", "direct"} {
		out = append(out, fmt.Sprintf(`{"mode":%q,"apiIDs":[%q],"abortOnFailure":true}`, mode, path["apiId"]))
	}
	return append(out, fmt.Sprintf(`{"mode":"stage","apiIDs":[%q,"nowhere"],"overrideStaged":true}`, path["apiId"]), `{"mode":"dryRun","all":true}`)
}

func joined(a, b map[string][]string) map[string][]string {
	out := map[string][]string{}
	for _, m := range []map[string][]string{a, b} {
		for name, values := range m {
			out[name] = append(out[name], values...)
		}
	}
	return out
}

func typed(types ...string) []map[string]string {
	out := []map[string]string{nil}
	for _, mediaType := range types {
		out = append(out, map[string]string{"Content-Type": mediaType})
	}
	return out
}

func accepting(types ...string) []map[string]string {
	out := []map[string]string{nil}
	for _, mediaType := range types {
		out = append(out, map[string]string{"Accept": mediaType})
	}
	return out
}

// form returns a multipart/form-data body with a file.
func form(t testing.TB, file []byte) (mediaType string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.SetBoundary("boundary"); err != nil {
		t.Fatal(err)
	}
	part, err := w.CreateFormFile("file", "openapi")
	if err == nil {
		_, err = part.Write(file)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

// archive packs a description of two files.
func archive(t testing.TB, main string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, file := range [][2]string{{"openapi.json", main}, {"schemas/other.yaml", "type: object\n"}} {
		w, err := z.Create(file[0])
		if err == nil {
			_, err = w.Write([]byte(file[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
