package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/certificates"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// looking counts how often units of work look through all APIs.
type looking struct {
	store.Store
	through atomic.Int32
}

func (l *looking) Update(ctx context.Context, scope tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	return l.Store.Update(ctx, scope, func(w store.Writer) error { return fn(lookingWriter{w, l}) })
}

type lookingWriter struct {
	store.Writer
	l *looking
}

func (w lookingWriter) Scan(ctx context.Context, q store.Query) iter.Seq2[store.Record, error] {
	if q.Kind == apidef.Kind && q.Index == "" && q.ID == "" {
		w.l.through.Add(1)
	}
	return w.Writer.Scan(ctx, q)
}

// Taking a certificate from what uses it holds the writer for the APIs that use it, and
// not for those that an organisation has.
func TestDetachingLooksAtUsersOnly(t *testing.T) {
	st := &looking{Store: ownStore()}
	a := service(t, nobodyWatches(), app.WithStore(st), app.WithGatewayControl(gatewaysOf(ownStore())))
	call := func(method, path, body string) string {
		t.Helper()
		code, text := fetch(t, a, method, path, "admin", body)
		if code != 200 {
			t.Fatalf("%s %s: %d %s", method, path, code, text)
		}
		return text
	}
	upload(t, a)
	id := "org-a" + certificateOf
	for i, uses := range []string{"", `"client_certificates":["` + id + `"],`, `"upstream_certificates":{"*":"` + id + `"},`, ""} {
		call("POST", "/api/apis", fmt.Sprintf(`{"api_definition":{"name":"A%d","api_id":"a%d",%s"active":true,"use_keyless":true,"proxy":{"listen_path":"/a%d/","target_url":"http://a.example/"}}}`, i, i, uses, i))
	}
	st.through.Store(0)
	call("DELETE", "/api/certs/dependencies/"+id, "")
	if n := st.through.Load(); n != 0 {
		t.Errorf("the unit of work looked through all APIs %d times", n)
	}
	if text := call("GET", "/api/certs/"+id+"/apis", ""); !strings.Contains(text, `"apis":[]`) {
		t.Error(text)
	}
}

// shelf is gateway.Certificates under a name that is not one of its methods.
type shelf = gateway.Certificates

// vanishing are gateways that lose a certificate after somebody has read it once.
type vanishing struct {
	shelf
	read atomic.Bool
}

func (v *vanishing) Certificate(ctx context.Context, org tenant.ID, id string) (certificate.Meta, error) {
	if v.read.Swap(true) {
		return certificate.Meta{}, gateway.ErrUnknown
	}
	return v.shelf.Certificate(ctx, org, id)
}

// Of several callers who delete a certificate at once, one is told that it did.
func TestCertificateDeletedMeanwhile(t *testing.T) {
	control := gatewaysOf(ownStore())
	v := &vanishing{shelf: control.Certificates}
	v.read.Store(true) // there is none before the upload
	control.Certificates = v
	a := service(t, nobodyWatches(), app.WithGatewayControl(control))
	upload(t, a)
	v.read.Store(false)
	if code, text := fetch(t, a, "DELETE", "/api/certs/org-a"+certificateOf, "admin", ""); code != 404 || !strings.Contains(text, "Could not delete certificate.") {
		t.Error(code, text)
	}
}

// A certificate that is not valid yet, and ends soon all the same, is told of from a time
// that is over.
func TestExpiryBeforeTheBeginning(t *testing.T) {
	now := apptest.Clock()().AddDate(-2, 0, 0) // the certificate begins a year later
	a := service(t, nobodyWatches(), app.WithGatewayControl(gatewaysOf(ownStore())), app.WithClock(func() time.Time { return now }),
		app.WithCertificateExpiry(certificates.Expiry{Days: 5000}))
	upload(t, a)
	code, text := fetch(t, a, "GET", "/api/org/notifications", "admin", "")
	var list []struct {
		Created time.Time `json:"created_at"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil || code != 200 || len(list) != 1 || list[0].Created.After(now) {
		t.Error(code, text, err)
	}
}
