package keys_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/gateway/local"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/keys"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// control is gateway.Keys under another name: an embedded field Keys would hide its
// method Keys.
type control = gateway.Keys

// faulty is a front of the gateways whose calls fail before or after they take effect.
type faulty struct {
	control
	mu            sync.Mutex
	before, after func(call string) error
	reads         func(context.Context) error
}

// fail makes calls fail from now on; nil: they succeed.
func (f *faulty) fail(before, after func(call string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

func (f *faulty) faults() (before, after func(call string) error, reads func(context.Context) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.before, f.after, f.reads
}

func (f *faulty) Key(ctx context.Context, org tenant.ID, name gateway.KeyName) (gateway.StoredKey, error) {
	if _, _, reads := f.faults(); reads != nil {
		if err := reads(ctx); err != nil {
			return gateway.StoredKey{}, err
		}
	}
	return f.control.Key(ctx, org, name)
}

func (f *faulty) Keys(ctx context.Context, org tenant.ID, api string) (list []string, err error) {
	err = f.call("list", func() (err error) { list, err = f.control.Keys(ctx, org, api); return err })
	return list, err
}

func (f *faulty) call(name string, do func() error) error {
	before, after, _ := f.faults()
	if before != nil {
		if err := before(name); err != nil {
			return err
		}
	}
	if err := do(); err != nil || after == nil {
		return err
	}
	return after(name)
}

func (f *faulty) CreateKey(ctx context.Context, org tenant.ID, id string, s *doc.Node) (k gateway.StoredKey, err error) {
	err = f.call("create", func() (err error) { k, err = f.control.CreateKey(ctx, org, id, s); return err })
	return k, err
}

func (f *faulty) ReplaceKey(ctx context.Context, org tenant.ID, name gateway.KeyName, s *doc.Node, keep bool) (k gateway.StoredKey, err error) {
	err = f.call("replace", func() (err error) { k, err = f.control.ReplaceKey(ctx, org, name, s, keep); return err })
	return k, err
}

func (f *faulty) DeleteKey(ctx context.Context, org tenant.ID, name gateway.KeyName) error {
	return f.call("delete", func() error { return f.control.DeleteKey(ctx, org, name) })
}

// world is the keys of an organisation, served over HTTP, with gateways that fail when
// a test wants it.
type world struct {
	*testing.T
	gateways *faulty
	intents  *intents.Service
	ask      func(method, path, body string) (int, string)
	keys     *keys.Service
	rules    *policies.Service
	as       string      // the caller
	exists   atomic.Bool // whether the organisation exists
}

func inWorld(t *testing.T, fn func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		db, err := memdb.New(time.Now)
		if err != nil {
			t.Fatal(err)
		}
		secrets, err := crypto.Ephemeral()
		if err != nil {
			t.Fatal(err)
		}
		tools := crud.Tools{Store: db, Now: time.Now, NewID: crypto.NewID(time.Now), Log: slog.New(slog.DiscardHandler), PageSize: 10}
		w := &world{T: t, as: "admin", intents: intents.New(intents.Settings{Holder: "one", Alone: true}, tools, secrets)}
		w.gateways = &faulty{control: &local.Keys{Store: db, Secrets: secrets, Passwords: crypto.Passwords{Iterations: 1}, NewID: tools.NewID, Now: time.Now, Policy: policies.AtGateways}}
		shelf := local.Shelf{Store: db, Secrets: secrets}
		rules := &policies.Service{Store: db, Now: time.Now, NewID: tools.NewID, PageSize: 10, APIs: &store.Kind[apidef.API]{
			Name: apidef.Kind, Alias: "api_id", Load: apidef.Load, Shared: true, ID: apidef.API.ID, Org: func(a apidef.API) tenant.ID { return a.OrgID() },
			Indexes: []store.Index[apidef.API]{store.Unique("api_id", "ID", apidef.API.APIID)},
		}}
		w.rules = rules
		s := keys.New(keys.Config{Settings: keys.Settings{Hashed: true, ListHashes: true}, Gateways: w.gateways, Certificates: &local.Certificates{Shelf: shelf}, Limits: &local.Installation{Shelf: shelf}, Policies: rules, Intents: w.intents, Store: db, Secrets: secrets, Now: time.Now, PageSize: 10,
			Exists: func(context.Context, tenant.ID) (bool, error) { return w.exists.Load(), nil }})
		w.keys = s
		p, err := policy.Load(gold(time.Now(), time.Now()))
		scope, wrong := tenant.Of("a")
		if err := errors.Join(err, wrong); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Update(t.Context(), scope, func(w store.Writer) error { return policies.Kind.Insert(t.Context(), w, p) }); err != nil {
			t.Fatal(err)
		}
		h := apptest.Checked(t, s.Operations(), apptest.Callers{
			"admin": {ID: "admin", OrgID: "a", Permissions: access.Map{"IsAdmin": "admin"}}, "user": {ID: "user", OrgID: "a", Permissions: access.Map{"keys": "read", "apis": "read"}}}.Guard())
		w.ask = func(method, path, body string) (int, string) {
			r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			r.Header.Set("Authorization", w.as)
			out := httptest.NewRecorder()
			h.ServeHTTP(out, r)
			return out.Code, out.Body.String()
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = w.intents.Run(ctx) }()
		fn(w)
		stop()
		<-done
	})
}

// want sends a request and checks the status and a part of the response.
func (w *world) want(method, path, body string, status int, part string) string {
	w.Helper()
	code, text := w.ask(method, path, body)
	if code != status || !strings.Contains(text, part) {
		w.Errorf("%s %s: %d %s, want %d with %s", method, path, code, text, status, part)
	}
	return text
}

// list returns how many keys there are.
func (w *world) list() int {
	w.Helper()
	var out struct{ Data struct{ Keys []string } }
	if err := json.Unmarshal([]byte(w.want("GET", "/api/apis/keys?p=-1", "", 200, "")), &out); err != nil {
		w.Fatal(err)
	}
	return len(out.Data.Keys)
}

// gold returns the only policy.
func gold(created, changed time.Time) []byte {
	return fmt.Appendf(nil, `{"_id":"60a1c0d58e3b2a1f00000001","id":"gold","name":"Gold","org_id":"a","date_created":%q,"last_updated":"%d","access_rights":{"orders":{}}}`,
		created.Format(time.RFC3339), changed.Unix())
}

// touch replaces the policy.
func (w *world) touch() {
	w.Helper()
	scope, err := tenant.Of("a")
	if err != nil {
		w.Fatal(err)
	}
	if _, err := w.rules.Store.Update(w.Context(), scope, func(to store.Writer) error {
		_, err := policies.Kind.Edit(w.Context(), to, "gold", nil, func(p policy.Policy) (policy.Policy, error) {
			return policy.Load(gold(p.Created(), time.Now()))
		})
		return err
	}); err != nil {
		w.Fatal(err)
	}
}

const session = `{"alias":"one","apply_policies":["gold"]}`

// on returns a function that fails the calls with a name.
func on(name string, err error) func(string) error {
	return func(call string) error {
		if call == name {
			return fmt.Errorf("%s: %w", call, err)
		}
		return nil
	}
}

// TestLostAnswers: a new key is deleted again if its caller got no response. A change
// or a deletion is finished later.
func TestLostAnswers(t *testing.T) {
	for name, when := range map[string]func(f *faulty, call string){
		"before": func(f *faulty, call string) { f.fail(on(call, gateway.ErrUncertain), nil) },
		"after":  func(f *faulty, call string) { f.fail(nil, on(call, gateway.ErrUncertain)) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				well := func() { w.gateways.fail(nil, nil); time.Sleep(5 * time.Second) }
				when(w.gateways, "create")
				w.want("POST", "/api/keys", session, 500, "Failed to unmarshal key data.")
				w.want("POST", "/api/apis/keys/basic/ada", `{"basic_auth_data":{"password":"correct horse"},"apply_policies":["gold"]}`, 500, "Failed to unmarshal Key data.")
				w.want("POST", "/api/keys", `{"hmac_enabled":true,"apply_policies":["gold"]}`, 500, "Failed to unmarshal key data.")
				w.want("POST", "/api/keys", `{"hmac_enabled":true,"certificate":"cert","apply_policies":["gold"]}`, 500, "Failed to unmarshal key data.")
				well()
				if n := w.list(); n != 0 {
					t.Errorf("%d keys of which no caller knows", n)
				}
				w.want("POST", "/api/keys/first", session, 200, "one")
				when(w.gateways, "create") // over an existing key
				w.want("POST", "/api/keys/first", `{"alias":"over","apply_policies":["gold"]}`, 500, "Failed to unmarshal Key data.")
				well()
				w.want("GET", "/api/keys/first", "", 200, "over")
				when(w.gateways, "replace")
				w.want("PUT", "/api/keys/first", `{"alias":"two","apply_policies":["gold"]}`, 500, "Failed to unmarshal key data.")
				well()
				w.want("GET", "/api/keys/first", "", 200, "two")
				when(w.gateways, "delete")
				w.want("DELETE", "/api/keys/first", "", 500, "Could not delete key.")
				well()
				w.want("GET", "/api/keys/first", "", 404, "Could not retrieve key detail.")
			})
		})
	}
}

// TestMadeAgain: a client that creates a key again, because it got no response, keeps
// it: the key of the first call is deleted before.
func TestMadeAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.gateways.fail(on("delete", gateway.ErrUnreachable), on("create", gateway.ErrUncertain))
		w.want("POST", "/api/keys/first", session, 500, "Failed to unmarshal Key data.")
		w.gateways.fail(on("delete", gateway.ErrUnreachable), nil)
		w.want("POST", "/api/keys/first", session, 409, "open")
		w.gateways.fail(nil, nil)
		w.want("POST", "/api/keys/first", `{"alias":"again","apply_policies":["gold"]}`, 200, "again")
		time.Sleep(time.Minute)
		w.want("GET", "/api/keys/first", "", 200, "again")
	})
}

// TestMadeMeanwhile: a change or deletion of a key by its name waits while a key with
// this name is being created, also if it names the whole key: the existing key may
// still be deleted again.
func TestMadeMeanwhile(t *testing.T) {
	for _, method := range []string{"PUT", "DELETE"} {
		inWorld(t, func(w *world) {
			body := ""
			if method == "PUT" {
				body = `{"alias":"changed","apply_policies":["gold"]}`
			}
			whole := base64.StdEncoding.EncodeToString([]byte(`{"org":"a","id":"first","h":"murmur64"}`))
			w.gateways.fail(on("delete", gateway.ErrUnreachable), on("create", gateway.ErrUncertain))
			w.want("POST", "/api/keys/first", session, 500, "Failed to unmarshal Key data.")
			for _, path := range []string{"/api/keys/first", "/api/keys/" + whole, "/api/apis/-/keys/first"} {
				w.want(method, path, body, 409, "another change of the same key is open")
			}
			w.gateways.fail(nil, nil)
			w.want(method, "/api/keys/first", body, 404, "") // the key was deleted again before
			w.want("POST", "/api/keys/first", session, 200, "one")
			w.want(method, "/api/keys/first", body, 200, "")
			time.Sleep(time.Minute)
			if n := w.list(); n != map[string]int{"PUT": 1}[method] {
				t.Errorf("%s: %d keys", method, n)
			}
		})
	}
}

// TestPurge: the keys of a deleted organisation are removed, later if gateways are
// unreachable. An organisation that exists again keeps them.
func TestPurge(t *testing.T) {
	inWorld(t, func(w *world) {
		scope, err := tenant.Of("a")
		if err != nil {
			t.Fatal(err)
		}
		purge := func(want fault.Kind, left int) {
			t.Helper()
			if err := w.keys.Purge(t.Context(), scope); fault.KindOf(err) != want && (err != nil || want != 0) {
				t.Error(err)
			}
			if n := w.list(); n != left {
				t.Errorf("%d keys are left, want %d", n, left)
			}
		}
		for i := range 3 {
			w.want("POST", fmt.Sprint("/api/keys/key-", i), session, 200, "")
		}
		w.exists.Store(true)
		purge(fault.Conflict, 3)
		w.exists.Store(false)
		w.gateways.fail(on("delete", gateway.ErrUnreachable), nil)
		purge(0, 3)
		w.exists.Store(true) // before the purge continues
		w.gateways.fail(nil, nil)
		time.Sleep(5 * time.Second)
		if n := w.list(); n != 3 {
			t.Errorf("an organisation that is there again has %d keys", n)
		}
		w.exists.Store(false)
		w.gateways.fail(nil, on("delete", gateway.ErrUncertain))
		purge(0, 2)
		w.gateways.fail(nil, nil)
		time.Sleep(time.Minute)
		if n := w.list(); n != 0 {
			t.Errorf("%d keys are left", n)
		}
	})
}

// TestCertificateMoves: a key gets another certificate, whatever fails between the two
// steps. If the gateway refuses the change, the key keeps its certificate.
func TestCertificateMoves(t *testing.T) {
	const old, next = `{"certificate":"aold","apply_policies":["gold"]}`, `{"certificate":"anew","apply_policies":["gold"]}`
	for name, fail := range map[string]func(f *faulty){
		"well": func(*faulty) {}, "away before the second": func(f *faulty) { f.fail(on("delete", gateway.ErrUnreachable), nil) },
		"lost after the first": func(f *faulty) { f.fail(nil, on("create", gateway.ErrUncertain)) }, "lost after the second": func(f *faulty) { f.fail(nil, on("delete", gateway.ErrUncertain)) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.want("POST", "/api/keys", old, 200, "")
				fail(w.gateways)
				w.ask("PUT", "/api/keys/aold", next)
				w.gateways.fail(nil, nil)
				time.Sleep(5 * time.Second)
				w.want("GET", "/api/keys/anew", "", 200, "anew")
				w.want("GET", "/api/keys/aold", "", 404, "")
				w.want("POST", "/api/keys", old, 200, "")
				w.want("PUT", "/api/keys/anew", old, 409, "already")
				if n := w.list(); n != 2 {
					t.Errorf("%d keys", n)
				}
			})
		})
	}
}

// TestSameName: of two concurrent calls that create a user with the same name, one
// succeeds.
func TestSameName(t *testing.T) {
	inWorld(t, func(w *world) {
		codes := make(chan int, 2)
		for range 2 {
			go func() {
				code, _ := w.ask("POST", "/api/apis/keys/basic/ada", `{"basic_auth_data":{"password":"correct horse"},"apply_policies":["gold"]}`)
				codes <- code
			}()
		}
		if a, b := <-codes, <-codes; a+b != 200+409 {
			t.Error(a, b)
		}
	})
}

// TestSameKey: of two concurrent calls that create a key with the same name, the later
// one replaces the key, as it would a moment later.
func TestSameKey(t *testing.T) {
	inWorld(t, func(w *world) {
		w.gateways.reads = func(context.Context) error { time.Sleep(time.Second); return nil } // both check before either has created the key
		codes := make(chan int, 2)
		for range 2 {
			go func() {
				code, _ := w.ask("POST", "/api/keys/first", session)
				codes <- code
			}()
		}
		if a, b := <-codes, <-codes; a != 200 || b != 200 {
			t.Error(a, b)
		}
		if n := w.list(); n != 1 {
			t.Errorf("%d keys", n)
		}
	})
}

// TestYoungPolicy: a gateway that may not have loaded a policy, or its last change, is
// called again for a while. A gateway that has had enough time is not.
func TestYoungPolicy(t *testing.T) {
	inWorld(t, func(w *world) {
		began := time.Now()
		w.gateways.fail(func(string) error {
			if time.Since(began) < time.Second {
				return gateway.ErrRefused
			}
			return nil
		}, nil)
		w.want("POST", "/api/keys", session, 200, "")
		w.gateways.fail(on("create", gateway.ErrRefused), nil)
		began = time.Now()
		w.want("POST", "/api/keys", session, 400, "refuses")
		if took := time.Since(began); took < 3*time.Second || took > 4*time.Second {
			t.Error(took)
		}
		time.Sleep(10 * time.Second)
		began = time.Now()
		w.want("POST", "/api/keys", session, 400, "refuses")
		if took := time.Since(began); took > 0 {
			t.Error(took)
		}
		w.touch() // as when a policy is published to gateways
		began = time.Now()
		w.want("POST", "/api/keys", session, 400, "refuses")
		if took := time.Since(began); took < 3*time.Second {
			t.Error(took)
		}
	})
}

// TestReadOnce: for a list, also with a filter, each key is read once if the caller
// does not see all keys.
func TestReadOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		for range 12 {
			w.want("POST", "/api/keys", session, 200, "key_id")
		}
		w.want("POST", "/api/keys", `{"alias":"two","apply_policies":["gold"]}`, 200, "key_id")
		var reads atomic.Int32
		w.gateways.reads = func(context.Context) error { reads.Add(1); return nil }
		w.as, w.rules.Settings.Ownership = "user", true
		for path, want := range map[string]int{"?q=one&p=-1": 12, "?policy_id=gold&p=-1": 13, "?q=two": 1, "?p=2": 3, "?p=-1": 13, "?q=nothing": 0} {
			reads.Store(0)
			text := w.want("GET", "/api/keys/detailed"+path, "", 200, `"keys":[`)
			if n := strings.Count(text, `"key_id"`); n != want || reads.Load() != 13 {
				w.Errorf("%s: %d keys, %d were read", path, n, reads.Load())
			}
		}
	})
}

// TestAtOnce: a list of sessions reads a few keys at a time, and stops when its caller
// is gone.
func TestAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		for i := range 40 {
			w.want("POST", fmt.Sprintf("/api/keys/key-%02d", i), session, 200, "")
		}
		under, most := 0, 0
		var mu sync.Mutex
		w.gateways.reads = func(ctx context.Context) error {
			mu.Lock()
			under++
			most = max(most, under)
			mu.Unlock()
			defer func() { mu.Lock(); under--; mu.Unlock() }()
			select {
			case <-time.After(time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		began := time.Now()
		w.want("GET", "/api/keys/detailed?q=one&p=-1", "", 200, "key_id")
		if took := time.Since(began); most != 8 || took != 5*time.Second {
			t.Errorf("%d at once, %s", most, took)
		}
		most = 0
		w.want("GET", "/api/keys/detailed", "", 200, "key_id")
		if most != 8 {
			t.Errorf("%d for a page", most)
		}
		w.gateways.reads = func(context.Context) error { return gateway.ErrUnreachable }
		w.want("GET", "/api/keys/detailed", "", 500, "Failed to unmarshal keys data from Tyk API.")
	})
}

// TestUnlisted: if gateways list no hashes, the responses are those of a service that
// lists none.
func TestUnlisted(t *testing.T) {
	inWorld(t, func(w *world) {
		w.gateways.fail(func(call string) error {
			if call != "list" {
				return nil
			}
			return fmt.Errorf("%w: %w", gateway.ErrRefused, gateway.ErrUnlisted)
		}, nil)
		w.want("GET", "/api/apis/keys", "", 404, `"Could not retrieve keys."`)
		w.want("GET", "/api/keys/detailed", "", 404, `"Could not retrieve keys."`)
		w.want("GET", "/api/apis/orders/keys", "", 404, `"Could not retrieve keys."`)
	})
}
