package scenarios

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// receiver accepts events, and refuses some.
type receiver struct {
	listeners
	server *httptest.Server

	mu                          sync.Mutex
	random                      *rand.Rand
	taken                       map[string][]told // by lane, in order of their first arrival
	known                       map[string]bool   // lane and name of accepted events
	sent                        map[string]string // identifiers of deliveries, by lane and name
	wrong                       []string
	attempts, refused, repeated int
}

func newReceiver(t *testing.T, l listeners) *receiver {
	t.Helper()
	out := &receiver{listeners: l, random: random(t), taken: map[string][]told{}, known: map[string]bool{}, sent: map[string]string{}}
	out.server = httptest.NewServer(out)
	t.Cleanup(out.server.Close)
	return out
}

func (r *receiver) chance(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.random.IntN(n)
}

// ServeHTTP accepts fourteen of twenty events. For the others the connection breaks, before
// or after the event is accepted, or they are refused.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil { // the service was killed
		return
	}
	lane, event := strings.TrimPrefix(req.URL.Path, "/"), toldOf(body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts++
	r.check(req, lane, event.Message.Name, body)
	switch luck := r.random.IntN(20); {
	case luck < 4:
		r.refused++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case luck == 4:
		r.refused++
		panic(http.ErrAbortHandler)
	case luck == 5:
		r.take(lane, event)
		panic(http.ErrAbortHandler)
	}
	r.take(lane, event)
	w.WriteHeader(http.StatusNoContent)
}

// check records what is wrong with a request.
func (r *receiver) check(req *http.Request, lane, name string, body []byte) {
	number, _ := strconv.Atoi(strings.TrimPrefix(lane, lanePrefix))
	if why := signed(req, r.secret(number), body); why != "" {
		r.wrong = append(r.wrong, why)
	}
	key, id := lane+"/"+name, req.Header.Get("X-Event-Id")
	if before, is := r.sent[key]; r.once && is && before != id {
		r.wrong = append(r.wrong, key+" is told by two deliveries: "+before+" and "+id)
	}
	r.sent[key] = id
}

func (r *receiver) take(lane string, event told) {
	key := lane + "/" + event.Message.Name
	if r.known[key] {
		r.repeated++
		return
	}
	r.known[key] = true
	r.taken[lane] = append(r.taken[lane], event)
}

// heard reports whether any lane has received an event.
func (r *receiver) heard(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for lane := range r.lanes {
		if r.known[laneName(lane)+"/"+name] {
			return true
		}
	}
	return false
}

// missing returns the events that have not arrived yet.
func (r *receiver) missing() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for lane := range r.lanes {
		for i := range r.events {
			if key := fmt.Sprint(laneName(lane), "/", i); r.hears(lane, i) && !r.known[key] {
				out = append(out, key)
			}
		}
	}
	return out
}

// verify checks the received events, and their order except for deliveries that had rested.
func (r *receiver) verify(t *testing.T, rested map[string]bool) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.wrong) > 0 {
		t.Errorf("%d requests are not as they should be, the first: %s", len(r.wrong), r.wrong[0])
	}
	for number := range r.lanes {
		lane, last := laneName(number), -1
		for _, event := range r.taken[lane] {
			if name := event.Message.Name; name == "probe" || rested[lane+"/"+name] {
				continue
			}
			place := r.place(event)
			if place <= last {
				t.Errorf("%s: %d came after %d", lane, place, last)
			}
			last = place
		}
	}
}

// signed returns what is wrong with the signatures of a request.
func signed(req *http.Request, secret string, body []byte) string {
	sum := func(parts ...string) []byte {
		m := hmac.New(sha256.New, []byte(secret))
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
