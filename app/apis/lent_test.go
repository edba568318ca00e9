package apis_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var organisations = &store.Kind[identity.Organisation]{
	Name: identity.OrganisationKind,
	ID:   func(o identity.Organisation) string { return string(o.ID) },
	Org:  func(o identity.Organisation) tenant.ID { return o.ID },
}

// TestCertificateOfAnotherOrganisation: gateways that organisations share would use a
// private key for every API that names it, so no operation stores a reference to one of
// another organisation. References that need no private key, that name no organisation,
// or that were stored before are accepted.
func TestCertificateOfAnotherOrganisation(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	certified := func(body, member string) string {
		return strings.Replace(body, `"name"`, member+`,"name"`, 1)
	}
	inDocument := func(id, upstream, server string) string {
		body := apistest.Document(id, "D"+id, "/"+id+"/")
		body = strings.Replace(body, `"upstream":{`, `"upstream":{`+upstream, 1)
		return strings.Replace(body, `"server":{`, `"server":{`+server, 1)
	}
	mutual := func(org string) string {
		return `"mutualTLS":{"enabled":true,"domainToCertificateMapping":[{"domain":"*","certificate":"` + org + hash + `"}]},`
	}
	prepare := func(t *testing.T, separate bool, stored ...string) *apistest.World {
		w := apistest.New(t, apis.Settings{Streams: true, SeparateGateways: separate})
		w.Done("other", "POST", "/apis", apistest.Classic("mine", "M", "/m/"))
		for _, body := range stored {
			w.Done("other", "POST", "/apis", body)
		}
		for _, org := range []tenant.ID{"a", "b"} {
			scope, err := tenant.Of(org)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.DB.Update(t.Context(), scope, func(wr store.Writer) error {
				return organisations.Insert(t.Context(), wr, identity.Organisation{ID: org})
			}); err != nil {
				t.Fatal(err)
			}
		}
		return w
	}
	classic := func(id, member string) string { return certified(apistest.Classic(id, "N"+id, "/"+id+"/"), member) }
	doors := []struct{ name, method, path, body string }{
		{"upstream", "POST", "/apis", classic("x", `"upstream_certificates":{"*":"a`+hash+`"}`)},
		{"signing", "POST", "/apis", classic("x", `"request_signing":{"is_enabled":true,"certificate_id":"a`+hash+`"}`)},
		{"domain", "POST", "/apis", classic("x", `"certificates":["b`+hash+`","a`+hash+`"]`)},
		{"replace", "PUT", "/apis/mine", classic("mine", `"upstream_certificates":{"*":"a`+hash+`"}`)},
		{"patch", "PATCH", "/apis/mine", `{"api_definition":{"upstream_certificates":{"*":"a` + hash + `"}}}`},
		{"OAS", "POST", "/apis/oas", inDocument("x", mutual("a"), "")},
		{"OAS domain", "POST", "/apis/oas", inDocument("x", "", `"customDomain":{"enabled":true,"name":"d.example","certificates":["a`+hash+`"]},`)},
		{"MCP", "POST", "/mcps", inDocument("x", mutual("a"), "")},
	}
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			w := prepare(t, false)
			before := w.Head()
			w.Want("other", d.method, d.path, d.body, 400, "certificate a"+hash+" belongs to another organisation")
			if w.Head() != before {
				t.Error("something is stored")
			}
			w = prepare(t, true)
			w.Done("other", d.method, d.path, d.body)
		})
	}
	t.Run("others", func(t *testing.T) {
		w := prepare(t, false, classic("old", `"upstream_certificates":{"*":"a`+hash+`"}`))
		w.Done("other", "PUT", "/apis/old", classic("old", `"certificates":["a`+hash+`"]`))
		w.Want("other", "PUT", "/apis/old", classic("old", `"certificates":["a`+strings.Repeat("f", 64)+`"]`), 400, "another organisation")
		w.Done("other", "POST", "/apis", classic("public", `"client_certificates":["a`+hash+`"],"pinned_public_keys":{"x.example":"a`+hash+`"}`))
		w.Done("other", "POST", "/apis", classic("absent", `"upstream_certificates":{"*":"c`+hash+`"},"certificates":["`+hash+`","/etc/tls/`+hash+`"]`))
		w.Done("other", "POST", "/apis/oas", inDocument("own", mutual("b"), ""))
		w.Done("admin", "POST", "/apis/oas", inDocument("theirs", mutual("a"), ""))
	})
}
