package portal_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

// TestThemeOfApps renders a theme that uses every attribute, method and function about
// apps, carts, credentials, certificates and plans that themes know.
func TestThemeOfApps(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till", "description", "Pays")
	w.approved("1", "2", "1")
	form := w.open("/portal/catalogue-products/shipping")
	w.submit(form, "/portal/catalogue-products/shipping", "product_id", "2", "catalogue_id", "1", "plan_id", "1")
	data, err := theme.Pack(theme.Files{
		"theme.json":                         []byte(`{"name":"Ocean","version":"1","author":"ada","templates":[{"name":"Home","template":"home","layout":"portal_layout"}]}`),
		"layouts/portal_layout.tmpl":         []byte(`<body>{{yield}}</body>`),
		"layouts/portal_layout_private.tmpl": []byte(`<body>{{range GetCart req}}in cart: {{.AuthType}} {{.Catalogue.Name}} {{range .Products}}{{.Name}}{{end}} {{.Plan.DisplayName}} {{.DCREnabled}}{{end}}{{yield}}</body>`),
		"views/home.tmpl":                    []byte(`home`),
		"views/user_home.tmpl":               []byte(`{{range Clients req}}{{.ID}} {{.Name}} {{.Description}} {{.RedirectURLs}} {{.Visibility}}{{end}} name: {{GetClientName 1 req}} {{GetClientDescription 1 req}}`),
		"views/app_form_create.tmpl":         []byte(`lonely: {{.isDefaultOrgUser}} {{.error}}`),
		"views/app_form_update.tmpl": []byte(`{{.authType}} {{.currentUser.DisplayName}} {{.isDefaultOrgUser}} {{length .appCerts}} {{length .allCerts}}
{{range .allCerts}}{{.ID}}{{.Name}}{{.Fingerprint}}{{.SignatureAlgorithm}}{{.Issuer}}{{.IsValid}}{{.ValidNotBefore}}{{.ValidNotAfter}}{{.Subject}}{{end}}
{{range .app.AccessRequests}}request {{.ID}} {{.Status}} {{.UserID}} {{.ClientID}} {{.PlanID}} {{.AuthType}} {{.DCREnabled}} {{.ProvisionImmediately}} {{.CatalogueID}} {{range .Products}}{{.DisplayName}}{{end}} {{.CurrentlySubscribed}} {{.EventTypes}} {{.WebhookURL}} {{.WebhookSecret}} {{.WebhookEventTypes}} {{.CertificateID}}
plan {{.Plan.ID}} {{.Plan.Name}} {{.Plan.DisplayName}} {{.Plan.PlanName}} {{.Plan.Description}} {{.Plan.AuthType}} {{.Plan.Rate}} {{.Plan.Per}} {{.Plan.QuotaMax}} {{.Plan.QuotaRenewalRate}} {{.Plan.AutoApproveAccessRequests}} {{.Plan.FormatQuota}} {{.Plan.FormatRateLimit}}{{end}}
{{range .app.Credentials}}credential {{TypeOfCredential .}} {{.ID}} {{.Credential}} {{.CredentialHash}} {{.OAuthClientID}} {{.OAuthClientSecret}} {{.Expires}} {{.AccessRequestID}} {{.AccessRequest.Status}} {{.GrantType}} {{.ResponseType}} {{.Scope}} {{.RedirectURI}} {{.TokenEndpoints}} {{.Alias}} {{.CustomKeyID}} first {{.GetFirstAccessRequest.ID}}{{end}}`),
		"views/portal_checkout.tmpl": []byte(`{{length .cart}} {{length .apps}} {{.catalogue_count}} {{length .certs}} {{.provisioned}} {{range .templates}}{{.ID}}{{.Name}}{{.GrantType}}{{.ResponseTypes}}{{.TokenEndpointAuthMethod}}{{.OktaAppType}}{{end}} {{.credentialsVM.GetState}} {{.credentialsVM.ToJSON}} {{.isDirectCheckout}} {{.isDefaultOrgUser}}`),
		"views/analytics.tmpl":       []byte(`{{range .apps}}usage of {{.Name}}{{end}}`),
		"views/user_list.tmpl":       []byte(`{{range FilterUserInvites .users}}waits: {{.Email}}{{else}}nobody waits{{end}}`),
	})
	must(t, err)
	w.upload("POST", "/portal-api/themes/upload", "ocean.zip", data)
	w.api("PUT", "/portal-api/themes/Ocean/activate", "")
	w.shows(w.open("/portal/private/apps"), 200, "in cart: authToken Public Catalogue Shipping Gold false", "1 Till Pays", "name: Till Pays")
	w.shows(w.open("/portal/private/apps/new"), 200, "lonely: false")
	app := w.shows(w.open("/portal/private/apps/1"), 200, "authToken Ada false 0 0", "request 1 approved 2 1 2 authToken false true 1 Payments false [order.paid]", "plan 2 Open Open Open", "unlimited 10 calls / 1 second(s)", "credential authToken 1 ••••••••", "first 1")
	if strings.Contains(app.text, "&lt;no value&gt;") {
		t.Error(app.text)
	}
	w.shows(w.open("/portal/private/cart/provision"), 200, "1 1 1 0 false", "reusable", "&#34;ClientID&#34;:1", "false false")
	w.shows(w.open("/portal/private/analytics"), 200, "usage of Till")
	w.shows(w.open("/portal/private/users"), 200, "nobody waits")
	if w.log.Len() > 0 {
		t.Error(w.log)
	}
}
