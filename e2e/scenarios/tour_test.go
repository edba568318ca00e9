package scenarios

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

// TestTour walks through a new user's first steps: bootstrap on the command line,
// serve, store a provider, map scopes, read the feed, restart.
func TestTour(t *testing.T) {
	env := onSQLite(t.TempDir())
	b := bootstrap(t, env)
	s := serve(t, env)
	s.api = newClient(s.api.base, "Authorization", "Bearer "+b.AccessKey)
	t.Cleanup(s.api.http.CloseIdleConnections)
	ctx := t.Context()
	for _, path := range []string{"/hello", "/health", "/api/openapi.json"} {
		if err := newClient(s.api.base, "X-Nobody", "").call(ctx, http.MethodGet, path, nil, nil); err != nil {
			t.Error(err)
		}
	}
	if err := newClient(s.api.base, "Authorization", accessKey).call(ctx, http.MethodGet, clientIDPs, nil, nil); statusOf(err) != http.StatusUnauthorized {
		t.Errorf("an unknown access key: %v", err)
	}
	id := s.tourRegistry(t, b.OrgID)
	s.tourFeed(t)
	s.process.Stop(t)
	s.restart(t)
	p, err := s.api.idp(ctx, id)
	if err != nil || p.APIMappings[ordersAPI].ScopeToPolicy["orders:write"] != "writer" {
		t.Errorf("after a restart: %+v, %v", p, err)
	}
	if err := s.api.call(ctx, http.MethodDelete, idpPath(id), nil, nil); err != nil {
		t.Error(err)
	}
	if _, err := s.api.idp(ctx, id); statusOf(err) != http.StatusNotFound {
		t.Errorf("after its deletion: %v", err)
	}
}

// tourRegistry stores a provider, maps scopes and returns the provider's _id.
func (s *service) tourRegistry(t *testing.T, org string) (id string) {
	t.Helper()
	ctx := t.Context()
	var made receipt
	record := idp{Name: "Keycloak", Issuer: "https://idp.example.com/realms/main", JWKSURI: "https://idp.example.com/jwks.json", OrgID: "elsewhere"}
	if err := s.api.call(ctx, http.MethodPost, clientIDPs, record, &made); err != nil {
		t.Fatal(err)
	}
	if made.Status != "success" || made.Message != "client idp created" || json.Unmarshal(made.Meta, &id) != nil {
		t.Fatalf("creation: %+v", made)
	}
	if _, err := s.api.putMapping(ctx, id, ordersAPI, mapping{map[string]string{"orders:read": "reader", "orders:old": "reader"}}); err != nil {
		t.Fatal(err)
	}
	p, err := s.api.patchMappings(ctx, id, scopes(ordersAPI, map[string]any{"orders:write": "writer", "orders:old": nil}))
	if got := fmt.Sprint(p.APIMappings); err != nil || got != "map[orders:{map[orders:read:reader orders:write:writer]}]" {
		t.Errorf("mappings %s, %v", got, err)
	}
	if p.OrgID != org || p.ClientIDPID != id || p.ID != id {
		t.Errorf("record %+v, want organisation %s and id %s", p, org, id)
	}
	var list struct {
		ClientIDPs []idp `json:"client_idps"`
		Pages      int   `json:"pages"`
	}
	if err := s.api.call(ctx, http.MethodGet, clientIDPs, nil, &list); err != nil || len(list.ClientIDPs) != 1 || list.Pages != 1 {
		t.Errorf("list %+v, %v", list, err)
	}
	return id
}

// tourFeed reads the registry as a gateway does.
func (s *service) tourFeed(t *testing.T) {
	t.Helper()
	g := startGateway(t, s.node.base, "", "gw-tour")
	waitFor(t, g, "the registry", func(st gatewaysim.State) bool { return st.Ready && len(g.Bindings(ordersAPI)) == 1 })
	if got := fmt.Sprint(g.Bindings(ordersAPI)[0].ScopeToPolicy); got != "map[orders:read:reader orders:write:writer]" {
		t.Errorf("the gateway has %s", got)
	}
	if err := g.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if hosts, err := s.api.liveNodes(t.Context()); err != nil || hosts != "" {
		t.Errorf("after the gateway left, listed: %q, %v", hosts, err)
	}
}

// TestGracefulStop stops a service while a request is half sent: the request is
// completed and stored, and no new one is accepted. The stop waits some seconds for the
// body.
func TestGracefulStop(t *testing.T) {
	s := serve(t, onSQLite(t.TempDir()).bootstrapping())
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	body := `{"client_idp_id":"late","name":"Late","jwks_uri":"https://idp.example.com/jwks.json"}`
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		clientIDPs, s.addr, accessKey, len(body))
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := answers.ReadString('\n'); err != nil { // the empty line after it
		t.Fatal(err)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.process.Stop(t)
	}()
	until(t, 30*time.Second, "the listener is closed", func() error {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			return nil
		}
		return errors.Join(errors.New("still accepting"), c.Close())
	})
	if _, err := io.WriteString(conn, body); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusCreated {
		t.Errorf("the request under way was answered %s", res.Status)
	}
	<-stopped
	s.restart(t)
	if _, err := s.api.idp(t.Context(), "late"); err != nil {
		t.Error(err)
	}
}
