package scenarios

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// TestDeliveries kills the service at random moments while events go to receivers that
// fail at random: each event arrives, in the order of its lane, and signed.
func TestDeliveries(t *testing.T) {
	quick := environment{"DELIVERIES_PAUSE": "10ms", "DELIVERIES_ALLOWEDNETWORKS": "127.0.0.1"}
	t.Run("sqlite", func(t *testing.T) {
		s := serve(t, onSQLite(t.TempDir()).bootstrapping().with(quick))
		deliveries(t, s, func() { s.process.Kill(); s.restart(t) })
	})
	t.Run("postgres", func(t *testing.T) { // the process that sends is killed, and starts again while another sends
		all := launchAll(t, 2, onPostgres("", harness.Database(t)).bootstrapping().with(quick))
		next := 0
		kill := func() {
			one := all[next%2]
			one.process.Kill()
			time.Sleep(time.Second)
			one.restart(t)
			next++
		}
		deliveries(t, &service{api: all[0].api, admin: newClient(harness.NewBalancer(t, addresses(all)...).URL(), "Admin-Auth", adminSecret)}, kill)
	})
}

// laneCount is how many organisations listen.
const laneCount = 4

func deliveries(t *testing.T, s *service, kill func()) {
	events, kills := 500, 3
	if long() {
		events, kills = 10_000, 20
	}
	r := newReceiver(t, random(t))
	for lane := range laneCount {
		s.admin.do(t, http.MethodPost, "/admin/organisations/import", object{"id": laneName(lane), "owner_name": laneName(lane), "event_options": object{
			"api_event": object{"webhook": r.server.URL + "/" + laneName(lane), "secret": laneSecret(lane)}}})
	}
	// Events are told from when the first process has begun to listen.
	until(t, startLimit, "the first event", func() error {
		if err := change(t, s, 0, "probe"); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
		if r.count("probe") == 0 {
			return fmt.Errorf("nothing has arrived")
		}
		return nil
	})
	began := time.Now()
	var writers sync.WaitGroup
	for lane := range laneCount {
		writers.Go(func() {
			for i := range events / laneCount {
				// Only what was not stored is written again: an event that happens twice would hide one that is lost.
				until(t, startLimit, "a change", func() error { return change(t, s, lane, strconv.Itoa(i)) })
			}
		})
	}
	for range kills {
		time.Sleep(time.Duration(r.chance(400)) * time.Millisecond)
		kill()
	}
	writers.Wait()
	rested := map[string]bool{}
	limit := time.Minute
	if long() {
		limit = 10 * time.Minute
	}
	until(t, limit, "the end of all deliveries", func() error {
		for _, d := range listDeliveries(t, s, "failed") {
			rested[d.key()] = true
			if err := s.admin.call(t.Context(), http.MethodPost, "/admin/deliveries/"+d.ID+"/resend", nil, nil); err != nil && statusOf(err) != http.StatusConflict {
				return err
			}
		}
		if n := r.missing(events / laneCount); n > 0 {
			return fmt.Errorf("%d have not arrived", n)
		}
		if n := len(listDeliveries(t, s, "pending")); n > 0 {
			return fmt.Errorf("%d are pending", n)
		}
		if n := len(listDeliveries(t, s, "failed")); n > 0 {
			return fmt.Errorf("%d rest", n)
		}
		return nil
	})
	r.verify(t, events/laneCount, rested)
	t.Logf("%d events, %d kills in %v: %d attempts, %d refused, %d repeated, %d sent again on request", events, kills, time.Since(began).Round(time.Millisecond), r.attempts, r.refused, r.repeated, len(rested))
}

func laneName(lane int) string   { return fmt.Sprint("listening-", lane) }
func laneSecret(lane int) string { return fmt.Sprintf("the secret of lane %d, long enough", lane) }

// change stores an API of a lane's organisation under another name.
func change(t *testing.T, s *service, lane int, name string) error {
	org := laneName(lane)
	var answer struct{ Meta map[string]any }
	err := s.admin.call(t.Context(), http.MethodPost, "/admin/apis/import", object{"apis": []object{{"api_definition": object{
		"id": fmt.Sprintf("5f1a0c5d8e3b2a1f1000000%d", lane), "api_id": "api-of-" + org, "org_id": org, "name": name, "proxy": object{"listen_path": "/" + org + "/", "target_url": "https://upstream.example"}}}}}, &answer)
	for id, stored := range answer.Meta {
		if stored != true {
			return fmt.Errorf("%s: %v", id, stored)
		}
	}
	return err
}

// listed is a delivery as the operation lists it.
type listed struct {
	ID, Body string
	Org      string `json:"org_id"`
}

func (d listed) key() string { return d.Org + "/" + nameIn([]byte(d.Body)) }

func nameIn(body []byte) string {
	var event struct{ Message struct{ Name string } }
	_ = json.Unmarshal(body, &event)
	return event.Message.Name
}

func listDeliveries(t *testing.T, s *service, state string) []listed {
	t.Helper()
	var out struct{ Deliveries []listed }
	if err := s.admin.call(t.Context(), http.MethodGet, "/admin/deliveries?p=-1&state="+state, nil, &out); err != nil {
		t.Log(err)
		return []listed{{}}
	}
	return out.Deliveries
}

// receiver takes events, and refuses some.
type receiver struct {
	server *httptest.Server

	mu                          sync.Mutex
	random                      *rand.Rand
	taken                       map[string][]string        // names by lane, in order of their first arrival
	known                       map[string]map[string]bool // names by lane
	wrong                       []string
	attempts, refused, repeated int
}

func newReceiver(t *testing.T, r *rand.Rand) *receiver {
	out := &receiver{random: r, taken: map[string][]string{}, known: map[string]map[string]bool{}}
	out.server = httptest.NewServer(out)
	t.Cleanup(out.server.Close)
	return out
}

func (r *receiver) chance(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.random.IntN(n)
}

// ServeHTTP takes seven of ten events; of the others the connection breaks, before or after
// the event is taken, or they are refused.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil { // the service was killed
		return
	}
	lane := strings.TrimPrefix(req.URL.Path, "/")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts++
	if why := signed(req, lane, body); why != "" {
		r.wrong = append(r.wrong, why)
	}
	switch luck := r.random.IntN(20); {
	case luck < 4:
		r.refused++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case luck == 4:
		r.refused++
		panic(http.ErrAbortHandler)
	case luck == 5:
		r.take(lane, nameIn(body))
		panic(http.ErrAbortHandler)
	}
	r.take(lane, nameIn(body))
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) take(lane, name string) {
	if r.known[lane] == nil {
		r.known[lane] = map[string]bool{}
	}
	if r.known[lane][name] {
		r.repeated++
		return
	}
	r.known[lane][name] = true
	r.taken[lane] = append(r.taken[lane], name)
}

func (r *receiver) count(name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, names := range r.known {
		if names[name] {
			n++
		}
	}
	return n
}

// missing returns how many events have not arrived yet.
func (r *receiver) missing(each int) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for lane := range laneCount {
		for i := range each {
			if !r.known[laneName(lane)][strconv.Itoa(i)] {
				n++
			}
		}
	}
	return n
}

// signed says what is wrong with the signatures of a request.
func signed(req *http.Request, lane string, body []byte) string {
	number, _ := strconv.Atoi(strings.TrimPrefix(lane, "listening-"))
	sum := func(parts ...string) []byte {
		m := hmac.New(sha256.New, []byte(laneSecret(number)))
		for _, p := range parts {
			m.Write([]byte(p))
		}
		return m.Sum(nil)
	}
	id, stamp := req.Header.Get("webhook-id"), req.Header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	switch {
	case req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json":
		return req.Method + " " + req.Header.Get("Content-Type")
	case id == "" || req.Header.Get("X-Event-Id") != id:
		return "identifier " + id
	case err != nil || time.Since(time.Unix(seconds, 0)).Abs() > time.Minute:
		return "timestamp " + stamp
	case req.Header.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(sum(id, ".", stamp, ".", string(body))):
		return "webhook-signature " + req.Header.Get("webhook-signature")
	case req.Header.Get("X-Tyk-Signature") != "sha256="+hex.EncodeToString(sum(string(body))):
		return "X-Tyk-Signature " + req.Header.Get("X-Tyk-Signature")
	}
	return ""
}

// verify checks that everything has arrived, and in order but for what had rested.
func (r *receiver) verify(t *testing.T, each int, rested map[string]bool) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.wrong) > 0 {
		t.Errorf("%d requests are not as they should be, the first: %s", len(r.wrong), r.wrong[0])
	}
	for number := range laneCount {
		lane, last := laneName(number), -1
		for i := range each {
			if !r.known[lane][strconv.Itoa(i)] {
				t.Errorf("%s: %d was lost", lane, i)
			}
		}
		for _, name := range slices.DeleteFunc(slices.Clone(r.taken[lane]), func(n string) bool { return n == "probe" || rested[lane+"/"+n] }) {
			i, _ := strconv.Atoi(name)
			if i < last {
				t.Errorf("%s: %d came after %d", lane, i, last)
			}
			last = i
		}
	}
}
