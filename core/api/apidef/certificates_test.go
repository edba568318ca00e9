package apidef_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

const withCertificates = `{"name":"Orders","client_certificates":["c","both","c"],"certificates":["s",""],"upstream_certificates":{"a.example":"u","*":"both"},` +
	`"pinned_public_keys":{"a.example":"p, q","b.example":"p"},"request_signing":{"is_enabled":true,"certificate_id":"r"},"later":1}`

const documentWithCertificates = `{"openapi":"3.0.3","x-tyk-api-gateway":{"info":{"name":"Orders"},"server":{"clientCertificates":{"enabled":true,"allowlist":["c","both"]},` +
	`"customDomain":{"certificates":["s"]}},"upstream":{"mutualTLS":{"domainToCertificateMapping":[{"domain":"a.example","certificate":"u"},{"domain":"*","certificate":"both"}]},` +
	`"certificatePinning":{"domainToPublicKeysMapping":[{"domain":"a.example","publicKeys":["p","q"]},{"domain":"b.example","publicKeys":["p"]}]},` +
	`"authentication":{"requestSigning":{"enabled":true,"certificateId":"r"}}}}}`

func certified(t *testing.T, class apidef.Class, definition, document string) apidef.API {
	t.Helper()
	d := apidef.Draft{ID: "5f1a0c5d8e3b2a1f00000009", APIID: "orders", OrgID: "o", Class: class}
	var err error
	if d.Definition, err = doc.ParseNode([]byte(definition)); err != nil {
		t.Fatal(err)
	}
	if document != "" {
		if d.Document, err = doc.ParseNode([]byte(document)); err != nil {
			t.Fatal(err)
		}
	}
	a, err := apidef.New(d, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestCertificates(t *testing.T) {
	a := certified(t, apidef.Classic, withCertificates, "")
	want := []apidef.Certificate{
		{ID: "both", Use: "client"}, {ID: "both", Use: "upstream"}, {ID: "c", Use: "client"},
		{ID: "p", Use: "upstream"}, {ID: "q", Use: "upstream"}, {ID: "r", Use: "upstream"}, {ID: "s", Use: "server"}, {ID: "u", Use: "upstream"},
	}
	if got := a.Certificates(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	if got := slices.Sorted(slices.Values(a.KeyCertificates())); !slices.Equal(got, []string{"both", "r", "s", "u"}) {
		t.Errorf("%q", got)
	}
	inAllRoles := certified(t, apidef.Classic, `{"certificates":["x"],"request_signing":{"certificate_id":"x"},"client_certificates":["x"]}`, "").Certificates()
	if want := []apidef.Certificate{{ID: "x", Use: "client"}, {ID: "x", Use: "upstream"}, {ID: "x", Use: "server"}}; !reflect.DeepEqual(inAllRoles, want) {
		t.Errorf("%v", inAllRoles)
	}
	for _, odd := range []string{`{}`, `{"client_certificates":null}`, `{"client_certificates":7,"upstream_certificates":[],"pinned_public_keys":"x","certificates":{},"request_signing":"x"}`} {
		if got := certified(t, apidef.Classic, odd, "").Certificates(); len(got) != 0 {
			t.Errorf("%s: %v", odd, got)
		}
	}
}

// TestWithoutCertificate: the certificate is removed from every place, in both forms, and
// nothing else changes.
func TestWithoutCertificate(t *testing.T) {
	for id, gone := range map[string][]string{
		"c":       {`"c",`, `,"c"`},
		"both":    {`,"both"`, `,"*":"both"`, `,{"domain":"*","certificate":"both"}`},
		"u":       {`"a.example":"u",`, `{"domain":"a.example","certificate":"u"},`},
		"p":       {`p, `, `,"b.example":"p"`, `"p",`, `,{"domain":"b.example","publicKeys":["p"]}`},
		"q":       {`, q`, `,"q"`},
		"r":       {`,"certificate_id":"r"`, `,"certificateId":"r"`},
		"s":       {`"s"`},
		"nothing": nil,
	} {
		t.Run(id, func(t *testing.T) {
			clean := func(text string) string {
				for _, g := range gone {
					text = strings.ReplaceAll(text, g, "")
				}
				return strings.ReplaceAll(strings.ReplaceAll(text, "p, q", "p,q"), `["s",""]`, `["s",""]`)
			}
			a, err := certified(t, apidef.OAS, withCertificates, documentWithCertificates).WithoutCertificate(id, time.Unix(2, 0))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range a.Certificates() {
				if c.ID == id {
					t.Errorf("still used: %v", c)
				}
			}
			if id == "s" { // the item is the only one, or is before an empty one
				return
			}
			same(t, a.Definition(), clean(withCertificates))
			same(t, a.Document(), clean(documentWithCertificates))
		})
	}
	a := certified(t, apidef.Classic, withCertificates, "")
	if b, err := a.WithoutCertificate("c", time.Unix(2, 0)); err != nil || b.Document() != nil || !b.Updated().After(a.Updated()) || b.APIID() != "orders" {
		t.Error(err)
	}
}

// same compares texts without the members that an API writes itself.
func same(t *testing.T, got []byte, want string) {
	t.Helper()
	var g, w map[string]any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err, want)
	}
	for _, m := range []map[string]any{g, w} {
		for _, name := range []string{"id", "api_id", "org_id"} {
			delete(m, name)
		}
		if extension, ok := m["x-tyk-api-gateway"].(map[string]any); ok {
			delete(extension, "info")
		}
	}
	if fmt.Sprint(g) != fmt.Sprint(w) {
		t.Errorf("%s\nis not\n%s", fmt.Sprint(g), fmt.Sprint(w))
	}
}

func TestTypeName(t *testing.T) {
	for definition, want := range map[string]string{
		`{}`: "Tyk Classic", `{"protocol":"tcp"}`: "TCP", `{"protocol":"tls"}`: "TCP", `{"graphql":{"enabled":true,"execution_mode":"executionEngine"}}`: "Tyk UDG",
		`{"graphql":{"enabled":true,"execution_mode":"subgraph"}}`: "Subgraph", `{"graphql":{"enabled":true,"execution_mode":"supergraph"}}`: "Supergraph",
		`{"graphql":{"enabled":true,"execution_mode":"proxyOnly"}}`: "Tyk GraphQL",
	} {
		if got := certified(t, apidef.Classic, definition, "").TypeName(); got != want {
			t.Errorf("%s: %s", definition, got)
		}
	}
	if got := certified(t, apidef.Streams, `{}`, documentWithCertificates).TypeName(); got != "Tyk Streams" {
		t.Error(got)
	}
	if got := certified(t, apidef.MCP, `{}`, documentWithCertificates).TypeName(); got != "Tyk OAS" {
		t.Error(got)
	}
}

// TestManyCertificates: lists of certificates may be as long as a body allows.
func TestManyCertificates(t *testing.T) {
	growth.Linear(t, 2_500, func(size int) func() {
		var b strings.Builder
		for i := range size {
			fmt.Fprintf(&b, `"c%d",`, i)
		}
		a := certified(t, apidef.Classic, `{"name":"Orders","client_certificates":[`+b.String()+`"c0"]}`, "")
		return func() {
			if got := a.Certificates(); len(got) != size {
				t.Error(len(got))
			}
		}
	})
}
