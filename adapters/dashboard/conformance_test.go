// Package dashboard_test runs the same conformance tests on both implementations of a
// dashboard.
package dashboard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/dashboard/local"
	"github.com/gatehouse-io/gatehouse/adapters/dashboard/remote"
	fetching "github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/keys"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/dashboard/dashboardtest"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// service is Gatehouse with two organisations, in this process and on a port.
type service struct {
	app                  *app.App
	url                  string
	calls                *atomic.Int64 // over HTTP
	writes               *atomic.Int64
	admin, other, reader string
}

func newService(t testing.TB, with ...app.Option) service {
	t.Helper()
	a, err := app.New(append(with, app.WithLogger(slog.New(slog.DiscardHandler)))...)
	if err != nil {
		t.Fatal(err)
	}
	s := service{app: a, calls: new(atomic.Int64), writes: new(atomic.Int64)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		if r.Method != http.MethodGet {
			s.writes.Add(1)
		}
		a.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	key := func(org string) string {
		b, err := a.Bootstrap(context.Background(), identity.First{OrgID: org, OwnerSlug: org, Email: org + "@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		return b.AccessKey
	}
	s.admin, s.other = key("one"), key("two")
	s.send(t, "POST", "/api/apis", `{"api_definition":{"name":"Orders","api_id":"orders","active":true,"use_standard_auth":true,"proxy":{"listen_path":"/orders/","target_url":"http://orders.example"}}}`)
	s.send(t, "POST", "/api/apis", `{"api_definition":{"name":"Claims","api_id":"claims","active":true,"enable_jwt":true,"proxy":{"listen_path":"/claims/","target_url":"http://claims.example"}}}`)
	s.send(t, "POST", "/api/mcps", `{"openapi":"3.0.3","info":{"title":"Tools","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"Tools","id":"tools","state":{"active":true}},"upstream":{"url":"http://tools.internal/mcp"},"server":{"listenPath":{"value":"/tools/","strip":true}}}}`)
	program := s.send(t, "POST", "/api/service-accounts", `{"name":"reader","user_permissions":{"policies":"read"}}`)
	s.reader = s.send(t, "POST", "/api/service-accounts/"+program.Get("Meta").Text()+"/keys", `{"name":"key"}`).Get("Meta", "key").Text()
	if s.reader == "" {
		t.Fatal("no key", string(program.JSON()))
	}
	return s
}

func (s service) send(t testing.TB, method, path, body string) *doc.Node {
	t.Helper()
	return apptest.Send(t, s.app, s.admin, method, path, body)
}

func (s service) local(key string) dashboard.Dashboard { return local.New(s.app.Do, s.app.Text, key) }

func (s service) remote(key string) dashboard.Dashboard {
	return remote.New(fetching.New(fetching.Config{MaxBytes: 64 << 20}), remote.Config{URL: s.url + "/", Secret: key, Trusted: true, Pause: time.Millisecond})
}

const stranger = "an unknown credential"

func TestLocal(t *testing.T) {
	dashboardtest.Run(t, func(t *testing.T) dashboardtest.World {
		s := newService(t)
		return dashboardtest.World{Dashboard: s.local(s.admin), Stranger: s.local(stranger), Other: s.local(s.other), Reader: s.local(s.reader), Secret: s.reader,
			Away: local.New(func(context.Context, string, *operation.Call) (any, error) {
				return nil, errors.New("down: " + s.reader)
			}, s.app.Text, s.reader)}
	})
}

// hashed makes gateways name keys by hash.
var hashed = app.WithKeySettings(keys.Settings{Hashed: true, ListHashes: true, UpdateByHash: true, DeleteByHash: true})

func TestRemote(t *testing.T) {
	dashboardtest.Run(t, func(t *testing.T) dashboardtest.World {
		s := newService(t, hashed)
		closed := httptest.NewServer(nil)
		closed.Close()
		return dashboardtest.World{Dashboard: s.remote(s.admin), Stranger: s.remote(stranger), Other: s.remote(s.other), Reader: s.remote(s.reader), Secret: s.reader,
			Away: remote.New(fetching.New(fetching.Config{}), remote.Config{URL: closed.URL, Secret: s.reader, Trusted: true, Pause: time.Millisecond})}
	})
}

// lossy is a fetcher that loses the answers to writes after the dashboard has carried them
// out.
type lossy struct {
	fetch.Fetcher
	lose int
}

func (l *lossy) Fetch(ctx context.Context, r fetch.Request) (fetch.Answer, error) {
	a, err := l.Fetcher.Fetch(ctx, r)
	if l.lose > 0 && r.Method != http.MethodGet {
		l.lose--
		return fetch.Answer{}, fetch.ErrUnreachable
	}
	return a, err
}

// TestAnswersAreLost: a write whose answer is lost is carried out once, and succeeds.
func TestAnswersAreLost(t *testing.T) {
	s := newService(t)
	l := &lossy{Fetcher: fetching.New(fetching.Config{})}
	d := remote.New(l, remote.Config{URL: s.url, Secret: s.admin, Trusted: true, Pause: time.Millisecond})
	p := sync.Policy{Kind: sync.KindPlan, Terms: sync.Terms{Name: "Gold", Rate: 1, Per: 1}}
	l.lose = 1
	ref, err := d.Create(t.Context(), sync.New(p, nil, ""))
	if err != nil || ref.ObjectID == "" {
		t.Fatal(ref, err)
	}
	if n := s.writes.Load(); n != 1 {
		t.Errorf("%d writes for one policy", n)
	}
	read, err := d.Policy(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	read.Document.Set("rate", doc.NewInt(7))
	l.lose = 1
	if err := d.Replace(t.Context(), read); err != nil {
		t.Error(err)
	}
	l.lose = 1
	if err := d.Delete(t.Context(), ref); err != nil {
		t.Error(err)
	}
	if list, err := d.Policies(t.Context()); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}

// TestAnswersOfOthers: errors quote a bounded part of a dashboard's answer, without the
// credential.
func TestAnswersOfOthers(t *testing.T) {
	const secret = "hunter2hunter2"
	for name, c := range map[string]struct {
		status int
		body   string
		want   error
	}{
		"no JSON":               {200, "<html>", dashboard.ErrUnreachable},
		"no list":               {200, `{"Data":{}}`, dashboard.ErrUnreachable},
		"an echo":               {403, `{"Message":"key ` + secret + ` is unknown"}`, dashboard.ErrRefused},
		"a long text":           {400, `{"Message":"` + strings.Repeat("x", 5000) + `"}`, dashboard.ErrRefused},
		"lines":                 {400, `{"Message":"a\nb\u001b[31m"}`, dashboard.ErrRefused},
		"trouble":               {500, `{}`, dashboard.ErrUnreachable},
		"too many":              {429, ``, dashboard.ErrUnreachable},
		"gone":                  {404, `{"Message":"Could not retrieve object list."}`, dashboard.ErrGone},
		"a redirection":         {302, ``, dashboard.ErrRefused},
		"more than can be read": {200, `{"Data":[` + strings.Repeat(`{},`, 60_000) + `{}]}`, dashboard.ErrRefused},
		"larger than allowed":   {200, strings.Repeat(" ", 1<<20), dashboard.ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked++
				w.WriteHeader(c.status)
				_, _ = io.Copy(w, bytes.NewReader([]byte(c.body)))
			}))
			defer server.Close()
			d := remote.New(fetching.New(fetching.Config{MaxBytes: 256 << 10}), remote.Config{URL: server.URL, Secret: secret, Trusted: true, Pause: time.Millisecond, Attempts: 3})
			_, err := d.Policies(t.Context())
			if !errors.Is(err, c.want) || strings.Contains(err.Error(), secret) || len(err.Error()) > 400 || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%v", err)
			}
			if again := c.status == 500 || c.status == 429; again != (asked == 3) {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

// TestListsWithoutEntries: dashboards encode an empty list as [] or as null. An answer
// without a list is an error.
func TestListsWithoutEntries(t *testing.T) {
	for body, want := range map[string]error{
		`{"Data":[],"Pages":0}`:   nil,
		`{"Data":null,"Pages":0}`: nil,
		`{"data":null}`:           nil,
		`[]`:                      nil,
		`{"Pages":0}`:             dashboard.ErrUnreachable,
		`null`:                    dashboard.ErrUnreachable,
	} {
		if list, err := dashboard.DecodePolicies([]byte(body)); len(list) != 0 || !errors.Is(err, want) {
			t.Errorf("%s: %v, %v", body, list, err)
		}
	}
	if list, err := dashboard.DecodePolicies([]byte(`{"Data":null,"data":[{"_id":"1"}]}`)); len(list) != 1 || err != nil {
		t.Error(list, err)
	}
}

// TestBusyKeys: a change of a key that conflicts with a running one is a temporary error.
func TestBusyKeys(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.WriteHeader(http.StatusConflict)
	}))
	defer server.Close()
	for name, d := range map[string]dashboard.Dashboard{
		"remote": remote.New(fetching.New(fetching.Config{}), remote.Config{URL: server.URL, Trusted: true, Pause: time.Millisecond, Attempts: 3}),
		"local": local.New(func(context.Context, string, *operation.Call) (any, error) {
			return nil, fault.New(fault.Conflict, intent.CodeBusy, "another change is open")
		}, nil, ""),
	} {
		session := doc.NewObject()
		_, created := d.CreateKey(t.Context(), "one", session)
		_, replaced := d.ReplaceKey(t.Context(), dashboard.KeyName{Text: "one"}, session)
		for _, err := range []error{created, replaced, d.DeleteKey(t.Context(), dashboard.KeyName{Text: "one"})} {
			if !errors.Is(err, dashboard.ErrUnreachable) || errors.Is(err, dashboard.ErrRefused) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if asked != 9 {
		t.Errorf("asked %d times", asked)
	}
}

// TestPrivateAddresses: an address that the operator has not chosen must not lead into the
// private network.
func TestPrivateAddresses(t *testing.T) {
	s := newService(t)
	before := s.calls.Load()
	d := remote.New(fetching.New(fetching.Config{}), remote.Config{URL: s.url, Secret: s.admin})
	if _, err := d.Policies(t.Context()); !errors.Is(err, dashboard.ErrRefused) || s.calls.Load() != before {
		t.Error(err)
	}
}

// TestSlowAnswers: a call ends at its deadline.
func TestSlowAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	d := remote.New(fetching.New(fetching.Config{}), remote.Config{URL: server.URL, Secret: "x", Trusted: true, Timeout: 20 * time.Millisecond, Attempts: 2, Pause: time.Millisecond})
	if _, err := d.Policies(t.Context()); !errors.Is(err, dashboard.ErrUnreachable) {
		t.Error(err)
	}
}

// FuzzDecode decodes arbitrary answers of a dashboard without panic, and plans with the
// result.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"Data":[{"_id":"1","id":"gold","partitions":{"acl":true},"access_rights":{"a":null}}],"Pages":1}`))
	f.Add([]byte(`{"apis":[{"api_definition":{"api_id":"a","use_keyless":true}}],"mcps":[{"x-tyk-api-gateway":{"info":{"id":"p"}}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		apis, _ := dashboard.DecodeAPIs(text)
		proxies, _ := dashboard.WithProxies(nil, text, nil)
		list, _ := dashboard.DecodePolicies(text)
		s := sync.State{APIs: sync.NewIndex(append(apis, proxies...))}
		for _, n := range list {
			p, _ := sync.Read(n, s.APIs, nil)
			s.Policies = append(s.Policies, p)
		}
		want, _ := sync.Want(s)
		if _, err := json.Marshal(sync.Plan(s, want)); err != nil {
			t.Fatal(err)
		}
	})
}
