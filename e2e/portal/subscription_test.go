package portal_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// rates is a gateway that sends a rate every 100 ms to subscribers with a key, and refuses
// all other requests. It speaks graphql-transport-ws.
func rates(t *testing.T, open *atomic.Int64) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"graphql-transport-ws"}})
		if err != nil {
			return
		}
		open.Add(1)
		defer open.Add(-1)
		defer func() { _ = c.CloseNow() }()
		for {
			_, text, err := c.Read(r.Context())
			if err != nil {
				return
			}
			answer := `{"type":"connection_ack"}`
			switch said := string(text); {
			case strings.Contains(said, "connection_init"):
			case !strings.Contains(said, "rate"), r.Header.Get("Authorization") == "":
				answer = `{"id":"1","type":"error","payload":[{"message":"<img src=x onerror=window.pwned=1> no such thing"}]}`
			default:
				for n := 0; err == nil; n++ {
					err = c.Write(r.Context(), websocket.MessageText, fmt.Appendf(nil, `{"id":"1","type":"next","payload":{"data":{"rate":%d}}}`, 1000+n))
					time.Sleep(100 * time.Millisecond)
				}
			}
			_ = c.Write(r.Context(), websocket.MessageText, []byte(answer))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestPlaygroundSubscribes follows a subscription in the playground, stops it, and shows why
// another one is refused. The browser reports no errors.
func TestPlaygroundSubscribes(t *testing.T) {
	var open atomic.Int64
	gw := rates(t, &open)
	w := offering(t)
	w.dashboardAPI("rates")
	where, err := json.Marshal(object{"URL": w.at, "Secret": accessKey, "Gateway": gw.URL})
	must(t, err)
	w.api("POST", "/providers", object{"Name": "Live", "Configuration": object{"MetaData": string(where)}})
	w.api("POST", "/products", object{"Name": "rates", "DisplayName": "Rates", "Path": "rates", "ProviderID": 2, "Catalogues": []int{1}, "APIDetails": []object{{"APIID": "rates"}}})
	w.api("POST", "/plans", object{"Name": "Live", "ProviderID": 2, "RateLimit": 10, "Per": 1, "Quota": -1, "AutoApproveAccessRequests": true, "Catalogues": []int{1}})
	w.upload("POST", "/products/2/api-details/rates/graphql/schema", "rates.graphql", "type Query { now: Int }\ntype Subscription { rate: Int other: Int }\n")
	w.api("PUT", "/apps/3/provision", object{"PlanID": 3, "ProductIDs": []int{2}, "CatalogueID": 1})

	b := w.visitor(t)
	enter(b, "ada@example.com", password)
	b.Wait("location.pathname === '/portal'")
	b.Go("/portal/catalogue-products/rates/rates/docs")
	b.Click("Playground")
	press := `(() => { const i = document.querySelector('.graphiql-execute-button'); i?.click(); return !!i; })()`
	write := func(query string) {
		b.Wait(fmt.Sprintf(`(() => { const i = document.querySelector('.graphiql-query-editor .CodeMirror'); i?.CodeMirror.setValue(%q); return !!i; })()`, query))
	}
	shown := `document.querySelector('.graphiql-response').textContent`
	b.Wait(`(() => { const i = document.querySelector('#credential'); const o = i && [...i.options].find(o => o.text.startsWith('Empty')); if (!o) return false; i.value = o.value; return true; })()`)
	write("subscription { rate }")
	b.Wait(press)
	b.Wait(`/10[0-9]{2}/.test(` + shown + `)`)
	was := browser.Value[string](b, shown)
	b.Wait(fmt.Sprintf(`%s !== %q`, shown, was))
	if n := open.Load(); n != 1 {
		t.Errorf("%d conversations are open", n)
	}
	b.Wait(press) // the button stops the subscription
	for n := 0; open.Load() > 0; n++ {
		if time.Sleep(50 * time.Millisecond); n > 200 {
			t.Fatal("the page has stopped, and the subscription goes on")
		}
	}
	write("subscription { other }")
	b.Wait(press)
	b.Wait(shown + `.includes('no such thing')`)
	if browser.Value[bool](b, `window.pwned !== undefined || document.querySelector('.graphiql-response img') !== null`) {
		t.Error("what a gateway says has run")
	}
	// Queries still work as before.
	write("{ now }")
	b.Wait(press)
	b.Wait(shown + `.includes('The gateway answered 426')`)
}
