package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

const (
	controlSecret = "control-secret-of-the-scenarios"
	keyPolicy     = "plan-of-keys"
)

// TestKeysSurviveKills kills the service at random moments while clients create, change,
// move and delete keys in a slow gateway. After the next start each key is in the state of
// its client's last answer or, without an answer, in the state before or after; and no key
// exists whose creation was not answered or announced to a receiver.
func TestKeysSurviveKills(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		w := newKeyWorld(t)
		s := serve(t, onSQLite(t.TempDir()).bootstrapping().with(w.env))
		w.survive(t, s.api.base, func() { s.process.Kill() }, func() { s.restart(t) })
	})
	if !long() {
		return
	}
	t.Run("postgres", func(t *testing.T) {
		w := newKeyWorld(t)
		all := launchAll(t, 2, onPostgres("", harness.Database(t)).bootstrapping().with(w.env))
		next := 0
		w.survive(t, harness.NewBalancer(t, addresses(all)...).URL(), func() { all[next%2].process.Kill() }, func() { all[next%2].restart(t); next++ })
	})
}

// keyWorld is the environment of services with keys.
type keyWorld struct {
	*keyEvents
	env     environment // how they find it
	control atomic.Pointer[http.Handler]
}

// newKeyWorld creates the address of a gateway, and a receiver.
func newKeyWorld(t *testing.T) *keyWorld {
	t.Helper()
	w := &keyWorld{keyEvents: newKeyEvents(t)}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		(*w.control.Load()).ServeHTTP(out, r)
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
	}))
	t.Cleanup(server.Close)
	away := http.NotFoundHandler()
	w.control.Store(&away)
	host, port, err := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	w.env = environment{"TYKAPI_HOST": "http://" + host, "TYKAPI_PORT": port, "TYKAPI_SECRET": controlSecret, "DELIVERIES_PAUSE": "10ms", "DELIVERIES_ALLOWEDNETWORKS": "127.0.0.1"}
	return w
}

// start starts the gateway, and waits until it has loaded the policy of the keys.
func (world *keyWorld) start(t *testing.T, base string) *gatewaysim.Gateway {
	t.Helper()
	g := gatewaysim.New(gatewaysim.Config{
		DashboardURL: base, NodeSecret: nodeSecret, Hostname: "keys", Secret: controlSecret, PlainKeys: true, Store: &gatewaysim.Store{}, Intervals: haste,
	})
	if err := g.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Kill)
	waitFor(t, g, "policy of keys", func(s gatewaysim.State) bool { return s.Ready && len(s.Policies) > 0 })
	control := g.Handler()
	world.control.Store(&control)
	return g
}

// keyEvents is a receiver of events about keys: it records created ones.
type keyEvents struct {
	server *httptest.Server
	mu     sync.Mutex
	made   map[string]bool // by alias
}

func newKeyEvents(t *testing.T) *keyEvents {
	e := &keyEvents{made: map[string]bool{}}
	e.server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var event struct {
			Message struct{ Action, Alias string }
		}
		if err == nil && json.Unmarshal(body, &event) == nil && event.Message.Action == "created" {
			e.mu.Lock()
			e.made[event.Message.Alias] = true
			e.mu.Unlock()
		}
	}))
	t.Cleanup(e.server.Close)
	return e
}

func (e *keyEvents) heard(alias string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.made[alias]
}

// heldKey is a key in its client's view. Its alias is fixed; its only tag is its version.
type heldKey struct {
	alias, id, certificate string
	versions               []string // possible versions: one, if the client got an answer
	gone, maybe, fresh     bool     // certainly deleted; possibly deleted; creation without an answer
}

// keyWriter is a client that makes one call after the other.
type keyWriter struct {
	n     int
	api   *client
	rand  *rand.Rand
	count int
	keys  []*heldKey
}

// session is what a key says.
func (k *heldKey) session(version string) object {
	s := object{"alias": k.alias, "tags": []string{version}, "apply_policies": []string{keyPolicy}}
	if k.certificate != "" {
		s["certificate"] = k.certificate
	}
	return s
}

func (w *keyWriter) fingerprint() string { return fmt.Sprintf("%s%064x", orgID, w.rand.Uint64()) }

// step makes a random call, and returns the error of an interrupted one.
func (w *keyWriter) step(ctx context.Context) error {
	w.count++
	version := fmt.Sprint("v", w.count)
	live := slices.DeleteFunc(slices.Clone(w.keys), func(k *heldKey) bool { return k.gone })
	var made struct {
		ID string `json:"key_id"`
	}
	if len(live) == 0 || w.rand.IntN(3) == 0 {
		k := &heldKey{alias: fmt.Sprintf("key-%d-%d", w.n, w.count), versions: []string{version}, maybe: true, fresh: true}
		if w.rand.IntN(2) == 0 {
			k.certificate = w.fingerprint()
		}
		w.keys = append(w.keys, k)
		err := w.api.call(ctx, http.MethodPost, "/api/keys", k.session(version), &made)
		if err == nil {
			k.id, k.maybe, k.fresh = made.ID, false, false
		}
		return err
	}
	k := live[w.rand.IntN(len(live))]
	if w.rand.IntN(3) == 0 {
		k.maybe = true
		err := w.api.call(ctx, http.MethodDelete, "/api/keys/"+k.id, nil, nil)
		if err == nil {
			k.gone = true
		}
		return err
	}
	if k.certificate != "" && w.rand.IntN(2) == 0 {
		k.certificate = w.fingerprint()
	}
	k.versions = append(k.versions, version)
	err := w.api.call(ctx, http.MethodPut, "/api/keys/"+k.id, k.session(version), &made)
	if err == nil {
		k.id, k.versions = made.ID, []string{version}
	}
	return err
}

// survive lets clients write until the service is killed, restarts it, and checks the keys.
func (world *keyWorld) survive(t *testing.T, base string, kill, start func()) {
	kills := 5
	if long() {
		kills = 50
	}
	r, admin, api := random(t), newClient(base, "Admin-Auth", adminSecret), newClient(base, "Authorization", accessKey)
	admin.do(t, http.MethodPut, "/admin/organisations/"+orgID, object{"id": orgID, "owner_name": "keys", "event_options": object{"key_event": object{"webhook": world.server.URL}}})
	api.do(t, http.MethodPost, "/api/portal/policies", object{"id": keyPolicy, "name": keyPolicy, "rate": 10, "per": 1, "access_rights": object{"orders": object{}}})
	g := world.start(t, base)
	var writers []*keyWriter
	for n := range writerCount {
		writers = append(writers, &keyWriter{n: n, api: api, rand: rand.New(rand.NewPCG(r.Uint64(), 0))})
	}
	steps, cut := 0, 0
	for round := range kills {
		var bad problems
		var mu sync.Mutex
		var running sync.WaitGroup
		stop, end := context.WithCancel(t.Context())
		for _, w := range writers {
			running.Go(func() {
				for stop.Err() == nil {
					err := w.step(t.Context())
					mu.Lock()
					steps++
					mu.Unlock()
					if errors.Is(err, errCutOff) || statusOf(err) == http.StatusBadGateway { // as reported by the balancer
						mu.Lock()
						cut++
						mu.Unlock()
						return
					}
					if err != nil {
						bad.add(err)
						return
					}
				}
			})
		}
		time.Sleep(100*time.Millisecond + time.Duration(r.IntN(600))*time.Millisecond)
		kill()
		end()
		running.Wait()
		bad.report(t)
		start()
		until(t, 2*time.Minute, "no open intent", func() error {
			var open struct{ Intents []object }
			err := api.call(t.Context(), http.MethodGet, "/api/gateway/intents?p=-1", nil, &open)
			if err == nil && len(open.Intents) > 0 {
				err = fmt.Errorf("%d are open: %v", len(open.Intents), open.Intents[0])
			}
			return err
		})
		inspect(t, api, writers, world.keyEvents)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	if len(g.ControlCalls()) == 0 {
		t.Error("the gateway was never asked")
	}
	if cut < kills {
		t.Errorf("%d calls were cut off by %d kills", cut, kills)
	}
	t.Logf("%d kills, %d writes, %d of them cut off", kills, steps, cut)
}

// inspect compares the existing keys with the clients' views, and updates the views.
func inspect(t *testing.T, api *client, writers []*keyWriter, heard *keyEvents) {
	t.Helper()
	type found struct {
		ID      string `json:"key_id"`
		Session struct {
			Alias, Certificate string
			Tags               []string
		} `json:"data"`
	}
	var all struct{ Keys []found }
	if err := api.call(t.Context(), http.MethodGet, "/api/keys/detailed?p=-1", nil, &all); err != nil {
		t.Fatal(err)
	}
	there := map[string][]found{}
	for _, k := range all.Keys {
		there[k.Session.Alias] = append(there[k.Session.Alias], k)
	}
	for _, w := range writers {
		for _, k := range w.keys {
			have := there[k.alias]
			delete(there, k.alias)
			switch {
			case len(have) > 1:
				t.Errorf("%s is there %d times", k.alias, len(have))
			case len(have) == 0 && !k.gone && !k.maybe:
				t.Errorf("%s is lost", k.alias)
			case len(have) == 0:
				k.gone = true
			case k.gone:
				t.Errorf("%s is back", k.alias)
			case k.fresh && !toldOfMaking(heard, k.alias):
				t.Errorf("%s is there, and no one was told of it", k.alias)
			case len(have[0].Session.Tags) != 1 || !slices.Contains(k.versions, have[0].Session.Tags[0]):
				t.Errorf("%s has the versions %q, want one of %q", k.alias, have[0].Session.Tags, k.versions)
			default:
				k.id, k.certificate, k.versions, k.maybe, k.fresh = have[0].ID, have[0].Session.Certificate, have[0].Session.Tags, false, false
			}
		}
	}
	for alias := range there {
		t.Errorf("%s belongs to no client", alias)
	}
}

// toldOfMaking waits a moment for the event of a creation.
func toldOfMaking(heard *keyEvents, alias string) bool {
	for range 300 {
		if heard.heard(alias) {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}
