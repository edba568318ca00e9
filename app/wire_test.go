package app_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/gateway/local"
	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/http/contracttest"
	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/keys"
	"github.com/gatehouse-io/gatehouse/app/outbound"
	"github.com/gatehouse-io/gatehouse/app/portal/sso"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/password"
	rights "github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/rules"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var update = flag.Bool("update", false, "write the answers of transcripts as they are now; read the diff")

// Secrets of the service under test.
const (
	adminSecret  = "admin-secret"
	nodeSecret   = "node-secret"
	brokerSecret = "broker-secret"
)

// callers are the credentials that a transcript names with "as".
var callers = map[string][2]string{
	"admin":       {"Authorization", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
	"bearer":      {"Authorization", "Bearer aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
	"writer":      {"Authorization", "11111111111111111111111111111111"},
	"reader":      {"Authorization", "22222222222222222222222222222222"},
	"nobody":      {"Authorization", "33333333333333333333333333333333"},
	"inactive":    {"Authorization", "44444444444444444444444444444444"},
	"other":       {"Authorization", "55555555555555555555555555555555"},
	"newcomer":    {"Authorization", "00000000000000000000000000000000"}, // whom a transcript creates
	"stranger":    {"Authorization", "99999999999999999999999999999999"},
	"super-admin": {"Admin-Auth", adminSecret},
	"broker":      {"Admin-Auth", brokerSecret},
	"node":        {"Authorization", nodeSecret},
	// Admins of the portal.
	"portal-admin":    {"Authorization", portalToken(signingKey)},
	"portal-bearer":   {"Authorization", "Bearer " + portalToken(signingKey)},
	"portal-broker":   {"Authorization", portalSecret},
	"portal-stranger": {"Authorization", portalToken("another key")},
}

// seen notes which operations were answered how.
type seen struct {
	mu  sync.Mutex
	ops map[string][]int
}

func (s *seen) Begin(ctx context.Context, op string) (context.Context, func(int)) {
	return ctx, func(status int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ops[op] = append(s.ops[op], status)
	}
}

// service is a control plane in memory with fixed time, identifiers and users.
func service(t testing.TB, s *seen, opts ...app.Option) *app.App {
	t.Helper()
	real, err := crypto.NewKeys("a secret of the test")
	if err != nil {
		t.Fatal(err)
	}
	keys := &plannedKeys{Keys: real}
	if strings.Contains(t.Name(), "keys") { // of gateways: many are drawn
		keys.drawn = apptest.Numbered("%032x")
	}
	a, err := app.New(append([]app.Option{
		app.WithClock(apptest.Clock()), app.WithKeys(keys), app.WithIDs(apptest.Numbered("%024x"), apptest.Numbered("request-%d")), app.WithObserver(s), app.WithVersion("v0.0.0-test"),
		app.WithAdminSecret(adminSecret), app.WithBrokerSecret(brokerSecret), app.WithNodeSecret(nodeSecret), app.WithPasswords(crypto.Passwords{Iterations: 2}), app.WithPageSize(2),
		app.WithFetcher(web), app.WithExamples(examplesIndex), app.WithGateways(outbound.Gateway{URL: "http://gateway.example:8080", Trusted: true}),
		app.WithGatewayAPI(outbound.GatewayAPI{URL: "http://gateway.example:8080", Secret: "gateway-secret"}),
		app.WithDefinitions(app.Definitions{APIs: apis.Settings{Streams: true}, Hosts: servers.Config{Protocol: "http", DefaultHost: "gateway.example:8080"}}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	key := func(name string) string { return strings.TrimPrefix(callers[name][1], "Bearer ") }
	for _, f := range []identity.First{
		{OrgID: "org-a", OwnerSlug: "a", Email: "admin@a.example", AccessKey: key("admin")},
		{OrgID: "org-b", OwnerSlug: "b", Email: "admin@b.example", AccessKey: key("other")},
	} {
		if _, err := a.Bootstrap(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	for _, u := range [][3]string{
		{"writer", `{"apis":"write"}`, "true"}, {"reader", `{"apis":"read","system":"read"}`, "true"},
		{"nobody", `{"apis":"deny"}`, "true"}, {"inactive", `{"IsAdmin":"admin"}`, "false"},
	} {
		keys.next = key(u[0])
		body := fmt.Sprintf(`{"org_id":"org-a","email_address":"%s@a.example","user_permissions":%s,"active":%s}`, u[0], u[1], u[2])
		if code, text := fetch(t, a, "POST", "/admin/users", "super-admin", body); code != 200 {
			t.Fatal(code, text)
		}
	}
	return a
}

// plannedKeys gives users the access keys that transcripts know.
type plannedKeys struct {
	secret.Keys
	next  string
	drawn func() string // nil: always the same
}

func (k *plannedKeys) NewKey() string {
	if k.next == "" && k.drawn != nil {
		return k.drawn()
	}
	if k.next == "" {
		return "00000000000000000000000000000000"
	}
	defer func() { k.next = "" }()
	return k.next
}

// random matches what differs from run to run.
var random = regexp.MustCompile(`"Nonce":"[^"]+"`)

// headers are shown in transcripts when an answer has them.
var shown = []string{"Allow", "Content-Encoding", "Content-Type", "Etag", "Link", "Location", "Pragma", "Retry-After", "X-Page", "X-Per-Page", "X-Request-Id", "X-Total-Count"}

// tags shows entity tags in transcripts as the number of a record, in order of
// appearance, and how often it has been written since it was made: what they really are
// depends on the time.
// What cookies carry is shown as the name of the cookie and how manieth it is.
type tags struct {
	born    []uint64
	cookies [][2]string // value and what is shown
}

// cookie matches what a cookie carries, and shownCookie what is shown of that.
var (
	cookie      = regexp.MustCompile(`^([a-z_-]+)=([^;]+)`)
	shownCookie = regexp.MustCompile(`[a-z_-]+-\d+`)
)

// proof matches what proves calls of the portal, which is shown as cookies are.
var proof = regexp.MustCompile(`"CSRFToken": "([^"]+)"`)

// begun matches the state of a login at an identity provider, which is shown as cookies are.
var begun = regexp.MustCompile(`state=[A-Za-z0-9_-]{43}`)

// minted matches a nonce for a browser, which is shown as cookies are.
var minted = regexp.MustCompile(`"SSO Nonce created",\s*"Meta":\s*"([^"]+)"`)

// set shows a cookie that is set.
func (g *tags) set(header string) string {
	return cookie.ReplaceAllStringFunc(header, func(s string) string {
		m := cookie.FindStringSubmatch(s)
		n := 1
		for _, c := range g.cookies {
			if c[0] == m[2] {
				return m[1] + "=" + c[1]
			}
			if strings.HasPrefix(c[1], m[1]+"-") {
				n++
			}
		}
		g.cookies = append(g.cookies, [2]string{m[2], fmt.Sprintf("%s-%d", m[1], n)})
		return fmt.Sprintf("%s=%s-%d", m[1], m[1], n)
	})
}

// drawnCID matches the CIDs that the service draws: they depend on how often somebody has
// looked at the clock before.
var drawnCID = regexp.MustCompile(`\b37g[0-9A-Za-z]{24}\b`)

// cids shows drawn CIDs as the manieth ones they are.
func (g *tags) cids(text string) string {
	return drawnCID.ReplaceAllStringFunc(text, func(cid string) string {
		_, shown, _ := strings.Cut(g.set("cid="+cid), "=")
		return shown
	})
}

// sent replaces what is shown of cookies and CIDs by what they carry.
func (g *tags) sent(value string) string {
	return shownCookie.ReplaceAllStringFunc(value, func(s string) string {
		for _, c := range g.cookies {
			if c[1] == s {
				return c[0]
			}
		}
		return s
	})
}

// second is how far apart the tags of two new records are: the clock ticks.
const second = 1_000_000

var (
	realTag  = regexp.MustCompile(`"(\d{16})((?:-yaml)?)"`)
	shownTag = regexp.MustCompile(`"(\d+)\.(\d+)((?:-yaml)?)"`)
)

func (g *tags) show(value string) string {
	return realTag.ReplaceAllStringFunc(value, func(s string) string {
		m := realTag.FindStringSubmatch(s)
		n, _ := strconv.ParseUint(m[1], 10, 64)
		i := slices.Index(g.born, n/second)
		if i < 0 {
			i = len(g.born)
			g.born = append(g.born, n/second)
		}
		return fmt.Sprintf("\"%d.%d%s\"", i+1, n%second, m[2])
	})
}

func (g *tags) real(value string) string {
	return shownTag.ReplaceAllStringFunc(value, func(s string) string {
		m := shownTag.FindStringSubmatch(s)
		i, _ := strconv.Atoi(m[1])
		n, _ := strconv.ParseUint(m[2], 10, 64)
		if i < 1 || i > len(g.born) {
			return s
		}
		return fmt.Sprintf("\"%d%s\"", g.born[i-1]*second+n, m[3])
	})
}

// exchange carries out one request of a transcript and shows the answer.
func exchange(t testing.TB, h http.Handler, lines []string, g *tags) string {
	t.Helper()
	method, path, _ := strings.Cut(strings.TrimPrefix(lines[0], "> "), " ")
	header, body := http.Header{}, []string{}
	for _, l := range lines[1:] {
		l = strings.TrimPrefix(l, "> ")
		if as, ok := strings.CutPrefix(l, "as "); ok {
			c, known := callers[as]
			if !known {
				t.Fatalf("no caller is called %q", as)
			}
			header.Set(c[0], c[1])
		} else if name, value, ok := strings.Cut(l, ": "); ok && len(body) == 0 && !strings.ContainsAny(name, `{}" `) {
			header.Add(name, g.sent(g.real(value)))
		} else {
			body = append(body, l)
		}
	}
	r := httptest.NewRequest(method, g.sent(path), strings.NewReader(withArchives(strings.Join(body, "\n"))))
	r.Header = header
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var b strings.Builder
	fmt.Fprintf(&b, "< %d\n", w.Code)
	for _, name := range shown {
		if v := w.Header().Get(name); v != "" {
			fmt.Fprintf(&b, "< %s: %s\n", name, begun.ReplaceAllStringFunc(g.show(v), g.set))
		}
	}
	for _, v := range w.Header()["Set-Cookie"] {
		fmt.Fprintf(&b, "< Set-Cookie: %s\n", g.set(v))
	}
	if w.Header().Get("Content-Type") == "application/zip" {
		w.Body = bytes.NewBufferString(listArchive(t, w.Body.Bytes()))
	}
	w.Body = bytes.NewBufferString(minted.ReplaceAllStringFunc(w.Body.String(), func(s string) string {
		_, nonce, _ := strings.Cut(g.set("nonce="+minted.FindStringSubmatch(s)[1]), "=")
		return `"SSO Nonce created","Meta":"` + nonce + `"`
	}))
	w.Body = bytes.NewBufferString(proof.ReplaceAllStringFunc(w.Body.String(), func(s string) string {
		_, shown, _ := strings.Cut(g.set("csrf="+proof.FindStringSubmatch(s)[1]), "=")
		return `"CSRFToken": "` + shown + `"`
	}))
	if text := g.cids(shorten(random.ReplaceAllString(strings.TrimSpace(w.Body.String()), `"Nonce":"…"`))); text != "" {
		fmt.Fprintf(&b, "< %s\n", strings.ReplaceAll(text, "\n", "\n< "))
	}
	return b.String()
}

var requestLine = regexp.MustCompile(`^> [A-Z]+ /`)

// replay runs a transcript and returns it with the answers as they are.
func replay(t testing.TB, h http.Handler, text string) string {
	var out strings.Builder
	var request []string
	g := &tags{}
	flush := func() {
		if request != nil {
			out.WriteString(strings.Join(request, "\n") + "\n" + exchange(t, h, request, g))
			request = nil
		}
	}
	for line := range strings.Lines(text) {
		switch line = strings.TrimRight(line, "\n"); {
		case requestLine.MatchString(line):
			flush()
			request = []string{line}
		case strings.HasPrefix(line, "> "):
			request = append(request, line)
		case strings.HasPrefix(line, "< "):
			flush()
		default:
			flush()
			out.WriteString(line + "\n")
		}
	}
	flush()
	return out.String()
}

// longest is how much of an answer a transcript shows.
const longest = 40_000

// shorten gives the beginning of an answer that is too long for people, such as a
// schema, and what its whole is recognised by.
func shorten(text string) string {
	if len(text) <= longest {
		return text
	}
	return fmt.Sprintf("%s … %d bytes, SHA-256 %x", text[:200], len(text), sha256.Sum256([]byte(text)))
}

// switches are what a transcript needs switched on, which the beginning of its name says.
func switches(file string) []app.Option {
	quick := session.Config{Delay: -1}
	if opts := gatewaySwitches(file); opts != nil {
		return opts
	}
	switch {
	case file == "rules-replay.txt":
		keys, _ := crypto.NewKeys("a secret of the test")
		return []app.Option{withRulesAPI, app.WithAudit(audit.Settings{Signer: keys})}
	case file == "portal/webhooks-deliveries.txt":
		return portalOptions(app.WithStore(deliveredInPortal()))
	case file == "portal/sso-logins.txt":
		return append(portalOptions(), app.WithPortal(app.Portal{Shared: true, SigningKey: signingKey, URL: "https://portal.example.com", SignOn: sso.Settings{Provider: &apptest.Vouching{}}}))
	case file == "portal/themes-closed.txt":
		return portalOptions(app.WithPortal(app.Portal{Shared: true, SigningKey: signingKey, Themes: themes.Settings{DisableUpload: true}}))
	case strings.HasPrefix(file, "portal/"):
		return portalOptions()
	case strings.HasPrefix(file, "rules"):
		return []app.Option{withRulesAPI}
	case file == "organisations-rules.txt":
		return []app.Option{app.WithRulesCheck(func(t app.Tools) rules.Checker {
			e, err := opa.New(opa.Config{Logger: t.Log}, t.Operations())
			if err != nil {
				panic(err)
			}
			return e
		})}
	case file == "sessions-limits.txt":
		quick.PerName, quick.PerAddress = 2, 4
	case file == "sessions-hidden.txt":
		quick.PerName, quick.Hidden = 1, true
	case file == "sessions-several.txt":
		return []app.Option{app.WithSessions(quick), app.WithMultiOrgUsers()}
	case file == "passwords-policy.txt":
		return []app.Option{app.WithSessions(quick), app.WithPasswordSettings(identity.PasswordSettings{First: true, History: 2,
			Policy: password.Policy{MinLength: 8, MultiCase: true, MinNumeric: 1, MinSpecial: 1, DisableSequential: true}})}
	case file == "sso.txt":
		quick.Grants = rights.Grants{Lookup: true, Defaults: access.Map{"api_assets": access.LevelRead}}
	case file == "sso-logins.txt":
		quick.Provider, quick.PublicURL = &apptest.Vouching{}, "https://dashboard.example.com"
		quick.Grants = rights.Grants{Lookup: true}
	case file == "sso-pages.txt":
		quick.LoginURL, quick.ErrorURL = "https://login.example", "https://login.example/error"
	case file == "sessions-one.txt":
		quick.One, quick.Secure = true, true
	case file == "keys-hashed.txt":
		return []app.Option{app.WithKeySettings(keys.Settings{Hashed: true, ListHashes: true, UpdateByHash: true, DeleteByHash: true, Password: password.Policy{MinLength: 8, MinNumeric: 1}})}
	case file == "keys-closed.txt":
		return []app.Option{app.WithKeySettings(keys.Settings{Hashed: true, NotByUser: true})}
	case file == "keys-master.txt":
		return []app.Option{app.WithKeySettings(keys.Settings{Master: true})}
	case file == "keys-away.txt":
		return []app.Option{app.WithGatewayControl(gateway.Control{Keys: &local.Keys{Store: gone{}}})}
	case file == "ownership-keys.txt":
		return []app.Option{app.WithDefinitions(app.Definitions{APIs: apis.Settings{Ownership: true}}), app.WithKeySettings(keys.Settings{Hashed: true, ListHashes: true, Master: true})}
	case file == "deliveries.txt":
		return []app.Option{app.WithStore(delivered())}
	case file == "gateway-away.txt":
		return []app.Option{noGateway()}
	case file == "intents.txt":
		return []app.Option{app.WithStore(intending())}
	case file == "audit.txt":
		keys, _ := crypto.NewKeys("a secret of the test")
		return []app.Option{app.WithAudit(audit.Settings{Signer: keys})}
	}
	if !strings.HasPrefix(file, "ownership-") {
		return []app.Option{app.WithSessions(quick)}
	}
	return []app.Option{app.WithDefinitions(app.Definitions{APIs: apis.Settings{Ownership: true, Streams: true}})}
}

// withTraffic is what transcripts about traffic need.
func withTraffic(t testing.TB, file string) []app.Option {
	if !strings.HasPrefix(file, "analytics") || file == "analytics-none.txt" {
		return nil
	}
	return []app.Option{app.WithAnalytics(traffic(t)), app.WithDefinitions(app.Definitions{APIs: apis.Settings{Ownership: true}})}
}

// TestWire replays every transcript against a service in memory, and validates
// every answer against the service's own description.
func TestWire(t *testing.T) {
	s := &seen{ops: map[string][]int{}}
	files, err := filepath.Glob("testdata/wire/*.txt")
	below, failed := filepath.Glob("testdata/wire/*/*.txt")
	if err != nil || failed != nil || len(files) == 0 {
		t.Fatal("no transcripts", err, failed)
	}
	for _, file := range append(files, below...) {
		name := strings.TrimPrefix(filepath.ToSlash(file), "testdata/wire/")
		t.Run(strings.TrimSuffix(name, ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			options := switches(name)
			var box *mailbox
			if name == "passwords-forgotten.txt" {
				box = newMailbox(t)
				options = []app.Option{app.WithSessions(session.Config{Delay: -1, Mail: box, PublicURL: "https://gatehouse.example"})}
			}
			if strings.HasPrefix(name, "portal/live") {
				box = newMailbox(t)
				// Work in the background looks at the clock when it likes: no minute may end by that.
				options = portalOptions(app.WithSessions(session.Config{Mail: box}), app.WithClock(apptest.ClockOf(10*time.Millisecond)))
			}
			a := service(t, s, append(options, withTraffic(t, name)...)...)
			h := contracttest.Wrap(t, a, describe(t, a))
			if box != nil { // mails are sent in the background
				running(t, a)
				h = box.before(h)
			}
			got := replay(t, h, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("differs (run with -update and read the diff):\n%s", firstDifference(string(want), got))
			}
		})
	}
	t.Run("examples", func(t *testing.T) {
		c, err := contracttest.Load(describe(t, service(t, nobodyWatches(), portalOptions()...)))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Examples(); err != nil {
			t.Error(err)
		}
	})
	t.Run("description", func(t *testing.T) { // too long for a transcript, and in docs/openapi
		a := service(t, s, portalOptions()...)
		if code, text := fetch(t, contracttest.Wrap(t, a, describe(t, a)), "GET", "/api/openapi.json", "", ""); code != 200 || !strings.HasPrefix(text, `{`) {
			t.Error(code, text)
		}
	})
	complete(t, s)
}

// complete checks that every operation has been seen to succeed and, where it
// can, to refuse.
func complete(t *testing.T, s *seen) {
	for _, o := range service(t, &seen{ops: map[string][]int{}}, portalOptions()...).Operations() {
		statuses := s.ops[o.ID]
		if !slices.ContainsFunc(statuses, func(c int) bool { return c < 300 || c == http.StatusSeeOther || c == o.Status }) {
			t.Errorf("%s: no transcript of success", o.ID)
		}
		if !o.Public && !slices.ContainsFunc(statuses, func(c int) bool { return c >= 400 }) {
			t.Errorf("%s: no transcript of a refusal", o.ID)
		}
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// fetch answers one request of a test.
func fetch(t testing.TB, h http.Handler, method, path, as, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if c, ok := callers[as]; ok {
		r.Header.Set(c[0], c[1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(bytes.TrimSpace(text))
}

// describe returns the service's own description of all surfaces, as validated. Services with
// the same operations share one: it takes long to make.
func describe(t testing.TB, a *app.App) []byte {
	t.Helper()
	var ids strings.Builder
	for _, o := range a.Operations() {
		ids.WriteString(o.ID + " ")
	}
	if text, ok := descriptions.Load(ids.String()); ok {
		return text.([]byte)
	}
	text, err := httpadapter.Document(a.Operations(), "", "v0.0.0-test")
	if err != nil {
		t.Fatal(err)
	}
	descriptions.Store(ids.String(), text)
	return text
}

var descriptions sync.Map // by the operations that they have

// gone is a store that does not answer.
type gone struct{}

func (gone) View(context.Context, tenant.Scope, func(store.Reader) error) error {
	return store.ErrUnavailable
}

func (gone) Update(context.Context, tenant.Scope, func(store.Writer) error) (store.Revision, error) {
	return 0, store.ErrUnavailable
}
