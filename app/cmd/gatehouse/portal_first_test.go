package main

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/portal/door"
	"github.com/gatehouse-io/gatehouse/app/serve"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// TestPortalBootstrapAtStart: the flags, also with one dash, create the first admin and
// the first provider before the portal is served, only once, and print the token.
func TestPortalBootstrapAtStart(t *testing.T) {
	s := newShell(t)
	t.Setenv("SVC_PORTAL_HOSTPORT", "0")
	first := []string{"-bootstrap", "-user=ada@example.com", "-pass", "a-good-password", "--first-name", "Ada", "-provider-name=Main", "-provider-type=tyk-pro",
		`-provider-data={"URL":"http://dashboard.example:3000","Secret":"an-access-key"}`}
	token := started(t, append([]string{"portal"}, first...)...)
	if strings.Count(token, ".") != 2 {
		t.Fatalf("no token is printed: %q", token)
	}
	if again := started(t, append([]string{"portal"}, first...)...); again != "" {
		t.Errorf("a second bootstrap prints %q", again)
	}
	settings, report := config.Read("", config.Options{Portal: true})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	c, err := serve.Beside(t.Context(), settings, serve.NewLogger(&bytes.Buffer{}, settings.Log), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(t.Context(), "portal-providers.list", &operation.Call{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Text("portal-providers.list", answer)
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ Name, Type string }
	if err := json.Unmarshal(text, &list); err != nil || len(list) != 1 || list[0].Name != "Main" || list[0].Type != "tyk-pro" {
		t.Errorf("%s %v", text, err)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	s.says(1, "these flags need --bootstrap: --user, --pass", "portal", "--user", "ada@example.com")
	s.says(1, "--provider-data: …URL", "portal", "--bootstrap", "--provider-data", "{}")
	s.says(1, `--provider-type "other" is not known`, "portal", "--bootstrap", "--provider-name", "x", "--provider-type", "other")
	s.says(1, "--provider-data: …URL", "portal", "--bootstrap", "--provider-name", "x", "--provider-data", "{}")
	s.says(1, "portal.serve is off", "serve", "--bootstrap", "--user", "ada@example.com", "--pass", "a-good-password")
	t.Setenv("SVC_DB_HOMEDIR", t.TempDir())
	t.Setenv("ADMIN_PASSWORD", "short")
	s.says(1, "bootstrap of the portal: …password is too short", "portal", "--bootstrap", "--user", "ada@example.com")
	t.Setenv("ADMIN_PASSWORD", "")
	s.says(1, "bootstrap of the portal: …password", "portal", "--bootstrap", "--user", "ada@example.com")
}

// TestPortalFirstFromEnvironment: environment variables replace missing flags, only for
// a bootstrap, and help does not show their values.
func TestPortalFirstFromEnvironment(t *testing.T) {
	environ := map[string]string{"ADMIN_EMAIL": "env@example.com", "ADMIN_PASSWORD": "a-secret-word", "PROVIDER_NAME": "Env", "PROVIDER_DATA": "{}"}
	getenv := func(name string) string { return environ[name] }
	env := serve.PortalFirst{Admin: door.First{Username: "env@example.com", Password: "a-secret-word"}, ProviderName: "Env", ProviderData: "{}"}
	if got := (portalFirst{}).completed(getenv); got != env {
		t.Errorf("%+v", got)
	}
	flags := serve.PortalFirst{Admin: door.First{Username: "flag@example.com", Password: "another"}, ProviderName: "Flag", ProviderData: `{"URL":""}`}
	if got := (portalFirst{PortalFirst: flags}).completed(getenv); got != flags {
		t.Errorf("%+v", got)
	}
	environ["PROVIDER_DATA"] = ""
	if got := (portalFirst{}).completed(getenv); got.ProviderName != "" {
		t.Errorf("a name alone makes a provider: %+v", got)
	}
	s := newShell(t)
	for name, value := range environ {
		t.Setenv(name, value)
	}
	if help := s.run(0, "portal", "--help"); !strings.Contains(help, "ADMIN_PASSWORD") || strings.Contains(help, "a-secret-word") {
		t.Error(help)
	}
}

// started runs a service until it responds, and returns its output.
func started(t *testing.T, args ...string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var out bytes.Buffer
	errOut := &until{text: []byte("serving"), then: stop}
	if code := run(ctx, args, &out, errOut); code != 0 {
		t.Fatalf("%v ends with %d\n%s%s", args, code, &out, &errOut.all)
	}
	return strings.TrimSpace(out.String())
}

// until calls a function when a text is written to it.
type until struct {
	text []byte
	then func()
	all  bytes.Buffer
}

func (u *until) Write(b []byte) (int, error) {
	if bytes.Contains(b, u.text) {
		u.then()
	}
	return u.all.Write(b)
}

func TestDashed(t *testing.T) {
	got := dashed([]string{"portal", "-bootstrap", "-user=a@b.example", "--pass", "x", "-h", "-unknown", "-"})
	if want := []string{"portal", "--bootstrap", "--user=a@b.example", "--pass", "x", "-h", "-unknown", "-"}; !slices.Equal(got, want) {
		t.Error(got)
	}
}
