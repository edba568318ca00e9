package app_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// While the service stops every operation that changes something is refused, and
// every other one is carried out, above all those of gateways.
func TestDrain(t *testing.T) {
	a := service(t, nobodyWatches())
	if err := a.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	tokens := map[operation.Surface]string{operation.Management: strings.TrimPrefix(callers["admin"][1], "Bearer "), operation.Admin: adminSecret, operation.Node: nodeSecret}
	refused := 0
	for _, o := range a.Operations() {
		changes := o.Intent != access.Read && o.Surface != operation.Node
		_, err := a.Do(t.Context(), o.ID, &operation.Call{Token: tokens[o.Surface]})
		if is := fault.CodeOf(err) == guard.CodeStopping; is != changes {
			t.Errorf("%s: %v", o.ID, err)
		}
		if changes {
			refused++
		}
	}
	if refused < 40 {
		t.Errorf("only %d operations change anything", refused)
	}
	for _, c := range []struct {
		method, path, as string
		want             int
		text             string
	}{
		{"POST", "/api/clientidps", "admin", 503, `{"Status":"Error","Message":"The service is about to stop`},
		{"POST", "/admin/organisations", "super-admin", 503, "about to stop"},
		{"GET", "/api/clientidps", "admin", 200, ""},
		{"POST", "/api/clientidps", "stranger", 401, ""},
		{"GET", "/register/node", "node", 200, "NodeID"},
		{"GET", "/register/ping", "node", 403, "Not authorised"},
		{"DELETE", "/system/node", "node", 200, "Nonce"},
		{"GET", "/system/apis", "node", 200, "Nonce"},
		{"GET", "/health", "", 503, "about to stop"},
		{"GET", "/hello", "", 200, "pass"},
	} {
		if code, text := fetch(t, a, c.method, c.path, c.as, "{}"); code != c.want || !strings.Contains(text, c.text) {
			t.Errorf("%s %s: %d %s", c.method, c.path, code, text)
		}
	}
}

// TestDrainPortal: while the process stops, the probe of the portal sends balancers to another
// one, since every form is refused; the process itself lives.
func TestDrainPortal(t *testing.T) {
	a := service(t, nobodyWatches(), portalOptions()...)
	if err := a.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/ready": "503 about to stop", "/live": "200 Success"} {
		if code, text := fetch(t, a.Portal(), "GET", path, "", ""); strconv.Itoa(code) != want[:3] || !strings.Contains(text, want[4:]) {
			t.Errorf("%s: %d %s, want %s", path, code, text, want)
		}
	}
}

// heard is a sink that remembers the payloads, or keeps everybody waiting.
type heard struct {
	got  chan string
	deaf bool
}

func (*heard) Name() string { return "heard" }

func (h *heard) Deliver(ctx context.Context, as []notify.Announcement) error {
	if h.deaf {
		<-ctx.Done()
		return ctx.Err()
	}
	for _, a := range as {
		h.got <- a.Signal.Payload
	}
	return nil
}

// What was acknowledged and not announced when the service stopped is announced by
// the next one, and by another replica at once.
func TestDrainHandsOver(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ears := &heard{got: make(chan string, 10)}
	first := service(t, nobodyWatches(), app.WithStore(db), app.WithSinks(&heard{deaf: true}), app.WithClock(time.Now))
	if err := first.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := started(t, app.WithStore(db), app.WithSinks(ears))
	for deadline := time.Now().Add(10 * time.Second); !first.Relays()["heard"].Holder; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the first never announces")
		}
	}
	const body = `{"client_idp_id":"late","name":"late","jwks_uri":"https://idp.example.com/jwks.json"}`
	if code, text := fetch(t, first, "POST", "/api/clientidps", "admin", body); code != 201 {
		t.Fatal(code, text)
	}
	if err := first.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if first.Relays()["heard"].Holder {
		t.Error("it still announces")
	}
	select {
	case payload := <-ears.got:
		if payload != "late" || !second.Relays()["heard"].Holder {
			t.Error(payload)
		}
	case <-time.After(10 * time.Second):
		t.Error("nothing was announced")
	}
	if err := first.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
