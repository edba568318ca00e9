package contract_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// appPlans are the plans for apps, access requests and credentials.
var appPlans = map[string]plan{
	"portal-apps.list":      {path: inPortal("app_id", "/apps", till), query: portalLists},
	"portal-apps.create":    {path: opened, bodies: fresh(till, scanner)},
	"portal-apps.get":       {path: approved},
	"portal-apps.update":    {path: inPortal("app_id", "/apps", till), bodies: fresh(till, scanner)},
	"portal-apps.delete":    {path: approved, query: map[string][]string{"force": {"true", "false", ""}}},
	"portal-apps.provision": {path: wanting, bodies: orders},

	"portal-access-requests.list":      {path: requested, query: portalLists},
	"portal-access-requests.get":       {path: approved},
	"portal-access-requests.delete":    {path: approved},
	"portal-access-requests.approve":   {path: requested},
	"portal-access-requests.reject":    {path: requested},
	"portal-access-requests.plan":      {path: requested},
	"portal-access-requests.catalogue": {path: requested},
	"portal-access-requests.client":    {path: approved},
	"portal-access-requests.user":      {path: approved},

	"portal-app-access-requests.list":   {path: approved, query: portalLists},
	"portal-app-access-requests.get":    {path: approved},
	"portal-app-access-requests.delete": {path: approved},
	"portal-app-access-requests.subscribe": {path: approved, bodies: fixed(`{"WebhookURL":"https://shop.example.com/in","WebhookSecret":"hush","WebhookEventTypes":["order.paid"]}`,
		`{"WebhookURL":"","WebhookSecret":"","WebhookEventTypes":""}`)},

	"portal-app-credentials.list":   {path: approved, query: portalLists},
	"portal-app-credentials.get":    {path: approved},
	"portal-app-credentials.delete": {path: approved},
	"portal-app-credentials.rotate": {path: approved},

	"portal-app-credentials.certificate": {path: certified},
	"portal-app-credentials.renew": {path: certified, bodies: func(*service, map[string]string) []string {
		return []string{`{"Certificate":` + strconv.Quote(freshPEM()) + `}`}
	}},
	"portal-app-credentials.forget": {path: certified},

	"portal-certificates.list":   {path: managed, query: portalLists},
	"portal-certificates.create": {path: inPortal("provider_id", "/providers", connected), bodies: manages},
	"portal-certificates.get":    {path: managed},
	"portal-certificates.update": {path: managed, bodies: fixed(`{"Name":"Till","Organisations":[1]}`, `{"Organisations":"1"}`)},
	"portal-certificates.delete": {path: managed},

	"portal-custom-credentials.list":   {path: given, query: portalLists},
	"portal-custom-credentials.create": {path: wanting, bodies: customs},
	"portal-custom-credentials.get":    {path: given},
	"portal-custom-credentials.update": {path: given, bodies: fixed(`{"Alias":"Till of ours"}`)},
	"portal-custom-credentials.rotate": {path: given},
	"portal-custom-credentials.delete": {path: given},

	"portal-doctor.get": {path: opened},
	"portal-doctor.fix": {path: opened},

	"portal-operations.list":    {path: resting, query: portalLists},
	"portal-operations.get":     {path: resting},
	"portal-operations.retry":   {path: resting},
	"portal-operations.abandon": {path: resting},
}

func till(n int, _ string) string { return fmt.Sprintf(`{"Name":"Till %d","UserID":1}`, n) }

func scanner(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Scanner %d","UserID":"1","Description":"Reads.","RedirectURLs":["https://shop.example.com/back"],"Visibility":"team"}`, n)
}

// wanting creates an app, and a product and a plan that it can request.
func wanting(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := limits(t, s)
	n := s.next()
	a := s.ask(t, request{method: "POST", path: "/api/apis", as: admin, body: fmt.Appendf(nil,
		`{"api_definition":{"name":"Access %d","api_id":"access-%d","active":true,"use_standard_auth":true,"proxy":{"listen_path":"/access-%d/","target_url":"http://access.example"}}}`, n, n, n)})
	if a.status != http.StatusOK {
		t.Fatal(a)
	}
	path["product_id"] = s.add(t, "/products", fmt.Sprintf(`{"Name":"Access %d","ProviderID":%s,"APIDetails":[{"APIID":"access-%d"}]}`, n, path["provider_id"], n))
	path["app_id"] = s.add(t, "/apps", till(n, ""))
	return path
}

func orders(_ *service, path map[string]string) []string {
	return []string{
		fmt.Sprintf(`{"PlanID":%s,"ProductIDs":[%s]}`, path["plan_id"], path["product_id"]),
		fmt.Sprintf(`{"PlanID":"%s","ProductIDs":"%s","CatalogueID":1,"DCRTemplateID":null}`, path["plan_id"], path["product_id"]),
	}
}

// customs returns custom credentials of each form that needs no identity provider.
func customs(s *service, path map[string]string) []string {
	managed := fmt.Sprintf(`"Type":"CREDENTIAL_TYPE_TYK_MANAGED","PlanID":%s,"ProductIDs":[%s]`, path["plan_id"], path["product_id"])
	return []string{
		`{"Alias":"Drawn",` + managed + `,"AuthenticationMethod":"authToken","AuthTokenType":"AUTH_TOKEN_STANDARD"}`,
		fmt.Sprintf(`{"Alias":"Chosen",%s,"AuthTokenType":"AUTH_TOKEN_TYPE_CUSTOM","KeyID":"chosen-%d"}`, managed, s.next()),
		`{"Alias":"Elsewhere","Type":"CREDENTIAL_TYPE_CUSTOM","AuthenticationMethod":"basic","CredentialKey":"ada","CredentialSecret":"hush"}`,
	}
}

// given makes an app with a custom credential.
func given(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := wanting(t, s)
	path["credential_id"] = s.add(t, placed("/apps/{app_id}/custom_credentials", path), customs(s, path)[1])
	return path
}

// requested makes an access request.
func requested(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := wanting(t, s)
	s.do(t, "/apps/"+path["app_id"]+"/provision", fmt.Sprintf(`{"PlanID":%s,"ProductIDs":[%s],"CatalogueID":1}`, path["plan_id"], path["product_id"]))
	path["access_request_id"] = s.newest(t, "/access_requests")
	return path
}

// approved creates an access request with a credential.
func approved(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := requested(t, s)
	s.do(t, "/access_requests/"+path["access_request_id"]+"/approve", "")
	path["credential_id"] = s.newest(t, placed("/apps/{app_id}/access-requests/{access_request_id}/credentials", path))
	return path
}

// paired creates an access request for two products with a credential.
func paired(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := wanting(t, s)
	n := s.next()
	a := s.ask(t, request{method: "POST", path: "/api/apis", as: admin, body: fmt.Appendf(nil,
		`{"api_definition":{"name":"Paired %d","api_id":"paired-%d","active":true,"use_standard_auth":true,"proxy":{"listen_path":"/paired-%d/","target_url":"http://access.example"}}}`, n, n, n)})
	if a.status != http.StatusOK {
		t.Fatal(a)
	}
	second := s.add(t, "/products", fmt.Sprintf(`{"Name":"Paired %d","ProviderID":%s,"APIDetails":[{"APIID":"paired-%d"}]}`, n, path["provider_id"], n))
	s.do(t, "/apps/"+path["app_id"]+"/provision", fmt.Sprintf(`{"PlanID":%s,"ProductIDs":[%s,%s]}`, path["plan_id"], path["product_id"], second))
	path["access_request_id"] = s.newest(t, "/access_requests")
	s.do(t, "/access_requests/"+path["access_request_id"]+"/approve", "")
	path["credential_id"] = s.newest(t, placed("/apps/{app_id}/access-requests/{access_request_id}/credentials", path))
	return path
}

// certified creates an access request with a credential that has a certificate.
func certified(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := limits(t, s)
	n := s.next()
	a := s.ask(t, request{method: "POST", path: "/api/apis", as: admin, body: fmt.Appendf(nil,
		`{"api_definition":{"name":"Certified %d","api_id":"certified-%d","active":true,"use_standard_auth":true,"use_mutual_tls_auth":true,"proxy":{"listen_path":"/certified-%d/","target_url":"http://access.example"}}}`, n, n, n)})
	if a.status != http.StatusOK {
		t.Fatal(a)
	}
	product := s.add(t, "/products", fmt.Sprintf(`{"Name":"Certified %d","ProviderID":%s,"APIDetails":[{"APIID":"certified-%d"}],"BindCertificateToToken":true}`, n, path["provider_id"], n))
	path["app_id"] = s.add(t, "/apps", till(n, ""))
	s.do(t, "/apps/"+path["app_id"]+"/provision", fmt.Sprintf(`{"PlanID":%s,"ProductIDs":[%s],"Certificate":%s}`, path["plan_id"], product, strconv.Quote(freshPEM())))
	path["access_request_id"] = s.newest(t, "/access_requests")
	s.do(t, "/access_requests/"+path["access_request_id"]+"/approve", "")
	path["credential_id"] = s.newest(t, placed("/apps/{app_id}/access-requests/{access_request_id}/credentials", path))
	return path
}

// managed uploads a certificate that administrators manage.
func managed(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := inPortal("provider_id", "/providers", connected)(t, s)
	path["certificate_id"] = s.add(t, "/certificates", manages(s, path)[0])
	return path
}

func manages(_ *service, path map[string]string) []string {
	return []string{
		fmt.Sprintf(`{"ProviderID":%s,"Certificate":%s}`, path["provider_id"], strconv.Quote(freshPEM())),
		fmt.Sprintf(`{"Name":"Till","ProviderID":"%s","Organisations":["1"],"Certificate":%s}`, path["provider_id"], strconv.Quote(freshPEM())),
	}
}

// do runs an action of the portal.
func (s *service) do(t testing.TB, path, body string) {
	t.Helper()
	if a := s.ask(t, request{method: "PUT", path: "/portal-api" + path, as: s.portalAdmin(t), body: []byte(body)}); a.status != http.StatusOK {
		t.Fatalf("%s was answered %s", path, a)
	}
}

// newest returns the number of the first record of a list.
func (s *service) newest(t testing.TB, path string) string {
	t.Helper()
	a := s.ask(t, request{method: "GET", path: "/portal-api" + path, as: s.portalAdmin(t)})
	var list []struct{ ID json.Number }
	if err := json.Unmarshal(a.body, &list); err != nil || len(list) == 0 {
		t.Fatalf("%s was answered %s", path, a)
	}
	return list[0].ID.String()
}

// resting stores a saga that waits for an admin.
func resting(t testing.TB, s *service) map[string]string {
	t.Helper()
	s.portalAdmin(t)
	now := time.Now()
	in, err := intent.Begin(fmt.Sprintf("saga-%d", s.next()), "portal:default", "portal-apps.revoke", intent.Subject{Kind: "portal-app", ID: "hash"}, intent.By{Actor: "portal-user-1"}, now).On(intent.Exhaust, now, "no dashboard answers")
	if err == nil {
		_, err = s.Store().Update(t.Context(), tenant.Everyone("test"), func(w store.Writer) error {
			return intents.Registration().Untyped.Insert(t.Context(), w, in)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"operation_id": in.ID}
}

// ownPlans are the plans for users' operations on their own apps.
var ownPlans = map[string]plan{
	"portal-own-apps.list":      {path: tilled, query: portalLists},
	"portal-own-apps.create":    {path: visiting, bodies: fresh(ownTill)},
	"portal-own-apps.get":       {path: ordered},
	"portal-own-apps.update":    {path: tilled, bodies: fresh(ownTill)},
	"portal-own-apps.delete":    {path: ordered},
	"portal-own-apps.order":     {path: choosing, bodies: ownOrders},
	"portal-own-apps.usage":     {path: ordered, query: map[string][]string{"days": {"1", "7", "90", "x", ""}}},
	"portal-own-apps.request":   {path: ordered},
	"portal-own-apps.withdraw":  {path: ordered},
	"portal-own-apps.subscribe": {path: ordered, bodies: fixed(`{"WebhookURL":"https://shop.example.com/in","WebhookSecret":"hush","WebhookEventTypes":["order.paid"]}`, `{"WebhookURL":""}`)},
	"portal-own-apps.test":      {path: subscribed, bodies: fixed(`{}`, `{"EventType":"order.paid"}`)},
	"portal-own-apps.reveal":    {path: ordered},
	"portal-own-apps.rotate":    {path: ordered},
	"portal-own-apps.revoke":    {path: ordered},
	"portal-own-apps.drop":      {path: owning(paired)},
	"portal-own-apps.renew": {path: owning(certified), bodies: func(*service, map[string]string) []string {
		return []string{`{"Certificate":` + strconv.Quote(freshPEM()) + `}`}
	}},
	"portal-own-apps.forget": {path: owning(certified)},
}

func ownTill(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Till %d","Description":"Pays.","RedirectURLs":"https://shop.example.com/back","Visibility":"personal"}`, n)
}

// owning makes the owner of the app in another plan the caller.
func owning(made func(testing.TB, *service) map[string]string) func(testing.TB, *service) map[string]string {
	return func(t testing.TB, s *service) map[string]string {
		t.Helper()
		path := made(t, s)
		id, address := s.hire(t, "")
		s.enter(t, address)
		s.do(t, "/apps/"+path["app_id"], `{"UserID":`+id+`}`)
		return path
	}
}

var (
	tilled  = owning(func(t testing.TB, s *service) map[string]string { return inPortal("app_id", "/apps", till)(t, s) })
	ordered = owning(approved)
)

// subscribed sends the messages of an access request to a receiver.
func subscribed(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := ordered(t, s)
	s.do(t, "/apps/"+path["app_id"]+"/access-requests/"+path["access_request_id"]+"/webhook", `{"WebhookURL":"https://hooks.example.com/in","WebhookSecret":"hush","WebhookEventTypes":["order.paid"]}`)
	return path
}

// choosing creates an app of the caller, and offers a product and a plan.
func choosing(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := owning(wanting)(t, s)
	s.do(t, "/products/"+path["product_id"], `{"Catalogues":[1]}`)
	s.do(t, "/plans/"+path["plan_id"], `{"Catalogues":[1]}`)
	return path
}

func ownOrders(_ *service, path map[string]string) []string {
	return []string{
		fmt.Sprintf(`{"PlanID":%s,"ProductIDs":[%s],"CatalogueID":1}`, path["plan_id"], path["product_id"]),
		fmt.Sprintf(`{"PlanID":"%s","ProductIDs":"%s"}`, path["plan_id"], path["product_id"]),
	}
}
