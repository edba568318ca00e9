package portal_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/core/portal/tryout"
)

// telling is a gateway that sends a number every 50 ms to its subscriber, in the
// protocol graphql-transport-ws.
func telling(t *testing.T, open *atomic.Int64) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: tryout.Protocols[:1]})
		if err != nil {
			return
		}
		open.Add(1)
		defer open.Add(-1)
		defer func() { _ = c.CloseNow() }()
		say := func(text string) bool { return c.Write(r.Context(), websocket.MessageText, []byte(text)) == nil }
		for {
			_, text, err := c.Read(r.Context())
			if err != nil {
				return
			}
			switch {
			case strings.Contains(string(text), "connection_init"):
				say(`{"type":"connection_ack"}`)
			case strings.Contains(string(text), "large"):
				say(`{"id":"1","type":"next","payload":"` + strings.Repeat("x", tryout.MaxAnswer) + `"}`)
			case strings.Contains(string(text), "leave"):
				return
			case strings.Contains(string(text), `"subscribe"`):
				for n := 0; say(fmt.Sprintf(`{"id":"1","type":"next","payload":{"data":{"n":%d,"key":%q,"cookie":%q,"path":%q}}}`, n, r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.URL.Path)); n++ {
					time.Sleep(50 * time.Millisecond)
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// subscribes opens a subscription as a page does, and returns the response.
func (w *world) subscribes(query string, call map[string]any) *http.Response {
	w.t.Helper()
	asked, err := json.Marshal(map[string]string{"query": query})
	must(w.t, err)
	call["Method"], call["Body"] = "POST", string(asked)
	body, err := json.Marshal(call)
	must(w.t, err)
	form := w.open("/portal/catalogue-products/served/pets/try")
	req, err := http.NewRequest("POST", w.server.URL+"/portal/api/catalogue-products/served/pets/subscribe", strings.NewReader(string(body)))
	must(w.t, err)
	if m := token.FindStringSubmatch(form.text); m != nil {
		req.Header.Set("X-CSRF-Token", m[1])
	}
	resp, err := w.client.Do(req)
	must(w.t, err)
	w.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// hears returns the data of the next event with a name.
func hears(t *testing.T, events *bufio.Scanner, name string) string {
	t.Helper()
	for events.Scan() {
		if events.Text() == "event: "+name && events.Scan() {
			return strings.TrimPrefix(events.Text(), "data: ")
		}
	}
	t.Fatal("no event", name, events.Err())
	return ""
}

// within waits for an asynchronous condition.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 200 {
		if is() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("in 10 s not", what)
}

// TestSubscribe receives the events of a GraphQL API, with a credential of the user,
// while the session lasts.
func TestSubscribe(t *testing.T) {
	var open atomic.Int64
	gw := telling(t, &open)
	w := newWorldWith(t, func(p *app.Portal) {
		p.Relay = fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, MaxBytes: tryout.MaxAnswer, Timeout: 2 * time.Second})
	})
	w.served(gw.URL)
	if a := w.subscribes("subscription { n }", map[string]any{}); a.StatusCode != 401 {
		t.Error("a stranger:", a.StatusCode)
	}
	w.as("grace")
	first := w.subscribes("subscription { n }", map[string]any{"CredentialID": 1})
	if got := first.Header.Get("Content-Type"); first.StatusCode != 200 || got != "text/event-stream" {
		t.Fatal(first.StatusCode, got)
	}
	events := bufio.NewScanner(first.Body)
	said := hears(t, events, "next")
	if !strings.Contains(said, `"n":0`) || strings.Contains(said, `"key":""`) || !strings.Contains(said, `"cookie":""`) || !strings.Contains(said, `"path":"/pets/"`) {
		t.Error(said)
	}
	if said := hears(t, events, "next"); !strings.Contains(said, `"n":1`) {
		t.Error(said)
	}
	_ = first.Body.Close()
	within(t, "the page has gone, and the gateway hears of it", func() bool { return open.Load() == 0 })

	if said := hears(t, bufio.NewScanner(w.subscribes("large", map[string]any{}).Body), "error"); !strings.Contains(said, "too large") {
		t.Error(said)
	}
	if said := hears(t, bufio.NewScanner(w.subscribes("leave", map[string]any{}).Body), "error"); !strings.Contains(said, "has ended") {
		t.Error(said)
	}
	within(t, "they are over", func() bool { return open.Load() == 0 })

	var at []*http.Response
	for range 4 {
		at = append(at, w.subscribes("subscription { n }", map[string]any{"Token": "Bearer of-grace"}))
	}
	if more := w.subscribes("subscription { n }", map[string]any{}); more.StatusCode != 429 {
		t.Error("a fifth subscription:", more.StatusCode)
	}
	for path, want := range map[string]int{"/../x": 422, "/a?b": 422} {
		if a := w.subscribes("subscription { n }", map[string]any{"Path": path}); a.StatusCode != want {
			t.Error(path, a.StatusCode)
		}
	}
	jar := w.client.Jar
	w.as("ada")
	if a := w.subscribes("subscription { n }", map[string]any{"CredentialID": 1}); a.StatusCode != 422 {
		t.Error("somebody else's credential:", a.StatusCode)
	}
	w.client.Jar = jar
	w.submit(w.open("/portal/private/profile"), "/auth/logout")
	for _, a := range at {
		if said := hears(t, bufio.NewScanner(a.Body), "error"); !strings.Contains(said, "is over: log in") {
			t.Error(said)
		}
	}
	within(t, "the session is over, and so are its subscriptions", func() bool { return open.Load() == 0 })
	if strings.Contains(w.log.String(), "of-grace") {
		t.Error("a credential stands in the log", w.log)
	}
}

// TestSubscribeInside: no subscription reaches private addresses.
func TestSubscribeInside(t *testing.T) {
	var open atomic.Int64
	gw := telling(t, &open)
	w := newWorldWith(t, func(p *app.Portal) { p.Relay = fetch.New(fetch.Config{}) })
	w.served(gw.URL)
	w.as("grace")
	if a := w.subscribes("subscription { n }", map[string]any{}); a.StatusCode != 503 || open.Load() > 0 {
		t.Error("an address inside:", a.StatusCode)
	}
}
