package portal_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/files/folder"
	"github.com/gatehouse-io/gatehouse/adapters/render"
	pages "github.com/gatehouse-io/gatehouse/adapters/web/portal"
	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
)

// world is a portal with its pages, and a browser without scripts.
type world struct {
	t      testing.TB
	server *httptest.Server
	app    *app.App
	token  string // of the first admin
	log    *bytes.Buffer
	client *http.Client
	files  string // where contents are kept
}

func newWorld(t testing.TB) *world { return newWorldWith(t, func(*app.Portal) {}) }

func newWorldWith(t testing.TB, change func(*app.Portal)) *world {
	t.Helper()
	w := unbegun(t, change)
	var answer struct {
		Data struct {
			Token string `json:"api_token"`
		} `json:"data"`
	}
	must(t, json.Unmarshal(w.api("POST", "/portal-api/bootstrap", `{"username":"admin@example.com","password":"secret"}`), &answer))
	w.token = answer.Data.Token
	return w
}

// unbegun is a world whose portal has no admin.
func unbegun(t testing.TB, change func(*app.Portal)) *world {
	t.Helper()
	keys, err := crypto.NewKeys("a secret of the test")
	must(t, err)
	w := &world{t: t, log: &bytes.Buffer{}, files: t.TempDir()}
	log := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelError}))
	p := app.Portal{
		Shared: true, Local: []string{"http://localhost:3000"}, SigningKey: "a signing key", Live: live.Settings{Delay: -1}, Themes: themes.Settings{Engine: render.Engine{}}, MaxUpload: 1 << 20, Files: folder.New(w.files),
		Pages: fronted(func(c *pages.Config) { c.Log = log }),
	}
	change(&p)
	a, err := app.New(app.WithLogger(slog.New(slog.DiscardHandler)), app.WithKeys(keys), app.WithPasswords(crypto.Passwords{Iterations: 1}), app.WithAudit(audit.Settings{Signer: keys}), app.WithPortal(p))
	must(t, err)
	w.server, w.app = httptest.NewServer(a), a
	t.Cleanup(w.server.Close)
	w.fresh()
	return w
}

// fronted serves the pages of the portal with a changed configuration.
func fronted(change func(*pages.Config)) func(app.Pages) func(http.Handler) http.Handler {
	return func(p app.Pages) func(http.Handler) http.Handler {
		c := pages.Config{Engine: render.Engine{}, YAML: yaml.Codec{}, Theme: p.Theme, Standard: themes.Standard(), Bootstrapped: p.Bootstrapped, Alone: true, Room: p.Room, Visitor: p.Visitor, Log: p.Log}
		change(&c)
		return pages.Front(c)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fresh switches to a new browser.
func (w *world) fresh() {
	jar, err := cookiejar.New(nil)
	must(w.t, err)
	w.client = &http.Client{Jar: jar}
}

// api calls the API as the admin.
func (w *world) api(method, path, body string) []byte {
	w.t.Helper()
	return w.with(w.token, method, path, body)
}

// with calls the API with another token.
func (w *world) with(token, method, path, body string) []byte {
	w.t.Helper()
	req, err := http.NewRequest(method, w.server.URL+path, strings.NewReader(body))
	must(w.t, err)
	req.Header.Set("Authorization", token)
	return w.answered(req)
}

func (w *world) answered(req *http.Request) []byte {
	w.t.Helper()
	resp, err := http.DefaultClient.Do(req)
	must(w.t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	must(w.t, err)
	if resp.StatusCode >= 300 {
		w.t.Fatal(req.Method, req.URL, resp.StatusCode, string(text))
	}
	return text
}

// upload sends a file to the API.
func (w *world) upload(method, path, name string, data []byte) {
	w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	must(w.t, err)
	_, _ = part.Write(data)
	must(w.t, form.Close())
	req, err := http.NewRequest(method, w.server.URL+path, &body)
	must(w.t, err)
	req.Header.Set("Authorization", w.token)
	req.Header.Set("Content-Type", form.FormDataContentType())
	w.answered(req)
}

// page is what the browser shows.
type page struct {
	status int
	path   string
	header http.Header
	text   string
}

// open opens an address, and follows redirects.
func (w *world) open(path string) page {
	w.t.Helper()
	req, err := http.NewRequest("GET", w.server.URL+path, nil)
	must(w.t, err)
	return w.shown(req)
}

func (w *world) shown(req *http.Request) page {
	w.t.Helper()
	req.Header.Set("Accept", "text/html")
	resp, err := w.client.Do(req)
	must(w.t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	must(w.t, err)
	return page{resp.StatusCode, resp.Request.URL.RequestURI(), resp.Header, string(text)}
}

var token = regexp.MustCompile(`name="csrf_token" value="([^"]*)"`)

// submit sends a form of a page, with the token of that page.
func (w *world) submit(p page, action string, fields ...string) page {
	w.t.Helper()
	form := url.Values{}
	if m := token.FindStringSubmatch(p.text); m != nil {
		form.Set("csrf_token", m[1])
	}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	req, err := http.NewRequest("POST", w.server.URL+action, strings.NewReader(form.Encode()))
	must(w.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Referer", w.server.URL+p.path)
	return w.shown(req)
}

// shows checks the status of a page, and texts on it.
func (w *world) shows(p page, status int, texts ...string) page {
	w.t.Helper()
	if p.status != status {
		w.t.Fatalf("%s: %d, want %d\n%s\n%s", p.path, p.status, status, p.text, w.log)
	}
	for _, text := range texts {
		if !strings.Contains(p.text, text) {
			w.t.Errorf("%s does not show %q:\n%s\n%s", p.path, text, p.text, w.log)
		}
	}
	return p
}
