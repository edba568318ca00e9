package scenarios

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

// quick are settings of a portal whose webhooks are retried at once, on this machine.
var quick = environment{"SVC_PORTAL_WEBHOOKS_PAUSE_DURATION": "0", "DELIVERIES_ALLOWEDNETWORKS": "127.0.0.1"}

// TestPortalAcceptance checks the minimum requirements of a portal, in one process and as
// two processes over HTTP.
func TestPortalAcceptance(t *testing.T) {
	env := quick.with(hashing).with(registering)
	t.Run("in one process", func(t *testing.T) {
		e := controlled(t, environment{"PORTAL_SERVE": "shared"}.with(env))
		accept(t, e, e.addr)
	})
	t.Run("as two processes", func(t *testing.T) {
		e := controlled(t, hashing)
		addr, _ := runPortal(t, env)
		accept(t, e, addr)
	})
}

// accept checks the points one after the other: later ones use the records of earlier
// ones.
func accept(t *testing.T, e *estate, addr string) {
	s := &shop{e, nil}
	s.publish(t)
	e.api.do(t, http.MethodPost, classicAPIs, classicAPI("stock", nil))
	acl := object{"partitions": object{"acl": true, "quota": false, "rate_limit": false}}
	e.api.do(t, http.MethodPost, policies, policy("first", acl, byKey))
	e.api.do(t, http.MethodPost, policies, policy("second", acl, "stock"))
	e.api.do(t, http.MethodPost, policies, policy("limits", object{"partitions": object{"acl": false, "quota": true, "rate_limit": true}, "rate": 100, "per": 1, "quota_max": -1}))
	s = newShop(t, e, addr)
	for _, point := range []struct {
		name string
		do   func(*shop, *testing.T)
	}{
		{"policies become products and plans", (*shop).policiesBecome},
		{"one text of a product", (*shop).oneText},
		{"one member of a plan", (*shop).oneMember},
		{"a product without APIs", (*shop).withoutAPIs},
		{"an app from its approval to its end", (*shop).anApp},
		{"webhooks with headers", (*shop).webhooks},
		{"enumerations, media types", (*shop).manners},
		{"schemas", (*shop).schemas},
		{"streaming gateways find subscriptions", (*shop).streaming},
		{"policies of MCP proxies", (*shop).hidesMCP},
		{"themes", (*shop).themes},
	} {
		if !t.Run(point.name, func(t *testing.T) { point.do(s, t) }) {
			return
		}
	}
	s.healthy(t)
}

// send makes a call and returns its raw answer.
func (s *shop) send(t *testing.T, method, path string, header http.Header, body string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.portal.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = s.portal.header.Clone()
	maps.Copy(req.Header, header)
	res, err := s.portal.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

func (s *shop) policiesBecome(t *testing.T) {
	for id, name := range map[string]string{"1": "first", "2": "second"} {
		if p := s.at(t, "/products/"+id); p["Name"] != name {
			t.Errorf("product %s is %v", id, p)
		}
	}
	if p := s.at(t, "/plans/1"); p["Name"] != "limits" || p["RateLimit"] != 100.0 {
		t.Errorf("plan 1 is %v", p)
	}
}

// oneText sends back a read record with one text changed: nothing else changes, and the
// dashboard is not called.
func (s *shop) oneText(t *testing.T) {
	before, policy := s.at(t, "/products/1"), s.api.read(t, policyPath("first"))
	before["Description"] = "Buys."
	s.write(t, "PUT", "/products/1", before)
	after := s.at(t, "/products/1")
	for _, p := range []object{before, after} {
		delete(p, "UpdatedAt")
	}
	if !reflect.DeepEqual(before, after) {
		t.Errorf("the product was\n%v and is\n%v", before, after)
	}
	if now := s.api.read(t, policyPath("first")); now != policy {
		t.Errorf("the policy was\n%s and is\n%s", policy, now)
	}
}

func (s *shop) oneMember(t *testing.T) {
	s.write(t, "PUT", "/plans/1", object{"KeyExpiresIn": 3600})
	if p := s.policy(t, "limits"); p["key_expires_in"] != 3600.0 || p["rate"] != 100.0 {
		t.Errorf("after a change of the expiry alone the policy is %v", p)
	}
	s.write(t, "PUT", "/plans/1", object{"MetaData": object{"tier": "gold"}})
	if p := s.policy(t, "limits"); fmt.Sprint(p["meta_data"]) != "map[tier:gold]" || p["key_expires_in"] != 3600.0 {
		t.Errorf("after a change of the metadata alone the policy is %v", p)
	}
	s.write(t, "PUT", "/plans/1", object{"Catalogues": []int{1, 2}, "AutoApproveAccessRequests": true})
	if p := s.at(t, "/plans/1"); fmt.Sprint(p["Catalogues"]) != "[1 2]" && fmt.Sprint(p["Catalogues"]) != "[2 1]" {
		t.Errorf("the catalogues of the plan are %v", p["Catalogues"])
	}
	s.write(t, "PUT", "/plans/1", object{"KeyExpiresIn": 0})
}

// withoutAPIs removes the APIs of a product and adds them again, and others.
func (s *shop) withoutAPIs(t *testing.T) {
	user := number(s.write(t, "POST", "/users", object{"Email": "grace@example.com", "First": "Grace", "Active": true}))
	app := number(s.write(t, "POST", "/apps", object{"Name": "Scanner", "UserID": user}))
	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 1, "ProductIDs": []int{1}})
	call := request{path: "/" + byKey + "/x", token: s.valueOf(t, app, 1)}
	s.becomes(t, "the key of a product", call, http.StatusOK, "")
	s.write(t, "PUT", "/products/1", object{"APIDetails": []object{}})
	if p := s.policy(t, "first"); p["state"] != "draft" || p["is_inactive"] != true {
		t.Errorf("without APIs the policy is %v", p)
	}
	s.becomes(t, "without APIs", call, http.StatusForbidden, "")
	s.write(t, "PUT", "/products/1", object{"APIDetails": []object{{"APIID": byKey}}})
	s.becomes(t, "with its APIs again", call, http.StatusOK, "")
	s.write(t, "PUT", "/products/1", object{"APIDetails": []object{}})
	s.becomes(t, "without APIs", call, http.StatusForbidden, "")
	s.write(t, "PUT", "/products/1", object{"APIDetails": []object{{"APIID": byToken}}})
	s.feeds(t, "first", "first 2", "limits", "second")
	s.answers(t, "with APIs that authenticate otherwise", call, http.StatusForbidden, "")
	s.write(t, "DELETE", "/users/"+user, nil)
	s.write(t, "DELETE", "/products/1", nil)
	s.feeds(t, "limits", "second")
}

func (s *shop) anApp(t *testing.T) {
	user := number(s.write(t, "POST", "/users", object{"Email": "ada@example.com", "First": "Ada", "Active": true}))
	app := number(s.write(t, "POST", "/apps", object{"Name": "Till", "UserID": user}))
	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 1, "ProductIDs": []int{2}})
	asked := s.at(t, "/apps/"+app)["AccessRequests"].([]any)[0].(object)
	id := int(asked["ID"].(float64))
	first := s.valueOf(t, app, id)
	var key struct {
		Data struct {
			Policies []string `json:"apply_policies"`
			Meta     object   `json:"meta_data"`
			Tags     []string
		}
	}
	s.api.get(t, "/api/keys/"+first, &key)
	if !slices.Equal(key.Data.Policies, []string{"second", "limits"}) || !slices.Equal(key.Data.Tags, []string{"portal-app-" + app, "portal-org-1"}) {
		t.Errorf("the key is %+v", key.Data)
	}
	if m := key.Data.Meta; fmt.Sprint(m["DeveloperID"]) != user || fmt.Sprint(m["ApplicationID"]) != app || fmt.Sprint(m["OrganisationID"]) != "1" || fmt.Sprint(m["TeamIDs"]) != "[1]" {
		t.Errorf("the key says %v", m)
	}
	s.becomes(t, "the key", request{path: "/stock/x", token: first}, http.StatusOK, "")
	s.write(t, "PUT", fmt.Sprintf("/apps/%s/access-requests/%d/credentials/%v/rotate", app, id, s.credentials(t, app, id)[0]["ID"]), nil)
	second := s.valueOf(t, app, id)
	s.answers(t, "the key before", request{path: "/stock/x", token: first}, http.StatusForbidden, "")
	s.answers(t, "the key after", request{path: "/stock/x", token: second}, http.StatusOK, "")
	s.write(t, "DELETE", "/apps/"+app, nil)
	s.answers(t, "the key of an app that is gone", request{path: "/stock/x", token: second}, http.StatusForbidden, "")
	if keys := s.api.read(t, "/api/keys/detailed?p=-1"); strings.Contains(keys, "portal-app-") {
		t.Errorf("keys are left: %s", keys)
	}
}

// webhooks tests the headers of a webhook, and a delivery that fails once.
func (s *shop) webhooks(t *testing.T) {
	type delivered struct{ header, body string }
	got, tries := make(chan delivered, 10), 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a truncated body is not valid JSON
		if tries++; tries == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		got <- delivered{r.Header.Get("X-One") + " " + r.Header.Get("X-Two"), string(body)}
	}))
	t.Cleanup(server.Close)
	made := s.write(t, "POST", "/webhooks", object{"Name": "Ours", "URL": server.URL, "Method": "POST", "Events": []string{"OrganisationRegistered"}, "Headers": []object{{"Name": "X-One", "Value": "1"}, {"Name": "X-Two", "Value": "2"}}})
	path := "/webhooks/" + fmt.Sprint(made["ID"])
	var headers []struct{ ID, Name, Value string }
	s.portal.get(t, "/portal-api"+path+"/headers", &headers)
	for _, h := range headers {
		if h.Name != "X-Two" {
			continue
		}
		if now := s.write(t, "PUT", path+"/headers/"+h.ID, object{"Name": "X-Two", "Value": "3"}); len(now) != 2 || now["Name"] != "X-Two" || now["Value"] != "3" {
			t.Errorf("the header is %v", now)
		}
		s.portal.refused(t, "PUT", "/portal-api"+path+"/headers/"+h.ID, object{"Name": ""}, http.StatusUnprocessableEntity, "Name")
	}
	s.portal.refused(t, "PUT", "/portal-api"+path+"/headers/99", object{"Name": "X-Three", "Value": "3"}, http.StatusNotFound, "not found")
	s.write(t, "POST", "/organisations", object{"Name": "Acme"})
	select {
	case d := <-got:
		if d.header != "1 3" || !strings.Contains(d.body, `"Event":"OrganisationRegistered"`) || !strings.Contains(d.body, `"Name":"Acme"`) {
			t.Errorf("delivered: %+v", d)
		}
	case <-time.After(gatewayLimit):
		t.Fatal("nothing is delivered")
	}
	if tries != 2 {
		t.Errorf("%d attempts", tries)
	}
	inOrder := []string{"UserRegistered", "ApplicationRegistered", "AccessRequestCreated", "CredentialRegistered", "AccessRequestApproved"}
	s.write(t, "PUT", path, object{"Events": inOrder})
	user := number(s.write(t, "POST", "/users", object{"Email": "events@example.com", "First": "Eve", "Active": true}))
	app := number(s.write(t, "POST", "/apps", object{"Name": "Events", "UserID": user}))
	s.write(t, "PUT", "/apps/"+app+"/provision", object{"PlanID": 1, "ProductIDs": []int{2}})
	for _, name := range inOrder {
		select {
		case d := <-got:
			if !strings.Contains(d.body, `"Event":"`+name+`"`) {
				t.Errorf("delivered: %+v, want %s", d, name)
			}
		case <-time.After(gatewayLimit):
			t.Fatalf("%s is not delivered", name)
		}
	}
	s.write(t, "DELETE", path, nil)
	s.write(t, "DELETE", "/users/"+user, nil)
}

// manners tests enumerations that are omitted when empty, and media types.
func (s *shop) manners(t *testing.T) {
	s.write(t, "POST", "/posts", object{"Title": "New", "Content": "x", "Path": "new", "Status": "draft"})
	for path, name := range map[string]string{"/posts": "Status", "/catalogues": "VisibilityStatus", "/access_requests": "Status", "/providers": "Status"} {
		res, text := s.send(t, "GET", "/portal-api"+path, nil, "")
		if res.Header.Get("Content-Type") != "application/json" && !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json;") {
			t.Errorf("%s is %s", path, res.Header.Get("Content-Type"))
		}
		if strings.Contains(strings.ReplaceAll(text, " ", ""), `"`+name+`":""`) {
			t.Errorf("%s has an empty %s: %s", path, name, text)
		}
		res, text = s.send(t, "GET", "/portal-api"+path, http.Header{"Accept": {"application/graphql"}}, "")
		if res.StatusCode != http.StatusBadRequest || !strings.Contains(text, "unsupported Accept header") {
			t.Errorf("%s for GraphQL: %d %s", path, res.StatusCode, text)
		}
		for _, accept := range []string{"*/*", "application/json", "text/html"} {
			if res, text = s.send(t, "GET", "/portal-api"+path, http.Header{"Accept": {accept}}, ""); res.StatusCode != http.StatusOK {
				t.Errorf("%s for %s: %d %s", path, accept, res.StatusCode, text)
			}
		}
	}
	for _, kind := range []string{"", "application/json", "application/x-www-form-urlencoded"} {
		res, text := s.send(t, "POST", "/portal-api/tags", http.Header{"Content-Type": {kind}}, `{"Name":"as `+kind+`"}`)
		if res.StatusCode != http.StatusCreated {
			t.Errorf("a body as %q: %d %s", kind, res.StatusCode, text)
		}
	}
}

// form returns a form with files.
func form(files ...string) (header http.Header, body string) {
	const between = "a-boundary"
	for name := range slices.Values(files) {
		name, text, _ := strings.Cut(name, "=")
		body += "--" + between + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name + "\"\r\n\r\n" + text + "\r\n"
	}
	return http.Header{"Content-Type": {"multipart/form-data; boundary=" + between}}, body + "--" + between + "--\r\n"
}

// schemas are uploaded for an API and for specifications.
func (s *shop) schemas(t *testing.T) {
	documented := number(s.write(t, "POST", "/products", object{"Name": "Described", "IsDocumentationOnly": true, "ProviderID": 1}))
	spec := number(s.write(t, "POST", "/products/"+documented+"/spec-details", object{"SpecAlias": "api"}))
	sdl, introspection := "type Query { hello: String }", `{"data":{"__schema":{"queryType":{"name":"Query"},"types":[{"kind":"OBJECT","name":"Query","fields":[{"name":"hello","args":[],"type":{"kind":"SCALAR","name":"String"},"isDeprecated":false}],"interfaces":[]},{"kind":"SCALAR","name":"String"}],"directives":[]}}}`
	for method, at := range map[string]string{"POST": "/products/2/api-details/stock", "PUT": "/products/" + documented + "/spec-details/" + spec} {
		at = "/portal-api" + at + "/graphql/schema"
		for name, text := range map[string]string{"a.graphql": sdl, "a.graphqls": sdl, "a.gql": sdl, "a.json": introspection} {
			header, body := form(name + "=" + text)
			before, _ := s.send(t, "GET", at, nil, "")
			if res, said := s.send(t, method, at+"?dry_run=true", header, body); res.StatusCode != http.StatusOK {
				t.Errorf("%s %s, rehearsed: %d %s", method, name, res.StatusCode, said)
			}
			if now, _ := s.send(t, "GET", at, nil, ""); now.StatusCode != before.StatusCode || now.Header.Get("Content-Type") != before.Header.Get("Content-Type") {
				t.Errorf("%s %s: a rehearsal changes %s to %s", method, name, before.Status, now.Status)
			}
			if res, said := s.send(t, method, at, header, body); res.StatusCode != http.StatusOK {
				t.Errorf("%s %s: %d %s", method, name, res.StatusCode, said)
			}
			kind := "application/graphql"
			if strings.HasSuffix(name, ".json") {
				kind = "application/json"
			}
			if res, said := s.send(t, "GET", at, nil, ""); res.StatusCode != http.StatusOK || said != text || !strings.HasPrefix(res.Header.Get("Content-Type"), kind) {
				t.Errorf("%s %s is answered %d %s %s", method, name, res.StatusCode, res.Header.Get("Content-Type"), said)
			}
		}
		for what, files := range map[string][]string{"a wrong extension": {"a.txt=" + sdl}, "two files": {"a.graphql=" + sdl, "b.graphql=" + sdl}} {
			header, body := form(files...)
			if res, said := s.send(t, method, at, header, body); res.StatusCode != http.StatusBadRequest {
				t.Errorf("%s %s: %d %s", method, what, res.StatusCode, said)
			}
		}
	}
	s.write(t, "DELETE", "/products/"+documented+"/spec-details/"+spec+"/graphql/schema", nil)
	if gone := s.at(t, "/products/"+documented+"/spec-details/"+spec); gone != nil {
		t.Errorf("the specification is still there: %v", gone)
	}
}

// streaming reads apps page by page, as gateways with streams do.
func (s *shop) streaming(t *testing.T) {
	user := number(s.write(t, "POST", "/users", object{"Email": "streams@example.com", "First": "Joan", "Active": true}))
	var subscribed string
	for n := range 23 {
		app := number(s.write(t, "POST", "/apps", object{"Name": fmt.Sprint("App ", n), "UserID": user}))
		if n == 4 {
			subscribed = app
		}
	}
	s.write(t, "PUT", "/apps/"+subscribed+"/provision", object{"PlanID": 1, "ProductIDs": []int{2}})
	asked := s.at(t, "/apps/"+subscribed)["AccessRequests"].([]any)[0].(object)
	s.write(t, "PUT", fmt.Sprintf("/apps/%s/access-requests/%v/webhook", subscribed, asked["ID"]), object{"WebhookURL": "https://shop.example.com/in", "WebhookSecret": "hush", "WebhookEventTypes": []string{"order.paid", "order.sent"}})
	pages, found := 0, []string{}
	for more := true; more; {
		pages++
		var apps []struct{ ID, UserID int }
		s.portal.get(t, fmt.Sprintf("/portal-api/apps?page=%d&per_page=10", pages), &apps)
		for _, a := range apps {
			var shown struct {
				AccessRequests []struct{ WebhookEventTypes, WebhookSecret, WebhookURL string }
			}
			s.portal.get(t, fmt.Sprintf("/portal-api/apps/%d", a.ID), &shown)
			for _, r := range shown.AccessRequests {
				if r.WebhookURL != "" && strings.Contains(r.WebhookEventTypes, "order.sent") {
					found = append(found, fmt.Sprint(a.ID, " ", r.WebhookURL, " ", r.WebhookSecret, " ", r.WebhookEventTypes))
				}
			}
		}
		more = len(apps) == 10
	}
	if want := []string{subscribed + " https://shop.example.com/in hush order.paid,order.sent"}; pages != 3 || !slices.Equal(found, want) {
		t.Errorf("on %d pages: %q, want %q", pages, found, want)
	}
	s.write(t, "DELETE", "/users/"+user, nil)
}

// hidesMCP creates a policy of an MCP proxy, which never becomes a product.
func (s *shop) hidesMCP(t *testing.T) {
	upstream := gatewaysim.NewMCPServer("read")
	t.Cleanup(upstream.Close)
	s.api.do(t, http.MethodPost, mcpProxies, mcpProxy("tools", upstream.URL(), object{}))
	s.api.do(t, http.MethodPost, policies, policy("of-tools", object{"partitions": object{"acl": true, "quota": false, "rate_limit": false}}, "tools"))
	s.synchronise(t)
	var products []struct{ Name string }
	s.portal.get(t, "/portal-api/products?page=-1", &products)
	for _, p := range products {
		if p.Name == "of-tools" {
			t.Error("the policy of an MCP proxy is a product")
		}
	}
	s.portal.refused(t, "POST", "/portal-api/products", object{"Name": "Tools", "ProviderID": 1, "APIDetails": []object{{"APIID": "tools"}}}, http.StatusUnprocessableEntity, "")
}

// themes uploads the default theme under another name, and activates it.
func (s *shop) themes(t *testing.T) {
	res, archive := s.send(t, "GET", "/portal-api/themes/default/download", nil, "")
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/zip" {
		t.Fatalf("the default theme: %s %s", res.Status, res.Header.Get("Content-Type"))
	}
	header, body := form("ours.zip=" + renamed(t, archive, "ours"))
	if res, said := s.send(t, "POST", "/portal-api/themes/upload", header, body); res.StatusCode != http.StatusOK {
		t.Fatalf("upload: %d %s", res.StatusCode, said)
	}
	s.write(t, "PUT", "/themes/ours/activate", nil)
	var all []struct{ Name, Status string }
	s.portal.get(t, "/portal-api/themes", &all)
	text, _ := json.Marshal(all) // texts
	if string(text) != `[{"Name":"default","Status":"Not in use"},{"Name":"ours","Status":"Current"}]` {
		t.Errorf("themes: %s", text)
	}
	s.portal.refused(t, "DELETE", "/portal-api/themes/ours", nil, http.StatusUnprocessableEntity, "cannot delete active theme")
}
