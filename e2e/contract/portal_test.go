package contract_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// portalPlans are the plans for the developer portal.
var portalPlans = map[string]plan{
	"portal.bootstrap":       {bodies: fixed(firstAdmin)},
	"portal.bootstrap_older": {bodies: fixed(firstAdmin)},
	"portal.robots":          {path: opened},
	"portal.security":        {path: reachable},

	"portal-tags.list":   {path: labelled, query: portalLists},
	"portal-tags.create": {bodies: fresh(tag)},
	"portal-tags.get":    {path: inPortal("tag_id", "/tags", tag)},
	"portal-tags.update": {path: inPortal("tag_id", "/tags", tag), bodies: fresh(tag)},
	"portal-tags.delete": {path: inPortal("tag_id", "/tags", tag)},

	"portal-providers.list":            {path: opened, query: portalLists},
	"portal-providers.create":          {bodies: fresh(connected)},
	"portal-providers.get":             {path: inPortal("provider_id", "/providers", connected)},
	"portal-providers.update":          {path: inPortal("provider_id", "/providers", connected), bodies: fresh(connected)},
	"portal-providers.delete":          {path: inPortal("provider_id", "/providers", connected)},
	"portal-providers.synchronize":     {path: inPortal("provider_id", "/providers", connected)},
	"portal-providers.synchronize_all": {path: opened},
	"portal-providers.drift":           {path: inPortal("provider_id", "/providers", connected)},

	"portal-organisations.list":   {path: inPortal("organisation_id", "/organisations", company), query: portalLists},
	"portal-organisations.create": {bodies: fresh(company)},
	"portal-organisations.get":    {path: inPortal("organisation_id", "/organisations", company)},
	"portal-organisations.update": {path: inPortal("organisation_id", "/organisations", company), bodies: fresh(company)},
	"portal-organisations.delete": {path: inPortal("organisation_id", "/organisations", company)},

	"portal-teams.list":   {path: inPortal("organisation_id", "/organisations", company), query: portalLists},
	"portal-teams.create": {path: inPortal("organisation_id", "/organisations", company), bodies: fresh(company)},
	"portal-teams.get":    {path: team},
	"portal-teams.update": {path: team, bodies: fresh(company)},
	"portal-teams.delete": {path: team},

	"portal-users.list":   {path: person, query: portalLists},
	"portal-users.create": {bodies: fresh(newcomer, invited)},
	"portal-users.get":    {path: person},
	"portal-users.update": {path: person, bodies: fresh(newcomer, invited)},
	"portal-users.delete": {path: person, query: map[string][]string{"force": {"true", "false"}}},

	"portal-users.list-attributes":  {path: personWithValue, query: portalLists},
	"portal-users.get-attribute":    {path: personWithValue},
	"portal-users.update-attribute": {path: personWithValue, bodies: fixed(`{"Value":"Sales"}`)},
	"portal-users.delete-attribute": {path: personWithValue},

	"portal-extended-attributes.list":           {path: opened, query: portalLists},
	"portal-extended-attributes.get":            {path: modelOfUsers},
	"portal-extended-attributes.list-defaults":  {path: modelOfUsers, query: portalLists},
	"portal-extended-attributes.get-default":    {path: defaultAttribute},
	"portal-extended-attributes.update-default": {path: defaultAttribute, bodies: fixed(`{"AddToKeyMetadata":"true"}`)},

	"portal-custom-attributes.list":   {path: modelOfUsers, query: portalLists},
	"portal-custom-attributes.create": {path: modelOfUsers, bodies: fresh(attributed, chosen)},
	"portal-custom-attributes.get":    {path: attributeOfUsers},
	"portal-custom-attributes.update": {path: attributeOfUsers, bodies: fresh(attributed)},
	"portal-custom-attributes.delete": {path: attributeOfUsers},

	"portal-catalogues.list":   {path: inPortal("catalogue_id", "/catalogues", company), query: portalLists},
	"portal-catalogues.create": {bodies: fresh(company, visible)},
	"portal-catalogues.get":    {path: inPortal("catalogue_id", "/catalogues", company)},
	"portal-catalogues.update": {path: inPortal("catalogue_id", "/catalogues", company), bodies: fresh(company, visible)},
	"portal-catalogues.delete": {path: inPortal("catalogue_id", "/catalogues", company)},

	"portal-plans.list":   {path: limits, query: portalLists},
	"portal-plans.create": {path: inPortal("provider_id", "/providers", connected), bodies: limited},
	"portal-plans.get":    {path: limits},
	"portal-plans.update": {path: limits, bodies: limited},
	"portal-plans.delete": {path: limits},

	"portal-audiences.list":   {path: audience, query: portalLists},
	"portal-audiences.create": {path: inPortal("catalogue_id", "/catalogues", company), bodies: fixed(everybody)},
	"portal-audiences.get":    {path: audience},
	"portal-audiences.delete": {path: audience},

	"portal-products.list":              {path: offer, query: portalLists},
	"portal-products.create":            {bodies: fresh(offering, offering2)},
	"portal-products.get":               {path: offer},
	"portal-products.update":            {path: offer, bodies: fresh(offering, offering2)},
	"portal-products.delete":            {path: offer},
	"portal-products.list-tags":         {path: offer, query: portalLists},
	"portal-products.attach-tag":        {path: offer, bodies: fresh(tag)},
	"portal-products.get-tag":           {path: offerWithTag},
	"portal-products.detach-tag":        {path: offerWithTag},
	"portal-products.list-client-types": {path: offer, query: portalLists},
	"portal-products.attach-client-type": {path: offerAndType, bodies: func(_ *service, path map[string]string) []string {
		return []string{`{"ID":` + path["client_type_id"] + `}`}
	}},
	"portal-products.get-client-type":    {path: offerWithType},
	"portal-products.detach-client-type": {path: offerWithType},
	"portal-products.upload-logo":        {path: offer, bodies: fixed(picture), header: pictureForm},
	"portal-products.get-logo":           {path: offerWithPictures},
	"portal-products.delete-logo":        {path: offerWithPictures},
	"portal-products.upload-preview":     {path: offer, bodies: fixed(picture), header: pictureForm},
	"portal-products.get-preview":        {path: offerWithPictures},
	"portal-products.delete-preview":     {path: offerWithPictures},
}

// offer creates a product.
var offer = inPortal("product_id", "/products", offering)

func offering(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Docs %d","IsDocumentationOnly":true}`, n)
}

func offering2(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"All %d","IsDocumentationOnly":true,"APIDetails":[],"DisplayName":"All about it","Path":"all-%d","Catalogues":[1],"Scopes":"a,b","Feature":true,"WebhookEventTypes":["a"],"Tags":null,"Templates":[],"AuthTypeMode":"mtls_managed"}`, n, n)
}

// offerWithTag makes a product with a tag.
func offerWithTag(t testing.TB, s *service) map[string]string {
	t.Helper()
	path, name := offer(t, s), fmt.Sprintf("Loans %d", s.next())
	s.add(t, "/products/"+path["product_id"]+"/tags", `{"Name":"`+name+`"}`)
	path["tag_name"] = name
	return path
}

// offerAndType makes a product, and a client type.
func offerAndType(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := offer(t, s)
	path["client_type_id"] = clientType(t, s)["client_type_id"]
	return path
}

// offerWithType makes a product with a client type.
func offerWithType(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := offerAndType(t, s)
	s.add(t, "/products/"+path["product_id"]+"/client_types", `{"ID":`+path["client_type_id"]+`}`)
	return path
}

// picture is a form with a picture.
const picture = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"logo.gif\"\r\n\r\nGIF89a\r\n--b--\r\n"

var pictureForm = []map[string]string{{"Content-Type": "multipart/form-data; boundary=b"}}

// offerWithPictures creates a product with both pictures.
func offerWithPictures(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := offer(t, s)
	for _, which := range []string{"/logo", "/preview"} {
		a := s.ask(t, request{method: "POST", path: "/portal-api/products/" + path["product_id"] + which, as: s.portalAdmin(t), body: []byte(picture), header: pictureForm[0]})
		if a.status != http.StatusOK {
			t.Fatal(a)
		}
	}
	return path
}

// limits creates a plan, and a provider for it.
func limits(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := inPortal("provider_id", "/providers", connected)(t, s)
	path["plan_id"] = s.add(t, "/plans", limited(s, path)[0])
	return path
}

// limited returns plans of a provider.
func limited(s *service, path map[string]string) []string {
	n := s.next()
	return []string{
		fmt.Sprintf(`{"Name":"Gold %d","ProviderID":%s,"DisplayName":"Golden","Catalogues":[1],"RateLimit":100,"Per":1,"Quota":1000,"QuotaRenewalRate":3600,"KeyExpiresIn":60,"MetaData":{"tier":"gold"},"JWTScope":"gold-%d"}`, n, path["provider_id"], n),
		fmt.Sprintf(`{"Name":"Silver %d","ProviderID":"%s","UnlimitedRateLimit":"true","UnlimitedQuota":true,"PlanQuota":2,"PlanQuotaRenewalRate":-1}`, n, path["provider_id"]),
	}
}

// audience makes a catalogue with an audience.
func audience(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := inPortal("catalogue_id", "/catalogues", company)(t, s)
	path["audience_id"] = s.add(t, "/catalogues/"+path["catalogue_id"]+"/audiences", everybody)
	return path
}

// everybody is the initial team.
const everybody = `{"OrganisationID":1,"TeamID":1}`

// portalLists are values for the parameters of lists of the portal.
var portalLists = map[string][]string{"page": {"1", "2", "-1", "0", "99999999999"}, "per_page": {"1", "-1"}, "limit": {"1", "0"}, "order_by": {"Name", "created_at_desc"}, "sort": {"id"}, "keyword": {"PAY", "%"}}

const firstAdmin = `{"username":"admin@example.com","password":"a-good-password","first_name":"Ada","last_name":"Lovelace"}`

func tag(n int, _ string) string { return fmt.Sprintf(`{"Name":"Payments %d"}`, n) }

func company(n int, _ string) string { return fmt.Sprintf(`{"Name":"Acme %d"}`, n) }

// person makes a user.
var person = inPortal("user_id", "/users", newcomer)

func newcomer(n int, _ string) string {
	return fmt.Sprintf(`{"Email":"ada%d@example.com","First":"Ada"}`, n)
}

func attributed(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Department","Identifier":"department-%d","Type":1,"ValidationRegExp":"^[A-Z]"}`, n)
}

func chosen(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Colour","Identifier":"colour-%d","Description":"Which","Type":"2","Behaviour":2,"DropdownValues":["Red","Blue"],"AddToKeyMetadata":"true","ShowOnSignUp":true,"WriteOnceReadMany":true}`, n)
}

// modelOfUsers returns the model that has the attributes.
func modelOfUsers(t testing.TB, s *service) map[string]string {
	t.Helper()
	opened(t, s)
	return map[string]string{"extended_attribute_id": "1"}
}

func defaultAttribute(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := modelOfUsers(t, s)
	path["default_attribute_id"] = "3"
	return path
}

// attributeOfUsers makes an attribute.
func attributeOfUsers(t testing.TB, s *service) map[string]string {
	t.Helper()
	const all = "/portal-api/extended_attributes/1/custom-attributes"
	var made []struct{ ID json.Number }
	a := s.ask(t, request{method: "GET", path: all, as: s.portalAdmin(t), query: url.Values{"per_page": {"100"}}})
	if err := json.Unmarshal(a.body, &made); err != nil {
		t.Fatal(err, a)
	}
	for _, one := range made[:max(len(made)-50, 0)] { // at most 100 are allowed
		s.ask(t, request{method: "DELETE", path: all + "/" + one.ID.String(), as: s.portalAdmin(t)})
	}
	return below(modelOfUsers, "custom_attribute_id", "/extended_attributes/{extended_attribute_id}/custom-attributes", attributed)(t, s)
}

// personWithValue makes a user with the value of an attribute.
func personWithValue(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := map[string]string{"custom_attribute_id": attributeOfUsers(t, s)["custom_attribute_id"], "user_id": person(t, s)["user_id"]}
	a := s.ask(t, request{method: "PUT", path: placed("/portal-api/users/{user_id}/custom-attributes/{custom_attribute_id}", path), as: s.portalAdmin(t), body: []byte(`{"Value":"Engines"}`)})
	if a.status != http.StatusOK {
		t.Fatal(a)
	}
	return path
}

func invited(n int, _ string) string {
	return fmt.Sprintf(`{"Email":"grace%d@example.com","First":"Grace","Last":"Hopper","Role":"consumer-admin","Organisation":{"ID":"1"},"Teams":"1","Provider":"password","Active":"true","ResetPassword":true,"Password":"a-good-password"}`, n)
}

func visible(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Partners %d","NameWithSlug":"partners-%d","VisibilityStatus":"Public","Products":[],"Plans":null,"OrgCatalogues":[%s]}`, n, n, everybody)
}

// connected is a provider: the service itself, so that synchronisation calls no other machine.
func connected(n int, _ string) string {
	return fmt.Sprintf(`{"Name":"Dashboard %d","Type":"tyk-pro","Configuration":{"MetaData":"{\"URL\":\"%s\",\"Secret\":\"%s\"}"}}`, n, ownAddress, admin)
}

// labelled makes a few tags.
func labelled(t testing.TB, s *service) map[string]string {
	t.Helper()
	for range 2 {
		inPortal("tag_id", "/tags", tag)(t, s)
	}
	return nil
}

func team(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := inPortal("organisation_id", "/organisations", company)(t, s)
	path["team_id"] = s.add(t, "/organisations/"+path["organisation_id"]+"/teams", company(s.next(), ""))
	return path
}

// opened bootstraps the portal.
func opened(t testing.TB, s *service) map[string]string {
	t.Helper()
	s.portalAdmin(t)
	return nil
}

// inPortal creates a record of the portal for the only placeholder.
func inPortal(name, path string, body func(n int, id string) string) func(testing.TB, *service) map[string]string {
	return func(t testing.TB, s *service) map[string]string {
		t.Helper()
		return map[string]string{name: s.add(t, path, body(s.next(), ""))}
	}
}

// below creates a record and another one in its path.
func below(record func(testing.TB, *service) map[string]string, name, path string, body func(n int, id string) string) func(testing.TB, *service) map[string]string {
	return func(t testing.TB, s *service) map[string]string {
		t.Helper()
		names := record(t, s)
		names[name] = s.add(t, placed(path, names), body(s.next(), ""))
		return names
	}
}

// placed returns a path with values for its placeholders.
func placed(path string, names map[string]string) string {
	for name, value := range names {
		path = strings.ReplaceAll(path, "{"+name+"}", value)
	}
	return path
}

// add creates a record of the portal and returns its ID.
func (s *service) add(t testing.TB, path, body string) string {
	t.Helper()
	a := s.ask(t, request{method: "POST", path: "/portal-api" + path, as: s.portalAdmin(t), body: []byte(body)})
	var made struct{ ID json.RawMessage } // a number, or a text
	if err := json.Unmarshal(a.body, &made); err != nil || a.status != http.StatusCreated {
		t.Fatalf("%s %s was answered %s", path, body, a)
	}
	return strings.Trim(string(made.ID), `"`)
}

// caller returns a caller who may call an operation.
func (s *service) caller(t testing.TB, o operation.Operation, p plan) caller {
	t.Helper()
	switch {
	case o.Surface == operation.Probe, o.Surface == operation.Portal && o.Public:
		return anonymous
	case o.BySession:
		return s.visitor(t)
	case o.Surface == operation.Portal && o.Brokers:
		s.portalAdmin(t)
		return portalBroker
	case o.Surface == operation.Portal:
		return s.portalAdmin(t)
	}
	return cmp.Or(p.as, admin)
}

// portalBroker is an identity broker of the portal, by its secret.
const portalBroker caller = "a secret of the brokers"

// portalAdmin returns the first admin of the portal, which is bootstrapped if necessary.
func (s *service) portalAdmin(t testing.TB) caller {
	t.Helper()
	if s.admin == "" {
		a := s.ask(t, request{method: "POST", path: "/portal-api/bootstrap", body: []byte(firstAdmin)})
		if a.status != http.StatusOK || s.admin == "" {
			t.Fatal(a)
		}
	}
	return s.admin
}

// learn stores the admin's new token from an answer, and removes a session that an answer
// ends.
func (s *service) learn(r request, a answer) {
	switch {
	case a.status != http.StatusOK:
	case r.as == s.visits && (r.path == ownPrefix+"logout" || r.path == ownPrefix+"password"):
		s.visits = ""
	case strings.HasSuffix(r.path, "/bootstrap"):
		var made struct {
			Data struct {
				Token caller `json:"api_token"`
			}
		}
		if json.Unmarshal(a.body, &made) == nil {
			s.admin = made.Data.Token
		}
	case strings.HasSuffix(r.path, "/profile/rotate-token"):
		var made struct{ JWTToken caller }
		if json.Unmarshal(a.body, &made) == nil {
			s.admin = made.JWTToken
		}
	}
}
