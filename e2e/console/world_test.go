package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/serve"
)

// Credentials of the admin of a world.
const (
	address  = "ada@example.com"
	password = "a-long-passphrase"
	key      = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	node     = "node-secret"
)

// world is the program with in-memory storage, served on its own port.
type world struct {
	t  testing.TB
	at string
}

// newWorld starts the program. Further settings are given as environment variables.
func newWorld(t testing.TB, environ ...string) *world {
	t.Helper()
	at, stop := serving(t, "127.0.0.1:0", environ...)
	t.Cleanup(stop)
	return &world{t: t, at: at}
}

// serving starts the program at an address and returns a function that stops it.
func serving(t testing.TB, at string, environ ...string) (string, func()) {
	t.Helper()
	host, port, err := net.SplitHostPort(at)
	must(t, err)
	s, report := config.Load(nil, "", append([]string{"SVC_DB_STORAGE_MAIN_TYPE=memory", "SVC_DB_LISTENADDRESS=" + host, "SVC_DB_LISTENPORT=" + port, "SVC_DB_SHUTDOWN_GRACEPERIOD=0s",
		"SVC_DB_NODESECRET=" + node, "SVC_DB_ADMINSECRET=admin-secret", "SVC_DB_NOTIFYONCHANGE=false",
		"SVC_DB_BOOTSTRAP_EMAIL=" + address, "SVC_DB_BOOTSTRAP_PASSWORD=" + password, "SVC_DB_BOOTSTRAP_ACCESSKEY=" + key, "SVC_DB_BOOTSTRAP_FIRSTNAME=Ada"}, environ...), config.Options{})
	must(t, report.Err())
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- serve.Run(ctx, s, slog.New(slog.DiscardHandler), "test", func(a net.Addr) { ready <- a.String() })
	}()
	select {
	case at = <-ready:
	case err := <-done:
		t.Fatal(err)
	case <-time.After(30 * time.Second):
		t.Fatal("the program does not start")
	}
	return "http://" + at, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// ask calls the API as the admin and decodes the answer.
func (w *world) ask(method, path, body string) (out map[string]any) {
	w.t.Helper()
	status, text := w.try(method, path, body, key)
	if status >= 300 {
		w.t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	_ = json.Unmarshal(text, &out) // on an error the lists stay empty
	return out
}

// try calls the API with an access key.
func (w *world) try(method, path, body, key string) (int, []byte) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, w.at+path, bytes.NewReader([]byte(body)))
	must(w.t, err)
	req.Header.Set("Authorization", key)
	req.Header.Set("Accept", "application/json")
	res, err := http.DefaultClient.Do(req)
	must(w.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	must(w.t, err)
	return res.StatusCode, text
}

// signIn opens the console as the admin.
func (w *world) signIn(t testing.TB) *tab {
	t.Helper()
	b := open(t, w.at)
	b.Expect("/api/users/me") // before the sign-in: 401
	b.load("")
	b.Fill("E-mail address", address)
	b.Fill("Password", password)
	b.Click("Sign in")
	b.See("Needs attention")
	return b
}
