package contract_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/gateway/local"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// clientPlans are the plans for OAuth clients and certificates in gateways.
var clientPlans = map[string]plan{
	"oauth.list":    {path: withClient, query: map[string][]string{"p": {"1", "2", "-1"}}},
	"oauth.create":  {path: oauthAPI, bodies: fixed(`{"redirect_uri":"https://app.example.com/callback","description":"Billing","client_name":"App","meta_data":{"team":"billing"}}`, `{}`)},
	"oauth.get":     {path: withClient},
	"oauth.replace": {path: withClient, bodies: fixed(`{"redirect_uri":"https://app.example.com/other","description":"Billing","meta_data":{"team":"billing"}}`, `{}`)},
	"oauth.rotate":  {path: withClient},
	"oauth.delete":  {path: withClient},
	"oauth.tokens":  {path: withClient},
	"oauth.authorize": {path: withClient, options: issuingCodes, bodies: func(_ *service, path map[string]string) []string {
		return []string{fmt.Sprintf(`{"response_type":"code","client_id":%q,"redirect_uri":"https://app.example.com/callback","key_rules":"{\"access_rights\":{\"%s\":{}}}"}`, path["clientId"], path["apiId"])}
	}},
	"oauth.revoke":     {path: withClient, bodies: fixed(`{"token":"abc","token_type_hint":"access_token"}`)},
	"oauth.revoke-all": {path: withClient, bodies: fixed(`{"client_secret":"s3cret"}`)},

	"certs.list":         {path: certificated, query: map[string][]string{"p": {"1", "2", "-1"}, "mode": {"detailed", ""}, "filter": {"omit", "with_pk", "without_pk"}}},
	"certs.details":      {path: certificated, query: map[string][]string{"p": {"1", "2", "-1"}, "filter": {"omit", "with_pk", "without_pk"}}},
	"certs.create":       {bodies: fresh(newCertificate, newCertificate), header: pictureForm},
	"certs.get":          {path: certificated},
	"certs.delete":       {path: certificated},
	"certs.apis":         {path: certificated, query: map[string][]string{"p": {"1", "2", "-1"}}},
	"certs.dependencies": {path: certificated},
	"certs.detach":       {path: certificated},
}

// oauthAPI creates an API whose tokens gateways issue.
func oauthAPI(t testing.TB, s *service) map[string]string {
	t.Helper()
	id := fmt.Sprintf("oauth-%d", s.next())
	s.must(t, request{method: "POST", path: "/api/apis", as: admin, body: fmt.Appendf(nil,
		`{"api_definition":{"name":%q,"api_id":%[1]q,"active":true,"use_oauth2":true,"proxy":{"listen_path":"/%[1]s/","target_url":"http://orders.example.com/"}}}`, id)})
	return map[string]string{"apiId": id}
}

// withClient creates an API with a client.
func withClient(t testing.TB, s *service) map[string]string {
	t.Helper()
	path := oauthAPI(t, s)
	path["clientId"] = fmt.Sprintf("client-%d", s.next())
	a := s.ask(t, request{method: "POST", path: "/api/apis/oauth/" + path["apiId"], as: admin,
		body: fmt.Appendf(nil, `{"client_id":%q,"secret":"s3cret","redirect_uri":"https://app.example.com/callback"}`, path["clientId"])})
	if a.status != 200 {
		t.Fatal(a)
	}
	return path
}

// newCertificate returns a form with a new certificate.
func newCertificate(int, string) string {
	return "--b\r\nContent-Disposition: form-data; name=\"cert\"; filename=\"a.pem\"\r\n\r\n" + freshPEM() + "\r\n--b--\r\n"
}

// freshPEM returns a new certificate.
func freshPEM() string {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "orders.example.com"}, NotAfter: time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// certificated uploads a certificate.
func certificated(t testing.TB, s *service) map[string]string {
	t.Helper()
	a := s.ask(t, request{method: "POST", path: "/api/certs", as: admin, body: []byte(newCertificate(0, "")), header: pictureForm[0]})
	var made struct{ ID string }
	if err := json.Unmarshal(a.body, &made); err != nil || made.ID == "" {
		t.Fatalf("%v in %s", err, a)
	}
	return map[string]string{"certId": made.ID}
}

// issuing is local.Clients with support for codes.
type issuing struct{ *local.Clients }

func (issuing) Authorize(_ context.Context, _ tenant.ID, a gateway.Authorization) (*doc.Node, error) {
	out := doc.NewObject()
	out.Set("code", doc.NewString("c0de"))
	out.Set("redirect_to", doc.NewString(a.RedirectURI+"?code=c0de"))
	return out, nil
}

// issuingCodes makes a service use gateways that issue codes.
func issuingCodes() []app.Option {
	db, err := memdb.New(apptest.Clock())
	if err != nil {
		panic(err)
	}
	secrets, err := crypto.NewKeys("a secret of the gateways")
	if err != nil {
		panic(err)
	}
	shelf := local.Shelf{Store: db, Secrets: secrets}
	all := func(context.Context, store.Reader, string) (bool, error) { return true, nil }
	return []app.Option{app.WithGatewayControl(gateway.Control{
		Clients:      issuing{&local.Clients{Shelf: shelf, NewID: apptest.Numbered("%024x"), Loaded: all}},
		Certificates: &local.Certificates{Shelf: shelf},
		Keys:         &local.Keys{Store: db, Secrets: secrets, Passwords: crypto.Passwords{Iterations: 2}, NewID: apptest.Numbered("%024x"), Now: apptest.Clock()},
	})}
}
