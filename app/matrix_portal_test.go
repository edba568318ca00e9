package app_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// openInPortal are the operations of the portal that anybody may call.
var openInPortal = []string{"GET /live", "GET /ready", "GET /robots.txt", "GET /.well-known/security.txt", "POST /api/bootstrap", "POST /portal-api/bootstrap",
	"GET /portal/api/site", "GET /portal/api/catalogue-products", "GET /portal/api/catalogue-products/{product_path}", "GET /portal/api/catalogue-products/{product_path}/{api_alias}/docs",
	"GET /system/products/{product_id}/{picture}/{file}",
	"GET /portal/api/content", "GET /portal/api/blog", "GET /portal/api/blog/{post_path}",
	"GET /portal/api/register", "GET /portal/api/logins", "POST /portal/api/invitation", "POST /portal/api/login", "POST /portal/api/password/forgot", "POST /portal/api/password/reset", "POST /portal/api/register", "GET /sso",
	"GET /tib/auth/{profile_id}/{provider}", "GET /tib/auth/{profile_id}/{provider}/callback"}

// What strangers and developers are answered, whatever they ask for.
const (
	strangerText  = "401 {\n\t\"errors\": [\n\t\t\"unauthorized\"\n\t]\n}"
	developerText = "403 {\n\t\"errors\": [\n\t\t\"access denied\"\n\t]\n}"
)

// gathering is a portal with people of every sort, and another portal in its store.
type gathering struct {
	t      *testing.T
	a      *app.App
	db     *memdb.DB
	tokens map[string]string // by who has it
}

func newGathering(t *testing.T) *gathering {
	t.Helper()
	db, err := memdb.New(apptest.Clock())
	if err != nil {
		t.Fatal(err)
	}
	g := &gathering{t, service(t, nobodyWatches(), append(portalOptions(), app.WithStore(db))...), db, map[string]string{}}
	other, err := app.New(app.WithStore(db), app.WithPortal(app.Portal{ID: "other", Shared: true, SigningKey: signingKey}))
	if err != nil {
		t.Fatal(err)
	}
	g.tokens["super-admin"], g.tokens["another portal"] = bootstrapPortal(t, g.a), bootstrapPortal(t, other)
	g.tokens["rotated"] = g.tokens["super-admin"]
	g.rotate("super-admin", g.send(credentials{"Authorization": g.tokens["rotated"]}, "PUT", "/portal-api/profile/rotate-token", ""))
	for name, u := range map[string]account.User{
		"provider-admin": {Role: account.ProviderAdmin, Active: true}, "inactive": {Role: account.ProviderAdmin},
		"developer": {Role: account.ConsumerAdmin, Active: true, OrganisationID: 1}, "member": {Role: account.Member, Active: true, OrganisationID: 1}, "inactive developer": {Role: account.Member, OrganisationID: 1},
	} {
		u.Email, u.Provider, u.Token = strings.ReplaceAll(name, " ", ".")+"@example.com", "password", "what the token of "+name+" says"
		g.add(u)
		g.tokens[name] = account.Sign(signingKey, u.Token)
	}
	return g
}

func bootstrapPortal(t *testing.T, a *app.App) string {
	t.Helper()
	code, text := fetch(t, a, "POST", "/portal-api/bootstrap", "", `{"username":"admin@example.com","password":"secret"}`)
	var answer struct {
		Data struct {
			Token string `json:"api_token"`
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || code != 200 {
		t.Fatal(code, text, err)
	}
	return answer.Data.Token
}

func (g *gathering) add(u account.User) {
	g.t.Helper()
	scope, err := tenant.Of("portal:default")
	if err == nil {
		_, err = g.a.Store().Update(g.t.Context(), scope, func(w store.Writer) error {
			_, err := portal.Add(context.Background(), w, people.Users, crud.Stamp{ID: u.Email, Now: time.Now}, u)
			return err
		})
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g *gathering) send(with credentials, method, path, body string) *httptest.ResponseRecorder {
	return (&estate{t: g.t, a: g.a}).send(with, method, path, body)
}

// rotate keeps the token that an answer brings.
func (g *gathering) rotate(who string, w *httptest.ResponseRecorder) {
	g.t.Helper()
	var answer struct{ JWTToken string }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.JWTToken == "" {
		g.t.Fatal(w.Code, w.Body)
	}
	g.tokens[who] = answer.JWTToken
}

// strangers are the credentials that open nothing in the portal.
func (g *gathering) strangers() map[string]credentials {
	good := g.tokens["super-admin"]
	payload := strings.Split(good, ".")[1]
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + payload + "."
	out := map[string]credentials{
		"anonymous": nil, "the token in a cookie": {"Cookie": "portal-session=" + good + "; Authorization=" + good}, "the token in another header": {"Admin-Auth": good},
		"the token as a password": {"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+good))},
	}
	for what, text := range map[string]string{
		"the key of an admin of the dashboard": callers["admin"][1], "the admin secret": adminSecret, "the node secret": nodeSecret, "the signing key": signingKey,
		"another signing key": portalToken("another key"), "no signature": none, "half a token": good[:len(good)/2], "a longer token": good + "x", "payload alone": payload,
		"rotated": g.tokens["rotated"], "another portal": g.tokens["another portal"], "inactive": g.tokens["inactive"],
	} {
		out[what], out[what+", bearer"] = credentials{"Authorization": text}, credentials{"Authorization": "Bearer " + text}
	}
	return out
}

// TestPortalAuthorisation holds every operation of the portal against the law of who may
// call it: admins whose token is the latest. Others are answered with the same text,
// whatever they ask for, whether it is there, and however bad their body is, and change
// nothing.
func TestPortalAuthorisation(t *testing.T) {
	g, cells := newGathering(t), 0
	for _, o := range g.a.Operations() {
		if o.Surface != operation.Portal {
			continue
		}
		if name := o.Method + " " + o.Path; o.Public != slices.Contains(openInPortal, name) {
			t.Errorf("%s: anybody may call it is %v, and the list of such operations says otherwise", name, o.Public)
		}
		if o.Public {
			continue
		}
		text, err := json.Marshal(o.Request)
		if err != nil {
			t.Fatal(err)
		}
		for what, with := range g.strangers() {
			cells += g.refused(o, what, with, string(text), strangerText)
		}
		if o.Brokers { // they know a secret, and tokens open nothing
			for _, who := range []string{"developer", "super-admin"} {
				cells += g.refused(o, who, credentials{"Authorization": g.tokens[who]}, string(text), strangerText)
			}
			if w := g.send(credentials{"Authorization": portalSecret}, o.Method, fillPortal(o.Path, "99999"), string(text)); w.Code == 401 || w.Code == 403 || w.Code >= 500 {
				t.Errorf("%s by a broker: %d %s", o.ID, w.Code, w.Body)
			}
			continue
		}
		cells += g.refused(o, "a broker", credentials{"Authorization": portalSecret}, string(text), strangerText)
		if o.BySession { // people call with a session, and tokens open nothing
			for _, who := range []string{"developer", "super-admin"} {
				cells += g.refused(o, who, credentials{"Authorization": g.tokens[who]}, string(text), strangerText)
			}
			continue
		}
		for _, who := range []string{"developer", "member", "inactive developer"} {
			cells += g.refused(o, who, credentials{"Authorization": g.tokens[who]}, string(text), developerText)
		}
		for _, who := range []string{"super-admin", "provider-admin"} {
			for _, scheme := range []string{"", "Bearer ", "bearer "} {
				cells++
				w := g.send(credentials{"Authorization": scheme + g.tokens[who]}, o.Method, fillPortal(o.Path, "99999"), string(text))
				if w.Code == 401 || w.Code == 403 || w.Code >= 500 {
					t.Errorf("%s by %s: %d %s", o.ID, who, w.Code, w.Body)
				}
				if o.ID == "portal.rotate" {
					g.rotate(who, w)
				}
			}
		}
	}
	if t.Logf("%d cells", cells); cells < 1000 {
		t.Errorf("%d cells, want 1000 at least", cells)
	}
}

// refused fails unless a caller is answered with a text, and returns how many calls that
// were.
func (g *gathering) refused(o operation.Operation, what string, with credentials, body, want string) (cells int) {
	g.t.Helper()
	for _, id := range []string{"1", "99999", "nothing"} {
		for _, sent := range []string{body, "{"} {
			cells++
			before, _ := g.db.Head(g.t.Context())
			w := g.send(with, o.Method, fillPortal(o.Path, id), sent)
			after, _ := g.db.Head(g.t.Context())
			if have := fmt.Sprint(w.Code, " ", w.Body); have != want || before != after {
				g.t.Errorf("%s of %s with %s: %s, and something changed: %v", o.ID, id, what, have, before != after)
			}
		}
	}
	return cells
}

// fillPortal puts an identifier into the placeholders of a path.
func fillPortal(path, id string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if _, open := operation.Placeholder(s); open {
			segments[i] = id
		}
	}
	return strings.Join(segments, "/")
}

// reaches reports whether a path is one of a row's.
func reaches(row, path string) bool {
	want, have := strings.Split(row, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return false
	}
	for i, segment := range want {
		if _, open := operation.Placeholder(segment); !open && segment != have[i] {
			return false
		}
	}
	return true
}

// TestPortalMethods states that every path of the portal answers methods that it does
// not have with 405 and those that it has, and every other path with 404, both as JSON.
func TestPortalMethods(t *testing.T) {
	g := newGathering(t)
	allowed := map[string][]string{}
	for _, o := range g.a.Operations() {
		if o.Surface == operation.Portal {
			allowed[fillPortal(o.Path, "1")] = nil
		}
	}
	for path := range allowed { // the path of one row may be that of another with a word in place of a number
		for _, o := range g.a.Operations() {
			if o.Surface != operation.Portal || !reaches(o.Path, path) {
				continue
			}
			allowed[path] = append(allowed[path], o.Method)
			if o.Method == "GET" && o.Intent == access.Read && !strings.HasPrefix(path, "/portal-api/") {
				allowed[path] = append(allowed[path], "HEAD")
			}
		}
	}
	for path, methods := range allowed {
		slices.Sort(methods)
		methods = slices.Compact(methods) // two rows may have the path under other names of placeholders
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"} {
			w := httptest.NewRecorder()
			g.a.Portal().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path+"/", nil))
			lost := !slices.Contains(methods, method)
			if method == "HEAD" {
				if lost != (w.Code == 405) || lost && w.Header().Get("Allow") != strings.Join(methods, ", ") {
					t.Errorf("HEAD %s: %d %q, want %v", path, w.Code, w.Header()["Allow"], methods)
				}
				continue
			}
			if lost && (w.Code != 405 || w.Header().Get("Allow") != strings.Join(methods, ", ") || w.Body.String() != "{\n\t\"errors\": [\n\t\t\"method not allowed\"\n\t]\n}") || !lost && w.Code == 405 {
				t.Errorf("%s %s: %d %q %s, want %v", method, path, w.Code, w.Header()["Allow"], w.Body, methods)
			}
			g.json(w, method+" "+path)
		}
		for _, beside := range []string{path + "/1/2/3/nothing", path + "x/nothing"} {
			w := httptest.NewRecorder()
			g.a.Portal().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", beside, nil))
			if w.Code != 404 || w.Body.String() != "{\n\t\"errors\": [\n\t\t\"not found\"\n\t]\n}" {
				t.Errorf("%s: %d %s", beside, w.Code, w.Body)
			}
			g.json(w, beside)
		}
	}
}

// TestPortalAccept states that no operation of the portal has an answer for who asks for
// GraphQL, not even a schema, that nothing changes, and that all other wishes are those of
// who has none.
func TestPortalAccept(t *testing.T) {
	g, cells := newGathering(t), 0
	for _, o := range g.a.Operations() {
		if o.Surface != operation.Portal {
			continue
		}
		text, err := json.Marshal(o.Request)
		if err != nil {
			t.Fatal(err)
		}
		for accept, refused := range map[string]bool{"application/graphql": true, "Application/GraphQL; q=1": true, "application/graphql, */*": false, "text/html": false, "": false} {
			cells++
			before, _ := g.db.Head(t.Context())
			w := g.send(credentials{"Accept": accept}, o.Method, fillPortal(o.Path, "99999"), string(text))
			after, _ := g.db.Head(t.Context())
			if said := w.Code == 400 && strings.Contains(w.Body.String(), "unsupported Accept header"); said != refused || refused && before != after {
				t.Errorf("%s for %q: %d %s, and something changed: %v", o.ID, accept, w.Code, w.Body, before != after)
			}
			if refused {
				g.json(w, o.ID)
			}
		}
	}
	t.Logf("%d cells", cells)
}

// json fails unless an error says that it is JSON, and that it must not be kept.
func (g *gathering) json(w *httptest.ResponseRecorder, what string) {
	g.t.Helper()
	h := w.Header()
	if w.Code >= 400 && (h.Get("Content-Type") != "application/json" || !json.Valid(w.Body.Bytes())) || h.Get("Cache-Control") != "no-store" || h.Get("Pragma") != "no-cache" || h["Set-Cookie"] != nil {
		g.t.Errorf("%s: %d %v %s", what, w.Code, h, w.Body)
	}
}
