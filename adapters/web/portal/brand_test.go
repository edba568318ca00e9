package portal_test

import (
	"net/url"
	"strings"
	"testing"
)

// TestBrand changes the look without a theme: at once, and as a preview for admins before
// it is saved.
func TestBrand(t *testing.T) {
	w := newWorld(t)
	w.stocked()
	w.shows(w.open("/"), 200, "<title>Home · Developer portal</title>", `<link rel="canonical" href="`+w.server.URL+`/">`)
	w.api("PUT", "/portal-api/settings", `{"SiteName":"Acme <APIs>","SiteDescription":"All & more","AccentColour":"#c0392b","FontFamily":"Georgia, serif","FooterText":"© Acme","Logo":"data:image/png;base64,aGk="}`)
	home := w.shows(w.open("/"), 200, "Home · Acme &lt;APIs&gt;</title>", `content="All &amp; more"`, `src="data:image/png;base64,aGk="`, "© Acme", "--font:Georgia, serif", "--accent:#c0392b;--accent-ink:#ffffff")
	nonce := home.header.Get("Content-Security-Policy")
	nonce = nonce[strings.Index(nonce, "nonce-")+6:]
	if !strings.Contains(home.text, `<style nonce="`+nonce[:strings.Index(nonce, "'")]+`">`) {
		t.Error("the style lacks the nonce of the page")
	}
	w.shows(w.open("/portal/catalogue-products/pets"), 200, `content="Buy &amp; sell"`, `/portal/catalogue-products/pets">`)
	preview := "?preview=" + url.QueryEscape(`{"SiteName":"Tomorrow","AccentColour":"#008000"}`)
	if p := w.open("/" + preview); strings.Contains(p.text, "Tomorrow") {
		t.Error("a stranger sees a preview")
	}
	w.submit(w.open("/auth/password/login"), "/auth/password/login", "login", "admin@example.com", "password", "secret")
	for _, path := range []string{"/", "/portal/catalogue-products"} {
		w.shows(w.open(path+preview), 200, "Tomorrow</title>", "--accent:#008000", "© Acme")
	}
	w.shows(w.open("/"), 200, "Acme &lt;APIs&gt;")
	for _, wrong := range []string{`{"AccentColour":"red"}`, "{", "[]", `{"Logo":"https://evil.example/x.png"}`} {
		w.shows(w.open("/?preview="+url.QueryEscape(wrong)), 422, "invalid")
	}
	w.shows(w.open("/portal/private/profile"), 200, `<meta name="robots" content="noindex">`)
	w.api("PUT", "/portal-api/settings", `{"SecurityText":"Contact: mailto:security@example.com\n"}`)
	w.shows(w.open("/.well-known/security.txt"), 200, "Contact: mailto:security@example.com\n")
}
