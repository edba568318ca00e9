package portal_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/mail/mailtest"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// someOf returns all payloads in the long form, and otherwise some, for texts on a page that
// must be changed for each.
func someOf(all []string) (out []string) {
	if os.Getenv("GATEHOUSE_E2E_LONG") != "" {
		return all
	}
	for i := 0; i < len(all); i += 23 {
		out = append(out, all[i])
	}
	return out
}

// TestPayloadsOfCredentials: 300 payloads are names of credentials and their apps, and some are
// subjects of certificates, names of people and their organisation, values of attributes and
// requests for an organisation. The pages have no content security policy here.
func TestPayloadsOfCredentials(t *testing.T) {
	t.Parallel()
	w, all := offering(t), payloads()
	ada, eve := w.agent(), w.agent()
	ada.enter("ada@example.com", password)
	var pages []string
	for i, p := range all {
		if i%10 == 0 {
			w.api("POST", "/apps", object{"Name": line(p), "Description": p, "UserID": 2})
			pages = append(pages, fmt.Sprint("/portal/private/apps/", 4+i/10), fmt.Sprint("/portal/private/analytics?app=", 4+i/10))
		}
		w.api("POST", fmt.Sprint("/apps/", 4+i/10, "/custom_credentials"), object{"Alias": p, "Type": "CREDENTIAL_TYPE_CUSTOM", "AuthenticationMethod": "authToken", "CredentialKey": p, "ProductIDs": []int{1}, "PlanID": 2})
	}
	_, shown, _ := ada.ask("GET", "/portal/private/apps/4", nil)
	if strings.Count(shown, "pwned") < 10 {
		t.Errorf("the page of an app does not show the names of its credentials:\n%s", shown)
	}
	b := gallery(t, ada.seen(false))
	clean(b, append(pages, "/portal/private/apps", "/portal/private/cart/provision"))

	w.api("POST", "/extended_attributes/1/custom-attributes", object{"Name": "Till", "Identifier": "till", "Type": 1, "Behaviour": 2})
	w.api("POST", "/users", object{"Email": "eve@example.com", "First": "Eve", "Password": password, "Active": true})
	eve.enter("eve@example.com", password)
	other := gallery(t, eve.seen(false))
	for i, p := range someOf(all) {
		w.api("PUT", "/organisations/2", object{"Name": line(p)})
		w.api("PUT", "/users/2", object{"Last": line(p)})
		ada.post("/portal/private/profile", "/portal/private/profile", "mode", "save", "first", line(p), "last", line(p), "attribute-till", p)
		w.api("POST", "/invitations", object{"Email": fmt.Sprintf("new%d@example.com", i), "First": line(p), "Last": line(p), "OrganisationID": 2})
		clean(b, []string{"/portal/private/profile", "/portal/private/users", "/portal/private/users/invite", "/portal/private/organisation"})
		if status, _ := eve.post("/portal/private/organisation", "/portal/private/organisation", "org_name", p); status == http.StatusOK {
			clean(other, []string{"/portal/private/organisation"})
			w.api("PUT", fmt.Sprint("/organisation_requests/", w.newest("/organisation_requests"), "/reject"), nil)
		}
	}
}

// newest returns the number of the first record of a list.
func (w *world) newest(path string) string {
	w.t.Helper()
	var list []object
	must(w.t, json.Unmarshal(w.api("GET", path, nil), &list))
	return fmt.Sprint(list[0]["ID"])
}

// TestPayloadsOfCertificates: payloads are subjects and issuers of certificates.
func TestPayloadsOfCertificates(t *testing.T) {
	t.Parallel()
	w := offering(t)
	first := w.certified()
	ada := w.agent()
	ada.enter("ada@example.com", password)
	// A form may name the certificate in place of the credential, and choose an existing one.
	ada.post("/portal/private/apps/3", "/portal/private/apps/3/cert/"+first, "cert-mode", "update", "certificate", certificate(t, "second"))
	if _, page, _ := ada.ask("GET", "/portal/private/apps/3", nil); !strings.Contains(page, "second") || strings.Contains(page, first) {
		t.Fatalf("the certificate is not another one:\n%s", page)
	}
	b := gallery(t, ada.seen(false))
	for _, p := range someOf(payloads()) {
		ada.post("/portal/private/apps/3", "/portal/private/apps/3/cert/2", "cert-mode", "update", "certificate", certificate(t, p))
		if _, page, _ := ada.ask("GET", "/portal/private/apps/3", nil); !strings.Contains(page, "pwned") {
			t.Fatalf("the page does not show the certificate of %q:\n%s", p, page)
		}
		clean(b, []string{"/portal/private/apps/3"})
	}
}

// certified gives the empty app of Ada a credential that needs a certificate. It returns the
// fingerprint of the certificate.
func (w *world) certified() (fingerprint string) {
	w.t.Helper()
	text, err := json.Marshal(object{"api_definition": object{"api_id": "safe", "name": "safe", "active": true, "use_standard_auth": true, "use_mutual_tls_auth": true, "proxy": object{"listen_path": "/safe/", "target_url": "http://127.0.0.1:9/"}}})
	must(w.t, err)
	if status, answer := fetch(w.t, "POST", w.at+"/api/apis", accessKey, text); status != http.StatusOK {
		w.t.Fatal(status, answer)
	}
	w.api("POST", "/products", object{"Name": "safe", "Path": "safe", "ProviderID": 1, "Catalogues": []int{1}, "APIDetails": []object{{"APIID": "safe"}}})
	first := certificate(w.t, "first")
	w.api("PUT", "/apps/3/provision", object{"PlanID": 2, "ProductIDs": []int{2}, "CatalogueID": 1, "Certificate": first})
	block, _ := pem.Decode([]byte(first))
	return fmt.Sprintf("%x", sha256.Sum256(block.Bytes))
}

// certificate creates a certificate for a name.
func certificate(t testing.TB, name string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name, Organization: []string{name}}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestPayloadsOfWriters: admins may write HTML, so 300 payloads are in posts and blocks
// unchanged: the policy of the pages runs none of them.
func TestPayloadsOfWriters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config.PortalAlone)
	var pages []string
	for i, p := range payloads() {
		w.api("POST", "/posts", object{"Title": fmt.Sprint("Post ", i), "Lede": "x", "Content": "<p>" + p + "</p>", "Path": fmt.Sprint("post-", i), "Status": "published"})
		pages = append(pages, time.Now().UTC().Format("/blog/2006/01/02/")+fmt.Sprint("post-", i))
	}
	w.api("POST", "/pages", object{"Title": "Ours", "Path": "ours", "Status": "Published", "Template": "page"})
	var blocks []struct {
		ID, PageID int
		Name       string
	}
	must(t, json.Unmarshal(w.api("GET", "/pages/all/content-blocks?per_page=100", nil), &blocks))
	last := blocks[len(blocks)-1]
	b := gallery(t, w.agent().seen(true))
	b.Provoke()
	b.Expect("/blog/", "/x", "/frames", "ERR_", "Content Security Policy", "Refused", "javascript:", "Unsafe attempt")
	ran := func(paths []string) {
		t.Helper()
		for len(paths) > 0 {
			part := paths[:min(60, len(paths))]
			paths = paths[len(part):]
			text, err := json.Marshal(part)
			must(t, err)
			for _, what := range browser.Value[[]string](b, `(async paths => { const found = []; for (const path of paths) await new Promise(done => { const f = document.createElement('iframe'); f.onload = () => setTimeout(() => {
	try { if (f.contentWindow.pwned !== undefined) found.push(path); else if (!f.contentDocument.querySelector('main')) found.push(path + ' is no page'); } catch (e) { found.push(path + ' ' + e); } f.remove(); done(); }, 20); f.src = path; document.body.append(f); }); if (window.pwned !== undefined) found.push('the window around'); return found; })(`+string(text)+`)`) {
				t.Error("a payload has run: ", what)
			}
		}
	}
	ran(pages)
	for _, p := range someOf(payloads()) {
		w.api("PUT", fmt.Sprintf("/pages/%d/content-blocks/%d", last.PageID, last.ID), object{"Name": last.Name, "Content": "<p>" + p + "</p>"})
		ran([]string{"/ours"})
	}
}

// TestPayloadsOfSchemas: 300 payloads describe the fields of a schema, which GraphiQL shows.
func TestPayloadsOfSchemas(t *testing.T) {
	w := newWorld(t, config.PortalAlone)
	w.stock()
	var fields []object
	for i, p := range payloads() {
		fields = append(fields, object{"name": fmt.Sprint("f", i), "description": p, "args": []object{}, "type": object{"kind": "SCALAR", "name": "String"}, "isDeprecated": i%7 == 0, "deprecationReason": p})
	}
	text, err := json.Marshal(object{"data": object{"__schema": object{"queryType": object{"name": "Query"}, "directives": []object{},
		"types": []object{{"kind": "OBJECT", "name": "Query", "description": payloads()[0], "interfaces": []object{}, "fields": fields}, {"kind": "SCALAR", "name": "String", "description": payloads()[1]}}}}})
	must(t, err)
	w.upload("PUT", "/products/2/spec-details/2/graphql/schema", "schema.json", string(text))
	clean(gallery(t, w.agent().seen(false)), []string{"/portal/catalogue-products/shipping/main/docs"})
	b := w.visitor(t)
	b.Go("/portal/catalogue-products/shipping/main/docs?embed=1")
	b.Wait(`(() => { const i = document.querySelector('.graphiql-sidebar button'); i?.click(); return !!i; })()`)
	b.See("Root Types")
	b.Wait(`(() => { const a = [...document.querySelectorAll('.graphiql-doc-explorer a')].find(e => e.textContent === 'Query'); a?.click(); return !!a; })()`)
	b.Wait(`document.querySelector('.graphiql-doc-explorer').textContent.includes('f299')`)
	b.Wait(`(() => { document.querySelectorAll('.graphiql-doc-explorer button').forEach(e => { if (/deprecated/i.test(e.textContent)) e.click() }); return true; })()`)
	b.Wait(`document.querySelector('.graphiql-doc-explorer').textContent.includes('window.pwned')`)
	if found := browser.Value[[]string](b, `[...document.querySelectorAll('.graphiql-doc-explorer :is(script, iframe, object, embed, base, video, math, marquee, form, meta, link, style, img, input[autofocus]), .graphiql-doc-explorer [href^="javascript:" i]')].map(e => e.outerHTML.slice(0, 100)).concat(window.pwned === undefined ? [] : ['a payload has run'])`); len(found) > 0 {
		t.Errorf("GraphiQL makes of descriptions %q", found)
	}
}

// TestPayloadsOfMails: 300 payloads are names of people and apps in mails. The HTML of the
// mails shows them as text, in a reader without any protection.
func TestPayloadsOfMails(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t)
	w := newWorld(t, config.PortalAlone)
	at, err := url.Parse("smtp://" + server.Address())
	must(t, err)
	w.api("PUT", "/settings", object{"SMTPHost": at.Hostname(), "SMTPPort": json.Number(at.Port()), "EmailFrom": "portal@example.com"})
	all := payloads()
	for i, p := range all {
		w.api("POST", "/users", object{"Email": fmt.Sprintf("p%d@example.com", i), "First": line(p), "Last": line(p), "OrgID": 1})
	}
	mails, paths := map[string]string{}, []string{}
	for len(paths) < len(all) {
		m := server.Next(t)
		if m.To == admin {
			continue // the welcome mail of the first admin, which waits if there was no server at first
		}
		path := "/" + strings.SplitN(m.To, "@", 2)[0]
		mails[path] = htmlOf(t, m)
		if !strings.Contains(mails[path], "pwned") {
			t.Fatalf("a mail does not say the name: %s", mails[path])
		}
		paths = append(paths, path)
	}
	clean(gallery(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(rw, mails[r.URL.Path])
	})), paths)
}

// htmlOf returns the HTML part of a mail.
func htmlOf(t testing.TB, m mailtest.Mail) string {
	t.Helper()
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	must(t, err)
	for r := multipart.NewReader(strings.NewReader(m.Text), params["boundary"]); ; {
		p, err := r.NextPart()
		must(t, err)
		if strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
			text, err := io.ReadAll(p)
			must(t, err)
			return string(text)
		}
	}
}
