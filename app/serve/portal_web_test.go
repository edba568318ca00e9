package serve

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// portalSettings returns the settings of a portal in memory.
func portalSettings(t *testing.T, mode string, environ ...string) config.Settings {
	t.Helper()
	s, report := config.Load(nil, "", []string{"SVC_DB_STORAGE_MAIN_TYPE=memory", "SVC_DB_HOMEDIR=" + t.TempDir(), "SVC_DB_SHUTDOWN_GRACEPERIOD=0s",
		"SVC_DB_LISTENPORT=0", "SVC_DB_LISTENADDRESS=127.0.0.1"}, config.Options{})
	s.Portal.Serve = mode
	more := config.LoadPortal(&s, nil, "", append(environ, "PORTAL_HOSTPORT=0"))
	if len(report.Problems)+len(more.Problems) > 0 || len(more.Warnings) > 0 {
		t.Fatalf("%+v %+v", report, more)
	}
	return s
}

// serving runs a portal while fn calls it.
func serving(t *testing.T, s config.Settings, fn func(*sockets)) {
	t.Helper()
	l, err := openSockets(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := run(ctx, s, slog.New(slog.DiscardHandler), "test", l, func() {
		defer cancel()
		fn(l)
	}); err != nil {
		t.Fatal(err)
	}
}

func askAs(t *testing.T, c *http.Client, method, url string, header map[string]string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Errorf("%s %s: %v", method, url, err)
		return &http.Response{}
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp
}

// begun bootstraps a portal.
func begun(t *testing.T, c *http.Client, at string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", at+"/portal-api/bootstrap", strings.NewReader(`{"username":"admin@example.com","password":"secret"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _ = resp.Body.Close(); resp.StatusCode != 200 {
		t.Fatal(resp.Status)
	}
}

// TestPortalSharing states which calls of other origins the settings allow, and that
// configured headers are on every response of the portal and on none of the dashboard.
func TestPortalSharing(t *testing.T) {
	type row struct {
		method, path, origin, wants string // wants: the method of a preflight request, and a header
		status                      int
		allowed                     string // origin, methods, headers, credentials and age; "" for none
	}
	on := "PORTAL_CORS_ENABLE=true"
	for name, c := range map[string]struct {
		environ []string
		rows    []row
	}{
		"off": {nil, []row{{"GET", "/live", "https://a.example", "", 200, ""}, {"OPTIONS", "/portal-api/tags", "https://a.example", "GET", 405, ""}, {"OPTIONS", "/portal-api/nothing", "https://a.example", "GET", 404, ""}}},
		"any": {[]string{on}, []row{
			{"GET", "/live", "https://a.example", "", 200, "*"}, {"GET", "/portal-api/tags", "https://a.example", "", 401, "*"}, {"GET", "/portal-api/nothing", "https://a.example", "", 404, "*"}, {"GET", "/live", "", "", 200, ""},
			{"OPTIONS", "/portal-api/tags", "https://a.example", "GET", 204, "* GET"}, {"OPTIONS", "/portal-api/tags", "https://a.example", "POST", 204, "* POST"},
			{"OPTIONS", "/portal-api/tags", "https://a.example", "DELETE", 204, ""}, {"OPTIONS", "/portal-api/tags", "https://a.example", "GET authorization", 204, ""}, {"OPTIONS", "/portal-api/tags", "https://a.example", "GET content-type", 204, ""},
			{"OPTIONS", "/portal-api/tags", "https://a.example", "", 405, "*"}}},
		"some": {[]string{on, "PORTAL_CORS_ALLOWED_ORIGINS=https://shop.example,*.shop.example", "PORTAL_CORS_ALLOWED_METHODS=GET,DELETE", "PORTAL_CORS_ALLOWED_HEADERS=Authorization,Content-Type", "PORTAL_CORS_MAX_AGE=600", "PORTAL_CORS_ALLOW_CREDENTIALS=true"}, []row{
			{"GET", "/live", "https://shop.example", "", 200, "https://shop.example true"}, {"GET", "/live", "https://a.shop.example", "", 200, "https://a.shop.example true"}, {"GET", "/live", "https://shop.example.evil", "", 200, ""}, {"GET", "/live", "https://evilshop.example", "", 200, ""},
			{"OPTIONS", "/portal-api/tags/1", "https://shop.example", "DELETE authorization,content-type", 204, "https://shop.example DELETE authorization,content-type true 600"}, {"OPTIONS", "/portal-api/tags/1", "https://shop.example", "POST", 204, ""},
			{"OPTIONS", "/portal-api/tags/1", "https://evil.example", "DELETE", 204, ""}}},
		"spelt as people do": {[]string{on, "PORTAL_CORS_ALLOWED_ORIGINS=https://shop.example/", "PORTAL_CORS_ALLOWED_METHODS=get, delete"}, []row{{"GET", "/live", "https://shop.example", "", 200, "https://shop.example"}, {"OPTIONS", "/portal-api/tags/1", "https://shop.example", "DELETE", 204, "https://shop.example DELETE"}}},
		"any, by name":       {[]string{on, "PORTAL_CORS_ALLOWED_ORIGINS=http://*,https://*"}, []row{{"GET", "/live", "https://a.example", "", 200, "https://a.example"}, {"GET", "/live", "http://b.example:8080", "", 200, "http://b.example:8080"}, {"GET", "/live", "null", "", 200, ""}}},
	} {
		for _, mode := range []string{config.PortalOwn, config.PortalShared} {
			t.Run(name+", "+mode, func(t *testing.T) {
				s := portalSettings(t, mode, append(c.environ, `PORTAL_RESPONSE_HEADERS=[{"Key":"X-Frame-Options","Value":"DENY"},{"Key":"Cache-Control","Value":"public"}]`)...)
				serving(t, s, func(l *sockets) {
					at := l.all()[len(l.all())-1].Addr().String()
					begun(t, http.DefaultClient, "http://"+at)
					for _, r := range c.rows {
						header := map[string]string{}
						if r.origin != "" {
							header["Origin"] = r.origin
						}
						method, wanted, _ := strings.Cut(r.wants, " ")
						if method != "" {
							header["Access-Control-Request-Method"] = method
						}
						if wanted != "" {
							header["Access-Control-Request-Headers"] = wanted
						}
						resp := askAs(t, http.DefaultClient, r.method, "http://"+at+r.path, header)
						var have []string
						for _, name := range []string{"Origin", "Methods", "Headers", "Credentials"} {
							if v := resp.Header.Get("Access-Control-Allow-" + name); v != "" {
								have = append(have, v)
							}
						}
						if v := resp.Header.Get("Access-Control-Max-Age"); v != "" {
							have = append(have, v)
						}
						if resp.StatusCode != r.status || strings.Join(have, " ") != r.allowed {
							t.Errorf("%+v: %d %q", r, resp.StatusCode, have)
						}
						if preflight := resp.StatusCode == 204; resp.Header.Get("X-Frame-Options") != "DENY" || !preflight && strings.HasPrefix(r.path, "/portal-api") && resp.Header.Get("Cache-Control") != "no-store" {
							t.Errorf("%+v: %v", r, resp.Header)
						}
					}
					resp := askAs(t, http.DefaultClient, "GET", "http://"+l.main.Addr().String()+"/hello", map[string]string{"Origin": "https://a.example"})
					if resp.StatusCode != 200 || resp.Header.Get("X-Frame-Options") != "" || resp.Header.Get("Access-Control-Allow-Origin") != "" {
						t.Errorf("the dashboard: %d %v", resp.StatusCode, resp.Header)
					}
				})
			})
		}
	}
}

// TestPortalTLS states which TLS versions the portal's own port supports, and which
// settings prevent the start.
func TestPortalTLS(t *testing.T) {
	cert, key := selfSigned(t)
	certificates := `PORTAL_TLS_CERTIFICATES=[{"Name":"portal","CertFile":"` + cert + `","KeyFile":"` + key + `"}]`
	client := func(version uint16) *http.Client {
		return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version}}} //nolint:gosec // a test's own certificate
	}
	for _, mode := range []string{config.PortalOwn, config.PortalAlone} {
		s := portalSettings(t, mode, "PORTAL_TLS_ENABLE=true", "PORTAL_TLS_MIN_VERSION=769", "PORTAL_TLS_MAX_VERSION=771", "PORTAL_TLS_CIPHER_SUITES=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", certificates)
		serving(t, s, func(l *sockets) {
			at := l.all()[len(l.all())-1].Addr().String()
			resp := askAs(t, client(tls.VersionTLS12), "GET", "https://"+at+"/live", nil)
			if resp.StatusCode != 200 || resp.TLS.CipherSuite != tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 {
				t.Errorf("%s: %+v", mode, resp)
			}
			begun(t, client(tls.VersionTLS12), "https://"+at)
			if page, err := client(tls.VersionTLS12).Get("https://" + at + "/sitemap.xml"); err != nil {
				t.Error(err)
			} else {
				text, _ := io.ReadAll(page.Body)
				_ = page.Body.Close()
				if !strings.Contains(string(text), "<loc>https://"+at+"/") {
					t.Errorf("%s: the sitemap leads elsewhere: %s", mode, text)
				}
			}
			for _, version := range []uint16{tls.VersionTLS11, tls.VersionTLS13} {
				r, _ := http.NewRequestWithContext(t.Context(), "GET", "https://"+at+"/live", nil)
				if resp, err := client(version).Do(r); err == nil {
					_ = resp.Body.Close()
					t.Errorf("%s: version %x is spoken", mode, version)
				}
			}
			if mode == config.PortalOwn {
				if status, _ := ask(t, l.main.Addr(), "/hello"); status != 200 {
					t.Errorf("the dashboard: %d", status)
				}
			}
		})
	}
	for setting, environ := range map[string][]string{
		"TLSConfig.Certificates": {}, "TLSConfig.Certificates: ": {`PORTAL_TLS_CERTIFICATES=[{"CertFile":"none.pem","KeyFile":"none.key"}]`},
		"TLSConfig.MaxVersion": {certificates, "PORTAL_TLS_MAX_VERSION=770"},
	} {
		if _, err := secured(portalSettings(t, config.PortalOwn, append(environ, "PORTAL_TLS_ENABLE=true")...)); err == nil || !strings.HasPrefix(err.Error(), setting) {
			t.Errorf("%s: %v", setting, err)
		}
	}
	broken := portalSettings(t, config.PortalOwn, certificates, "PORTAL_TLS_ENABLE=true")
	broken.Portal.TLS.CipherSuites = []string{"TLS_RSA_WITH_RC4_128_SHA"}
	if _, err := secured(broken); err == nil || !strings.HasPrefix(err.Error(), "TLSConfig.CipherSuites: ") {
		t.Error(err)
	}
	if out, err := secured(portalSettings(t, config.PortalShared, "PORTAL_TLS_ENABLE=true")); err != nil || out.main != nil {
		t.Errorf("on a shared listener: %v %v", out, err)
	}
}

// TestCipherSuites: the service supports only the cipher suites in its settings.
func TestCipherSuites(t *testing.T) {
	cert, key := selfSigned(t)
	at := config.TLS{Enabled: true, MinVersion: tls.VersionTLS12, Certificates: []config.Certificate{{CertFile: cert, KeyFile: key}}}
	for name, id := range map[string]uint16{"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, "TLS_RSA_WITH_AES_128_CBC_SHA256": tls.TLS_RSA_WITH_AES_128_CBC_SHA256} {
		at.CipherSuites = []string{name}
		cfg, err := serverTLS(at)
		if err != nil || !slices.Equal(cfg.CipherSuites, []uint16{id}) {
			t.Error(name, cfg, err)
		}
	}
	at.CipherSuites = []string{"TLS_UNHEARD"}
	if _, err := serverTLS(at); err == nil || !strings.HasPrefix(err.Error(), "http_server_options.ssl_ciphers: ") {
		t.Error(err)
	}
	at.CipherSuites = nil
	if cfg, err := serverTLS(at); err != nil || cfg.CipherSuites != nil {
		t.Error(cfg, err)
	}
}

// selfSigned writes a certificate and its key, and returns the paths.
func selfSigned(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, kind string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return file("portal.pem", "CERTIFICATE", der), file("portal.key", "PRIVATE KEY", text)
}

// TestOptionsOfPages: where there may be a page, OPTIONS returns the allowed methods.
func TestOptionsOfPages(t *testing.T) {
	serving(t, portalSettings(t, config.PortalOwn), func(l *sockets) {
		at := l.all()[len(l.all())-1].Addr().String()
		begun(t, http.DefaultClient, "http://"+at)
		for path, want := range map[string]string{"/": "405 GET, HEAD", "/about-us": "405 GET, HEAD", "/auth/password/login": "405 GET, HEAD, POST", "/portal/private/profile": "405 GET, HEAD, POST", "/portal-api/nothing": "404 "} {
			resp := askAs(t, http.DefaultClient, "OPTIONS", "http://"+at+path, nil)
			if have := fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Allow")); have != want {
				t.Errorf("%s: %s, want %s", path, have, want)
			}
		}
	})
}

// TestHomeOfPortal: the start page is at /, except where the console is there for
// browsers. Single sign-on redirects to the start page.
func TestHomeOfPortal(t *testing.T) {
	here := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, c := range []struct {
		mode, home string
		console    bool
	}{{config.PortalShared, "/portal", true}, {config.PortalShared, "/", false}, {config.PortalOwn, "/", true}} {
		s := portalSettings(t, c.mode, "PORTAL_API_SECRET=of brokers")
		s.Console.Enabled = c.console
		serving(t, s, func(l *sockets) {
			at := l.all()[len(l.all())-1].Addr().String()
			begun(t, http.DefaultClient, "http://"+at)
			for path, text := range map[string]string{"/admin": "text/html", "/sso?nonce=" + minted(t, at): "*/*"} {
				resp := askAs(t, here, "GET", "http://"+at+path, map[string]string{"Accept": text})
				if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != c.home {
					t.Errorf("%+v %s: %d %q", c, path, resp.StatusCode, resp.Header.Get("Location"))
				}
			}
		})
	}
}

// minted returns a nonce for the login of a developer.
func minted(t *testing.T, at string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+at+"/portal-api/sso", strings.NewReader(`{"ForSection":"portal","EmailAddress":"dev@example.com"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "of brokers")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var out struct{ Meta string }
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || out.Meta == "" {
		t.Fatal(resp.Status, err)
	}
	return url.QueryEscape(out.Meta)
}

// TestHeadersEverywhere: configured headers are on pages, their files and pictures, at
// every listener, and not on responses of the dashboard and its console.
func TestHeadersEverywhere(t *testing.T) {
	for _, mode := range []string{config.PortalOwn, config.PortalShared} {
		s := portalSettings(t, mode, `PORTAL_RESPONSE_HEADERS=[{"Key":"X-Frame-Options","Value":"SAMEORIGIN"},{"Key":"X-Site","Value":"acme"}]`, "PORTAL_CORS_ENABLE=true")
		serving(t, s, func(l *sockets) {
			at := func(method, address string) *http.Response {
				return askAs(t, http.DefaultClient, method, "http://"+address, map[string]string{"Accept": "text/html", "Origin": "https://a.example"})
			}
			portal, dashboard := l.all()[len(l.all())-1].Addr().String(), l.main.Addr().String()
			for _, path := range []string{"/portal", "/about-us", "/blog", "/auth/password/login", "/assets/portal.css", "/portal/private/apps/7", "/system/products/1/logo/a.png", "/tib/auth/a/b", "/portal/api/users/7", "/portal-api/tags", "/robots.txt", "/api/bootstrap"} {
				resp := at("GET", portal+path)
				if h := resp.Header; h.Get("X-Site") != "acme" || h.Get("X-Frame-Options") != "SAMEORIGIN" || h.Get("Access-Control-Allow-Origin") != "*" || strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors") {
					t.Errorf("%s, %s: %d %v", mode, path, resp.StatusCode, h)
				}
			}
			for _, path := range []string{"/", "/console/none.js", "/hello", "/api/apis/7", "/login", "/auth/profile/provider", "/admin/users/7", "/system/apis/7", "/register/node"} {
				if h := at("GET", dashboard+path).Header; h.Get("X-Site") != "" || h.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s, the dashboard's %s: %v", mode, path, h)
				}
			}
		})
	}
}
