package remote_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	fetching "github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/gateway/remote"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/gateway/gatewaytest"
)

// clock is a clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) move(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

// control sends a request to the control API without the adapter, as another program does.
func (in installation) control(t *testing.T, method, path, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, in.urls[0]+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Tyk-Authorization", secret)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d", method, path, resp.StatusCode)
	}
}

// TestReborn: a key that is deleted and created again for another organisation no longer
// appears in its old organisation's lists: at once when a list has missed it or when we
// wrote it, and after half a minute in any case.
func TestReborn(t *testing.T) {
	in := start(t, 1, func(c *gatewaysim.Config) { c.HashKeyFunction = "" }) // keys are organisation and identifier, so two organisations can have the same text
	at := &clock{now: time.Now()}
	keys := in.client(func(c *remote.Config) { c.Now = at.Now }).Control().Keys
	made, err := keys.CreateKey(t.Context(), gatewaytest.Org, there, node(rights))
	if err != nil {
		t.Fatal(err)
	}
	names := func(org tenant.ID) []string {
		t.Helper()
		list, err := keys.Keys(t.Context(), org, "")
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	path := "/tyk/keys/" + made.Hash + "?hashed=1"
	theirs := `{"org_id":"` + string(gatewaytest.Other) + `","apply_policies":["theirs"]}`
	mine := `{"org_id":"` + string(gatewaytest.Org) + `","apply_policies":["gold"]}`
	if got := names(gatewaytest.Org); !slices.Equal(got, []string{made.Hash}) {
		t.Fatal(got)
	}
	in.control(t, "PUT", path, theirs) // the same key, for another organisation
	at.move(31 * time.Second)
	if got := names(gatewaytest.Org); len(got) != 0 {
		t.Errorf("after half a minute: %v", got)
	}
	if got := names(gatewaytest.Other); !slices.Equal(got, []string{made.Hash}) {
		t.Errorf("the other organisation has %v", got)
	}
	// reborn creates the key again, first for the own and then for the other organisation.
	reborn := func(deleted string) {
		t.Helper()
		in.control(t, "POST", "/tyk/keys/"+there, mine)
		in.control(t, "PUT", path, theirs)
		if got := names(gatewaytest.Org); len(got) != 0 {
			t.Errorf("%s and reborn, it is named to its old organisation: %v", deleted, got)
		}
	}
	in.control(t, "PUT", path, mine)
	at.move(11 * time.Minute)
	names(gatewaytest.Org)
	in.control(t, "DELETE", path, "")
	names(gatewaytest.Org)
	reborn("missed by a list")
	in.control(t, "PUT", path, mine)
	at.move(11 * time.Minute)
	names(gatewaytest.Org)
	if err := keys.DeleteKey(t.Context(), gatewaytest.Org, gateway.KeyName{Text: made.Hash, By: gateway.ByHash}); err != nil {
		t.Fatal(err)
	}
	reborn("deleted by us")
}

// TestSessionsAreReadOnce: a list reads the session of each key once for all callers.
func TestSessionsAreReadOnce(t *testing.T) {
	in := start(t, 1, nil)
	keys := in.client(nil).Control().Keys
	const each = 40
	for range each {
		in.control(t, "POST", "/tyk/keys", `{"org_id":"`+string(gatewaytest.Org)+`","apply_policies":["gold"]}`)
		in.control(t, "POST", "/tyk/keys", `{"org_id":"`+string(gatewaytest.Other)+`","apply_policies":["theirs"]}`)
	}
	for _, org := range []tenant.ID{gatewaytest.Org, gatewaytest.Org, gatewaytest.Other, gatewaytest.Other} {
		if list, err := keys.Keys(t.Context(), org, ""); err != nil || len(list) != each {
			t.Fatal(len(list), err)
		}
	}
	if n := in.gateways[0].ControlCalls()["GET /tyk/keys/{key}"]; n != 2*each {
		t.Errorf("%d sessions were read for %d keys", n, 2*each)
	}
}

// TestBreaker: a gateway that fails repeatedly is not called for a while, so operations fail
// without a call, and it is called again later.
func TestBreaker(t *testing.T) {
	in := start(t, 1, nil)
	client := in.client(func(c *remote.Config) { c.OpenFor = 2 * time.Second })
	installation := client.Control().Installation
	in.gateways[0].Misbehave(gatewaysim.Trouble, nil)
	asked := 0
	for range 10 {
		if err := installation.Reload(t.Context()); !errors.Is(err, gateway.ErrUnreachable) {
			t.Fatal(err)
		}
		asked++
		if client.Status()[0].Breaker == gateway.BreakerOpen {
			break
		}
	}
	if s := client.Status()[0]; asked != 3 || s.Breaker != gateway.BreakerOpen || s.Answers || !s.Asked || s.Trouble == "" {
		t.Errorf("after %d calls: %+v", asked, s)
	}
	in.gateways[0].Misbehave(gatewaysim.Healthy, nil)
	deadline := time.Now().Add(20 * time.Second)
	for installation.Reload(t.Context()) != nil && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if s := client.Status()[0]; s.Breaker != gateway.BreakerClosed || !s.Answers || s.Trouble != "" {
		t.Errorf("%+v", s)
	}
}

// TestGivingUp: a caller that cancels does not affect the state of the gateway.
func TestGivingUp(t *testing.T) {
	in := start(t, 1, nil)
	client := in.client(nil)
	for range 5 {
		in.gateways[0].Misbehave(gatewaysim.Hanging, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := client.Control().Installation.OrgKeys(ctx); !errors.Is(err, gateway.ErrUnreachable) {
			t.Error(err)
		}
		cancel()
	}
	in.gateways[0].Misbehave(gatewaysim.Healthy, nil)
	if s := client.Status()[0]; s.Breaker != gateway.BreakerClosed || s.Asked {
		t.Errorf("%+v", s)
	}
}

// TestAnswersOfGateways: answers of gateways are classified by their form, and quoted short
// and without secrets.
func TestAnswersOfGateways(t *testing.T) {
	key := "eyJvcmciOiJvMSIsImlkIjoiYWJjIiwiaCI6Im11cm11cjY0In0="
	for name, c := range map[string]struct {
		status int
		body   string
		want   error
	}{
		"a refusal":                {400, `{"status":"error","message":"Request malformed"}`, gateway.ErrRefused},
		"a key in the text":        {500, `{"status":"error","message":"Key with given certificate already found:` + key + `"}`, gateway.ErrTaken},
		"a secret in the text":     {400, `{"status":"error","message":"` + secret + ` is bad"}`, gateway.ErrRefused},
		"a long text":              {400, `{"status":"error","message":"` + strings.Repeat("no ", 500) + `"}`, gateway.ErrRefused},
		"lines":                    {400, `{"status":"error","message":"a\nb\u001b[31m"}`, gateway.ErrRefused},
		"another secret":           {403, `{"status":"error","message":"Attempted administrative access with invalid or missing key!"}`, gateway.ErrUnreachable},
		"no such method":           {405, `{"status":"error","message":"Method not supported"}`, gateway.ErrUnreachable},
		"another server":           {404, `404 page not found`, gateway.ErrUnreachable},
		"a redirection":            {302, ``, gateway.ErrUnreachable},
		"a balancer":               {503, `{"status":"error","message":"no server"}`, gateway.ErrUncertain},
		"nothing":                  {200, ``, gateway.ErrUncertain},
		"deeply nested":            {200, strings.Repeat("[", 1000) + strings.Repeat("]", 1000), gateway.ErrUncertain},
		"an answer without a key":  {200, `[]`, gateway.ErrUncertain},
		"not found while creating": {404, `{"status":"error","message":"Key not found"}`, gateway.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body)) // the test notices if it fails
			}))
			defer server.Close()
			keys := remote.New(fetching.New(fetching.Config{}), remote.Config{URLs: []string{server.URL}, Secret: secret}).Control().Keys
			_, err := keys.CreateKey(t.Context(), gatewaytest.Org, "", node(rights))
			if _, unlisted := keys.Keys(t.Context(), gatewaytest.Org, ""); errors.Is(unlisted, gateway.ErrUnlisted) != errors.Is(c.want, gateway.ErrUnknown) {
				t.Errorf("the list: %v", unlisted)
			}
			if !errors.Is(err, c.want) || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), key) || len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// TestOneThatDoesNotHash: a gateway that does not hash keys, among others that do, hides
// their keys for one call only.
func TestOneThatDoesNotHash(t *testing.T) {
	var other atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch asked := r.URL.Query().Get("hashed") == "true"; {
		case other.Load() && asked:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"status":"error","message":"Key requested by hash but key hashing is not enabled"}`)
		case other.Load() || !asked:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"status":"error","message":"Key not found"}`)
		default:
			_, _ = io.WriteString(w, `{"org_id":"`+string(gatewaytest.Org)+`","quota_max":-1}`)
		}
	}))
	defer server.Close()
	keys := remote.New(fetching.New(fetching.Config{}), remote.Config{URLs: []string{server.URL}, Secret: "s"}).Control().Keys
	name := gateway.KeyName{Text: "0a1b2c3d", By: gateway.ByHash}
	for i, elsewhere := range []bool{true, false, false} {
		other.Store(elsewhere)
		if _, err := keys.Key(t.Context(), gatewaytest.Org, name); (err != nil) != elsewhere {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
