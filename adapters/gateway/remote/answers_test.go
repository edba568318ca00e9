package remote_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/gateway/remote"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// TestAnswersOfOthers: a server that is not a gateway answers 200 and JSON. An answer about
// another object is an error. A write whose answer says nothing about it may have arrived.
func TestAnswersOfOthers(t *testing.T) {
	s := newScene(t, 1, 0)
	for _, body := range []string{`null`, `[]`, `5`, `{}`, `{"id":"another","client_id":"another","keys":null}`} {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
		defer other.Close()
		ask := func() gateway.Control {
			return s.client(func(c *remote.Config) { c.URLs = []string{other.URL} }).Control()
		}
		for _, name := range []string{"a certificate", "a client"} {
			if err := reads[name](t.Context(), s, ask()); !errors.Is(err, gateway.ErrUnreachable) {
				t.Errorf("%s: %s: %v", body, name, err)
			}
		}
		for name, w := range writes {
			switch err := w.do(t.Context(), s, ask()); {
			case err == nil && (body[0] != '{' || name == "store a client"):
				t.Errorf("%s: %s is done", body, name)
			case name == "store a client" && !errors.Is(err, gateway.ErrUncertain):
				t.Errorf("%s: %s: %v", body, name, err)
			}
		}
	}
}
