package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/delivery"
	core "github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// openOperations are those that anybody may call.
var openOperations = []string{
	"GET /auth/{profileId}/{provider}", "GET /auth/{profileId}/{provider}/callback",
	"GET /", "GET /api/openapi.json", "GET /health", "GET /hello", "GET /login", "GET /logout", "GET /password/reset", "GET /tap", "POST /license", "POST /login", "POST /logout", "POST /password/forgot", "POST /password/reset",
}

// opens says what a call outside of /api needs (docs/wire/authentication.md#callers):
// which header, and which of the secrets of this installation. It looks at the path
// alone.
func opens(method, path string) (header string, secrets []string) {
	switch {
	case method == "POST" && path == "/admin/sso":
		return "Admin-Auth", []string{adminSecret, brokerSecret}
	case below(path, "/admin"):
		return "Admin-Auth", []string{adminSecret}
	}
	return "Authorization", []string{nodeSecret}
}

// presented is every way of presenting what somebody may know or make up.
func (e *estate) presented() map[string]credentials {
	out := map[string]credentials{"nothing": nil, "a browser": e.open}
	for what, secret := range map[string]string{
		"the admin secret": adminSecret, "the broker secret": brokerSecret, "the node secret": nodeSecret, "another secret": "wrong",
		"nearly the admin secret": adminSecret[:len(adminSecret)-1], "more than the admin secret": adminSecret + "x", "the admin secret in capitals": strings.ToUpper(adminSecret),
		"the key of an admin": e.keys["admin of a"], "the key of a super user": e.keys["super"], "the key of a service account": e.keys["program"],
	} {
		for _, header := range []string{"Admin-Auth", "Authorization", "X-Admin-Auth"} {
			out[what+" in "+header] = credentials{header: secret}
		}
		out[what+" as a bearer in Authorization"] = credentials{"Authorization": "Bearer " + secret}
		out[what+" as a bearer in Admin-Auth"] = credentials{"Admin-Auth": "Bearer " + secret}
	}
	return out
}

// placed fills the placeholders of a path outside of /api with something that is there,
// or with something that is not.
func (e *estate) placed(pattern string, there bool) string {
	e.t.Helper()
	id := "5f1a0c5d8e3b2a1fffffffff"
	for segment := range strings.SplitSeq(pattern, "/") {
		param, open := operation.Placeholder(segment)
		switch {
		case !open:
			continue
		case !there:
		case param == "orgID":
			e.n++
			w := e.send(credentials{"Admin-Auth": adminSecret}, "POST", "/admin/organisations", fmt.Sprintf(`{"owner_name":"O%d","sso_enabled":true}`, e.n))
			var answer struct{ Meta string }
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Meta == "" {
				e.t.Fatal(w.Code, w.Body)
			}
			id = answer.Meta
		case param == "deliveryID":
			e.n++
			d := core.New("org-a", "api_event", "api_event", "api_event", core.Origin{Revision: uint64(e.n)}, []byte("{}"))
			d.State, id = core.Done, d.ID
			scope, err := tenant.Of("org-a")
			if err == nil {
				_, err = e.db.Update(e.t.Context(), scope, func(w store.Writer) error {
					return delivery.Registration().Untyped.Insert(e.t.Context(), w, d)
				})
			}
			if err != nil {
				e.t.Fatal(err)
			}
		case param == "keyId":
			e.n++
			id = fmt.Sprintf("org-%d", e.n)
			if w := e.send(credentials{"Admin-Auth": adminSecret}, "POST", "/admin/org/keys", `{"org_id":"`+id+`","rate":1}`); w.Code != 200 {
				e.t.Fatal(w.Code, w.Body)
			}
		case param == "userId":
			id = e.make("a", "/api/users/{userId}", "userId")
		default:
			e.t.Fatalf("%s: say here what {%s} names", pattern, param)
		}
		pattern = strings.Replace(pattern, segment, id, 1)
	}
	return pattern
}

// TestSecrets holds every operation outside of /api against the law of who may call it.
// Who is refused gets the same answer, whatever is asked for and whether it is there,
// and changes nothing; what anybody may call is listed.
func TestSecrets(t *testing.T) {
	cells, e, refusals := 0, newEstate(t, false), map[operation.Surface][]string{}
	for _, o := range e.a.Operations() {
		if name := o.Method + " " + o.Path; o.Public != slices.Contains(openOperations, name) {
			t.Errorf("%s: anybody may call it is %v, and the list of such operations says otherwise", name, o.Public)
		}
		if o.Public || o.Surface == operation.Management {
			continue
		}
		body, err := json.Marshal(o.Request)
		if err != nil {
			t.Fatal(err)
		}
		header, secrets := opens(o.Method, o.Path)
		node := ""
		if o.Surface == operation.Node { // a node that did not register is refused like a stranger
			var answer struct{ Message struct{ NodeID string } }
			if err := json.Unmarshal(e.send(credentials{header: secrets[0]}, "GET", "/register/node", "").Body.Bytes(), &answer); err != nil || answer.Message.NodeID == "" {
				t.Fatal("no node registers:", err)
			}
			node = answer.Message.NodeID
		}
		for _, there := range []bool{true, false} {
			for what, with := range e.presented() {
				path := e.placed(o.Path, there)
				if node != "" {
					with = maps.Clone(with)
					if with == nil {
						with = credentials{}
					}
					with["X-Tyk-Nodeid"] = node
				}
				cells++
				before, _ := e.db.Head(t.Context())
				w := e.send(with, o.Method, path, string(body))
				after, _ := e.db.Head(t.Context())
				if admitted := slices.Contains(secrets, with[header]); admitted == refused(o.Surface, w) {
					t.Errorf("%s %s with %s: %d %s", o.Method, path, what, w.Code, w.Body)
				} else if !admitted && before != after {
					t.Errorf("%s %s with %s is refused and changes something", o.Method, path, what)
				} else if text := fmt.Sprint(w.Code, " ", w.Body); !admitted && !slices.Contains(refusals[o.Surface], text) {
					refusals[o.Surface] = append(refusals[o.Surface], text)
				}
			}
		}
	}
	t.Logf("%d cells", cells)
	for surface, texts := range refusals {
		if len(texts) != 1 {
			t.Errorf("the refusals of %s tell something: %q", surface, texts)
		}
	}
}

// refused reports whether an answer is that to a caller without the secret.
func refused(s operation.Surface, w *httptest.ResponseRecorder) bool {
	if s == operation.Node { // gateways take 401 for something else
		return w.Code == 403 && strings.Contains(w.Body.String(), "Not authorised")
	}
	return w.Code == 401
}
