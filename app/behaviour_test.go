package app_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/http/contracttest"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

func nobodyWatches() *seen { return &seen{ops: map[string][]int{}} }

// An inactive user is refused with one warning that holds the user's ID and the
// group's and nothing else about the person (docs/wire/authentication.md#callers).
func TestInactiveUserWarning(t *testing.T) {
	var log apptest.Log
	a := service(t, nobodyWatches(), app.WithLogger(log.Logger()))
	group := "000000000000000000000009" // the next ID
	if code, text := fetch(t, a, "POST", "/api/usergroups", "admin", `{"name":"Pioneers","user_permissions":{"apis":"write"}}`); code != 200 || !strings.Contains(text, group) {
		t.Fatal(code, text)
	}
	if code, text := fetch(t, a, "POST", "/admin/users", "super-admin",
		`{"org_id":"org-a","first_name":"Grace","last_name":"Hopper","email_address":"grace@a.example","active":false,"group_id":"`+group+`","user_permissions":{"apis":"write"}}`); code != 200 {
		t.Fatal(code, text)
	}
	key := strings.Repeat("0", 32) // the next planned key
	log.Reset()
	if _, err := a.Do(t.Context(), "clientidps.list", &operation.Call{Token: key}); fault.KindOf(err) != fault.Unauthenticated {
		t.Fatal(err)
	}
	warnings := log.Lines("level=WARN")
	if len(warnings) != 1 || !strings.Contains(warnings[0], "group_id="+group) || !strings.Contains(warnings[0], "user_id=") {
		t.Fatalf("%q", warnings)
	}
	for _, personal := range []string{"Grace", "Hopper", "grace@", key} {
		if len(log.Lines(personal)) > 0 {
			t.Errorf("the log knows %s", personal)
		}
	}
}

// Secrets never reach the log, whatever the level.
func TestSecretsStayOutOfLogs(t *testing.T) {
	var log apptest.Log
	a := service(t, nobodyWatches(), app.WithLogger(log.Logger()))
	for _, r := range [][4]string{
		{"POST", "/api/users/000000000000000000000002/actions/reset", "admin", `{"new_password":"the-new-password"}`},
		{"POST", "/api/users/000000000000000000000002/actions/reset", "admin", `{"current_password":"the-old-password","new_password":"x"}`},
		{"POST", "/admin/users", "super-admin", `{"org_id":"org-a","email_address":"s@a.example","password":"the-first-password"}`},
		{"POST", "/admin/users", "super-admin", `{"org_id":"none","email_address":"s@a.example","password":"the-first-password"}`},
		{"POST", "/system/key/quota_trigger", "node", `{"Message":"x","key":"the-plain-key","trigger_limit":1,"usage_percentage":2}`},
		{"GET", "/api/clientidps", "stranger", ""},
		{"GET", "/admin/organisations", "admin", ""},
	} {
		fetch(t, a, r[0], r[1], r[2], r[3])
	}
	secrets := []string{"the-new-password", "the-old-password", "the-first-password", "the-plain-key", adminSecret, nodeSecret}
	for _, c := range callers {
		secrets = append(secrets, strings.TrimPrefix(c[1], "Bearer "))
	}
	for _, s := range secrets {
		if lines := log.Lines(s); len(lines) > 0 {
			t.Errorf("the log knows %q: %s", s, lines[0])
		}
	}
	if len(log.Lines("audit")) == 0 {
		t.Error("no audit lines: the log was not looked at")
	}
}

// The change feed holds credentials only digested, sealed or hashed.
func TestSecretsStayOutOfTheFeed(t *testing.T) {
	a := service(t, nobodyWatches())
	fetch(t, a, "POST", "/admin/users", "super-admin", `{"org_id":"org-a","email_address":"s@a.example","password":"the-first-password"}`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changes := a.Store().(store.ChangeLog)
	head, err := changes.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range changes.Follow(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(c)
		for _, s := range []string{"the-first-password", callers["admin"][1], callers["writer"][1]} {
			if bytes.Contains(text, []byte(s)) {
				t.Errorf("commit %d holds %q", c.Rev, s)
			}
		}
		if c.Rev == head {
			break
		}
	}
}

// A user without organisation reads across organisations and writes nothing.
func TestSuperUser(t *testing.T) {
	a := service(t, nobodyWatches())
	if code, text := fetch(t, a, "POST", "/admin/users", "super-admin", `{"email_address":"root@example.com"}`); code != 200 {
		t.Fatal(code, text)
	}
	for _, who := range []string{"admin", "other"} {
		if code, text := fetch(t, a, "POST", "/api/clientidps", who, `{"client_idp_id":"same","name":"x","jwks_uri":"https://x"}`); code != 201 {
			t.Fatal(code, text)
		}
	}
	call := &operation.Call{Token: strings.Repeat("0", 32), Body: []byte(`{"name":"x","jwks_uri":"https://x"}`)}
	list, err := a.Do(t.Context(), "clientidps.list", call)
	if text := fmt.Sprint(list); err != nil || !strings.Contains(text, "org-a") || !strings.Contains(text, "org-b") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := a.Do(t.Context(), "clientidps.create", call); fault.KindOf(err) != fault.Denied {
		t.Errorf("create: %v", err)
	}
}

// verdicts is an engine that always says the same.
type verdicts struct {
	v   rules.Verdict
	err error
}

func (e verdicts) Decide(context.Context, *operation.Call) (rules.Verdict, error) { return e.v, e.err }

// Rules deny with a reason, patch the body before it is decoded, and fail closed.
func TestRulesVerdicts(t *testing.T) {
	with := func(v verdicts) *app.App {
		return service(t, nobodyWatches(), app.WithLogger(slog.New(slog.DiscardHandler)),
			app.WithRules(func(app.Tools) (rules.Engine, error) { return v, nil }))
	}
	body := `{"name":"x","jwks_uri":"https://x"}`
	if code, text := fetch(t, with(verdicts{v: rules.Verdict{Denials: []string{"a", "b"}}}), "POST", "/api/clientidps", "admin", body); code != 403 || !strings.Contains(text, `"access denied: a; b"`) {
		t.Error(code, text)
	}
	if code, text := fetch(t, with(verdicts{err: errors.New("secret detail")}), "POST", "/api/clientidps", "admin", body); code != 500 || strings.Contains(text, "secret detail") {
		t.Error(code, text)
	}
	a := with(verdicts{v: rules.Verdict{Patch: json.RawMessage(`{"name":"patched","issuer":"https://i/"}`)}})
	if code, text := fetch(t, a, "POST", "/api/clientidps", "admin", body); code != 201 {
		t.Error(code, text)
	}
	if _, text := fetch(t, a, "GET", "/api/clientidps", "admin", ""); !strings.Contains(text, `"name":"patched","issuer":"https://i/"`) {
		t.Error(text)
	}
	if code, text := fetch(t, a, "POST", "/api/clientidps", "admin", `{"NAME":"x","Name":"y","jwks_uri":"https://x"}`); code != 400 || !strings.Contains(text, "NAME must be spelled name") {
		t.Error("another spelling escapes the rules:", code, text)
	}
	if code, text := fetch(t, a, "POST", "/api/clientidps", "admin", `{"name":`); code != 400 {
		t.Error("a malformed body is still the decoder's business:", code, text)
	}
}

// TestFlushOfOthers states that rules can let users without the permission drop cached keys,
// of their own APIs only; the refusal has the two members of answers in the style of gateways.
func TestFlushOfOthers(t *testing.T) {
	a := service(t, nobodyWatches(), app.WithLogger(slog.New(slog.DiscardHandler)), app.WithDefinitions(app.Definitions{APIs: apis.Settings{Ownership: true}}),
		app.WithRules(func(app.Tools) (rules.Engine, error) { return verdicts{}, nil }))
	body := `{"api_definition":{"name":"C","api_id":"c1","use_keyless":true,"proxy":{"listen_path":"/c1/","target_url":"http://up.example/"}}}`
	if code, text := fetch(t, a, "POST", "/api/apis", "writer", body); code != 200 {
		t.Fatal(code, text)
	}
	for who, want := range map[string]string{
		"writer": `{"status":"OK","message":"success"}`,
		"reader": `{"status":"error","message":"Update not allowed, API not owned by user"}`,
	} {
		if _, text := fetch(t, a, "DELETE", "/api/cache/jwks/c1", who, ""); strings.TrimSpace(text) != want {
			t.Errorf("%s: %s, want %s", who, text, want)
		}
	}
}

// Maintenance closes the management surface and no other.
func TestMaintenance(t *testing.T) {
	a := service(t, nobodyWatches(), app.WithMaintenance())
	for path, want := range map[string]int{"/api/clientidps": 503, "/system/clientidps": 200, "/hello": 200} {
		as := "admin"
		if strings.HasPrefix(path, "/system") {
			as = "node"
		}
		if code, text := fetch(t, a, "GET", path, as, ""); code != want {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
}

// absent is a store that loses its database when it is told to.
type absent struct {
	store.Store
	reads, writes error
}

func (s *absent) View(ctx context.Context, sc tenant.Scope, fn func(store.Reader) error) error {
	if s.reads != nil {
		return s.reads
	}
	return s.Store.View(ctx, sc, fn)
}

func (s *absent) Update(ctx context.Context, sc tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	if s.writes != nil {
		return 0, s.writes
	}
	return s.Store.Update(ctx, sc, fn)
}

// While the store is away the registry answers 500, as its clients expect, and
// all others 503; both say that it is worth trying again.
func TestRegistryWithoutStore(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	st := &absent{Store: db}
	a := service(t, nobodyWatches(), app.WithStore(st), app.WithLogger(slog.New(slog.DiscardHandler)))
	h := contracttest.Wrap(t, a, describe(t, a))
	idp, hook := `{"name":"x","jwks_uri":"https://x"}`, `{"name":"x","method":"POST","target_path":"https://x"}`
	doing := map[string]string{"GET": "reading", "DELETE": "deleting"}
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/api/clientidps", idp, 500}, {"PUT", "/api/clientidps/x", idp, 500}, {"DELETE", "/api/clientidps/x", "", 500},
		{"PATCH", "/api/clientidps/x/mappings", `{}`, 500}, {"PUT", "/api/clientidps/x/mappings/y", `{}`, 500}, {"DELETE", "/api/clientidps/x/mappings/y", "", 500},
		{"GET", "/api/clientidps", "", 500}, {"POST", "/api/hooks", hook, 503}, {"GET", "/api/apis", "", 503},
	} {
		for _, lost := range []error{fmt.Errorf("dial: %w", store.ErrUnavailable), context.DeadlineExceeded} {
			st.writes, st.reads = lost, nil
			if c.method == "GET" {
				st.reads = lost
			}
			r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader(c.body))
			r.Header.Set(callers["admin"][0], callers["admin"][1])
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			away := fmt.Sprintf(`{"Status":"Error","Message":"error %s client idp","Meta":null}`, cmp.Or(doing[c.method], "saving"))
			if w.Code != c.status || w.Header().Get("Retry-After") != "1" || c.status == 500 && w.Body.String() != away {
				t.Errorf("%s %s, %v: %d %v %s", c.method, c.path, lost, w.Code, w.Header(), w.Body)
			}
		}
	}
	down := service(t, nobodyWatches(), app.WithMaintenance())
	if code, text := fetch(t, contracttest.Wrap(t, down, describe(t, down)), "GET", "/api/clientidps", "admin", ""); code != 503 {
		t.Error(code, text)
	}
}

// Two replicas that bootstrap at once make one organisation and one admin, and
// both know the key.
func TestBootstrapAtOnce(t *testing.T) {
	st, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "gatehouse.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	keys, err := crypto.NewKeys("secret")
	if err != nil {
		t.Fatal(err)
	}
	const replicas = 4
	got := make([]identity.Bootstrapped, replicas)
	var wg sync.WaitGroup
	for i := range replicas {
		a := started(t, app.WithStore(st), app.WithKeys(keys))
		wg.Go(func() {
			var err error
			if got[i], err = a.Bootstrap(t.Context(), identity.First{OrgID: "acme", Email: "me@example.com"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	created := 0
	for _, b := range got {
		if b.Created {
			created++
		}
		if b.OrgID != "acme" || b.UserID != got[0].UserID || b.AccessKey != got[0].AccessKey {
			t.Errorf("%+v, not %+v", b, got[0])
		}
	}
	if created == 0 {
		t.Error("it was not made")
	}
}

// started is a control plane whose background work runs until the test ends.
func started(t testing.TB, opts ...app.Option) *app.App {
	t.Helper()
	a, err := app.New(append([]app.Option{app.WithLogger(slog.New(slog.DiscardHandler)), app.WithPasswords(crypto.Passwords{Iterations: 2})}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := a.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := a.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return a
}

// A new encryption key takes over: the old one protects nothing any more.
func TestRekey(t *testing.T) {
	st, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "gatehouse.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	with := func(secrets ...string) *app.App {
		keys, err := crypto.NewKeys(secrets...)
		if err != nil {
			t.Fatal(err)
		}
		return started(t, app.WithStore(st), app.WithKeys(keys))
	}
	me, err := with("old").Bootstrap(t.Context(), identity.First{Email: "me@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	may := func(a *app.App) error {
		_, err := a.Do(t.Context(), "clientidps.list", &operation.Call{Token: me.AccessKey})
		return err
	}
	both := with("new", "old")
	if err := may(both); err != nil {
		t.Fatal("before:", err)
	}
	if n, err := both.Rekey(t.Context()); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := both.Rekey(t.Context()); n != 0 || err != nil {
		t.Fatal("twice:", n, err)
	}
	if err := may(with("new")); err != nil {
		t.Error("with the new key alone:", err)
	}
	if err := may(with("old")); fault.KindOf(err) != fault.Unauthenticated {
		t.Error("with the old key alone:", err)
	}
}

// paper is a sink that writes down.
type paper struct{ got chan notify.Announcement }

func (paper) Name() string { return "paper" }

func (p paper) Deliver(_ context.Context, as []notify.Announcement) error {
	for _, a := range as {
		p.got <- a
	}
	return nil
}

// Every successful write to the registry is announced once, with the identifier
// that people know; refused ones, and writes to other things, are not.
func TestAnnouncements(t *testing.T) {
	sink := paper{make(chan notify.Announcement, 100)}
	a := service(t, nobodyWatches(), app.WithSinks(sink))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := a.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Stop(context.WithoutCancel(ctx)) }()
	for _, r := range [][3]string{
		{"POST", "/api/clientidps", `{"client_idp_id":"corp","name":"x","jwks_uri":"https://x"}`},
		{"POST", "/api/clientidps", `{"client_idp_id":"corp","name":"x","jwks_uri":"https://x"}`}, // refused
		{"PUT", "/api/clientidps/corp/mappings/a", `{"scope_to_policy":{"r":"p"}}`},
		{"PATCH", "/api/clientidps/corp/mappings", `{}`},
		{"PATCH", "/api/clientidps/corp/mappings", `[]`},                                                      // refused
		{"POST", "/api/users/000000000000000000000002/actions/reset", `{"new_password":"a-long-passphrase"}`}, // something else
		{"DELETE", "/api/clientidps/corp/mappings/a", ``},
		{"PUT", "/api/clientidps/corp", `{"client_idp_id":"corp2","name":"y","jwks_uri":"https://x"}`},
		{"DELETE", "/api/clientidps/corp2", ``},
	} {
		fetch(t, a, r[0], r[1], "admin", r[2])
	}
	for _, want := range []string{"corp", "corp", "corp", "corp", "corp2", "corp2"} {
		select {
		case got := <-sink.got:
			if got.Signal.Command != "ClientIdPChanged" || got.Signal.Payload != want {
				t.Errorf("%+v, want %s", got, want)
			}
		case <-ctx.Done():
			t.Fatal("too few announcements")
		}
	}
	waitFor(t, func() bool { return a.Relays()["paper"].Lag == 0 })
	if len(sink.got) > 0 {
		t.Errorf("one too many: %+v", <-sink.got)
	}
}

// An App that has started has noted where announcements and events begin: what is written
// next is announced, even if the process dies before its background work has begun.
func TestFirstStart(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	a := service(t, nobodyWatches(), app.WithStore(db), app.WithSinks(paper{make(chan notify.Announcement, 100)}), app.WithDeliveries(delivery.Settings{Fetcher: web}))
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Stop(context.WithoutCancel(t.Context())) }()
	for _, sink := range []string{"paper", delivery.Operation} {
		if _, ok, err := db.Acquire(t.Context(), sink, "another", time.Minute); ok || err != nil {
			t.Errorf("%s: nothing has begun when the App has started; %v", sink, err)
		}
	}
}

// Nothing is announced while the program does not answer requests.
func TestServing(t *testing.T) {
	sink := paper{make(chan notify.Announcement, 100)}
	var serves atomic.Bool
	a := service(t, nobodyWatches(), app.WithClock(time.Now), app.WithSinks(sink), app.WithServing(func() error {
		if !serves.Load() {
			return errors.New("not yet")
		}
		return nil
	}))
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Stop(context.WithoutCancel(t.Context())) }()
	fetch(t, a, "POST", "/api/clientidps", "admin", `{"client_idp_id":"corp","name":"x","jwks_uri":"https://x"}`)
	waitFor(t, func() bool { return strings.Contains(a.Relays()["paper"].Error, "not yet") })
	if len(sink.got) > 0 {
		t.Errorf("announced before anything is served: %+v", <-sink.got)
	}
	serves.Store(true)
	if got := <-sink.got; got.Signal.Payload != "corp" {
		t.Errorf("announced %+v", got)
	}
}

func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within ten seconds")
		}
	}
}

// A node that called is listed, with what it fetched and whether that is current.
func TestLiveNodes(t *testing.T) {
	a := service(t, nobodyWatches(), app.WithClock(time.Now))
	_, text := fetch(t, a, "GET", "/register/node", "node", "")
	var reply struct{ Message struct{ NodeID string } }
	if err := json.Unmarshal([]byte(text), &reply); err != nil || reply.Message.NodeID == "" {
		t.Fatal(text, err)
	}
	as := func(id string) *operation.Call {
		return &operation.Call{Token: nodeSecret, Header: map[string]string{"X-Tyk-Nodeid": id, "X-Tyk-Hostname": "gw-1", "X-Tyk-Session-Id": "s"}}
	}
	for _, op := range []string{"register.ping", "system.policies", "system.apis", "system.clientidps"} {
		if _, err := a.Do(t.Context(), op, as(reply.Message.NodeID)); err != nil {
			t.Fatal(op, err)
		}
	}
	behind := func(want bool) {
		t.Helper()
		_, text := fetch(t, a, "GET", "/api/system/nodes", "reader", "")
		if !strings.Contains(text, `"hostname":"gw-1"`) || !strings.Contains(text, fmt.Sprintf(`"behind":%v}]`, want)) || strings.Contains(text, `"last_beat":null`) {
			t.Error(text)
		}
	}
	behind(false)
	fetch(t, a, "POST", "/api/clientidps", "admin", `{"name":"x","jwks_uri":"https://x"}`)
	behind(true)
	if _, err := a.Do(t.Context(), "system.node.delete", as(reply.Message.NodeID)); err != nil {
		t.Fatal(err)
	}
	if _, text := fetch(t, a, "GET", "/api/system/nodes", "reader", ""); text != `{"data":{"nodes":[],"active_node_count":0,"nodes_available":-1,"nodes_remaining":-1,"valid_until":253402300799},"nodes":[],"pages":1}` {
		t.Error(text)
	}
}

// broken is a store that is away.
type broken struct{ store.Store }

func (broken) View(context.Context, tenant.Scope, func(store.Reader) error) error {
	return fmt.Errorf("dial tcp 10.0.0.1: %w", store.ErrUnavailable)
}

// While the store is away no caller gets the driver's words.
func TestStoreAway(t *testing.T) {
	a, err := app.New(app.WithStore(broken{}), app.WithLogger(slog.New(slog.DiscardHandler)), app.WithNodeSecret(nodeSecret))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		as   string
		code int
	}{"/api/clientidps": {"admin", 500}, "/api/apis": {"admin", 503}, "/system/clientidps": {"node", 503}} {
		if code, text := fetch(t, a, "GET", path, want.as, ""); code != want.code || strings.Contains(text, "10.0.0.1") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
}

// Words in paths stand in the way of identifiers only where the compatible paths
// have them: a new operation beside an identifier belongs elsewhere.
func TestReservedWords(t *testing.T) {
	var got []string
	for _, r := range operation.ReservedWords(service(t, nobodyWatches()).Operations()) {
		got = append(got, r.Of.ID+" "+r.Word)
	}
	want := []string{"api-keys.list oas", "api-keys.list streams", "api-keys.list oauth", "api-keys.search oauth", "api-keys.delete oauth", "api-keys.get search",
		"api-keys.get oas", "api-keys.get oas", "api-keys.get oas", "api-keys.get oas", "api-keys.get oauth", "api-keys.replace oas", "api-keys.replace oauth",
		"apis.get keys", "apis.get categories", "apis.get groups", "apis.get search",
		"apis.access oas", "apis.access streams", "apis.access oauth", "apis.access.replace oas", "apis.access.replace streams",
		"apis.references oas", "apis.references streams", "apis.references oauth", "apis.url oas", "apis.url streams", "apis.url oauth",
		"certs.get details", "certs.apis dependencies", "keys.create-named preview", "keys.get detailed", "policies.get search",
		"users.get me", "users.get search"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
