package apis_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/app/apis/importing"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestIdentifierOfAnotherOrganisation: gateways that organisations share could not tell
// two APIs with one api_id apart, so no operation stores the second one. The fault is
// the same as for an ID in the caller's own organisation. Where gateways are separate,
// both are stored.
func TestIdentifierOfAnotherOrganisation(t *testing.T) {
	stream := strings.Replace(apistest.Document("taken", "S", "/s/"), `"x-tyk-api-gateway"`, `"x-tyk-streaming":{"streams":{}},"x-tyk-api-gateway"`, 1)
	doors := []struct{ name, method, path, body string }{
		{"classic", "POST", "/apis", apistest.Classic("taken", "A", "/x/")},
		{"classic replace", "PUT", "/apis/mine", apistest.Classic("taken", "A", "/x/")},
		{"classic patch", "PATCH", "/apis/mine", `{"api_definition":{"api_id":"taken"}}`},
		{"a version", "POST", "/apis?base_api_id=mine&base_api_version_name=v1&new_version_name=v2", apistest.Classic("taken", "A", "/x/")},
		{"OAS", "POST", "/apis/oas", apistest.Document("taken", "A", "/x/")},
		{"import", "POST", "/apis/oas/import?apiID=taken&listenPath=/x/", `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"servers":[{"url":"http://t"}],"paths":{}}`},
		{"streams", "POST", "/apis/streams", stream},
		{"MCP", "POST", "/mcps", apistest.Document("taken", "A", "/x/")},
	}
	prepare := func(t *testing.T, separate bool) *apistest.World {
		w := apistest.New(t, apis.Settings{Streams: true, SeparateGateways: separate})
		w.Done("admin", "POST", "/apis", apistest.Classic("taken", "T", "/t/"))
		w.Done("other", "POST", "/apis", apistest.Classic("mine", "M", "/m/"))
		return w
	}
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			w := prepare(t, false)
			w.Want("other", d.method, d.path, d.body, 409, `"Message":"Found API with the same ID`)
			w.Done("other", "GET", "/apis/mine", "")
			w = prepare(t, true)
			w.Done("other", d.method, d.path, d.body)
		})
	}
	t.Run("the program's import", func(t *testing.T) {
		w := prepare(t, false)
		w.Done("admin", "DELETE", "/apis/taken", "") // the ID is free again
		put := func(org tenant.ID, id, name string) error {
			n, err := doc.ParseNode([]byte(apistest.Document(id, name, "/"+name+"/")))
			if err != nil {
				t.Fatal(err)
			}
			checked, problems := w.Importing.Check(importing.Incoming{APIID: id, Class: apidef.OAS, Document: n}, org)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			scope, err := tenant.Of(org)
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.DB.Update(t.Context(), scope, func(wr store.Writer) error {
				_, err := w.Importing.Put(t.Context(), wr, checked)
				return err
			})
			return err
		}
		if err := put("b", "taken", "b"); err != nil {
			t.Fatal(err)
		}
		if err := put("a", "taken", "a"); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "Found API with the same ID") {
			t.Error(err)
		}
		if err := put("b", "taken", "again"); err != nil {
			t.Error(err)
		}
	})
	t.Run("a staged copy", func(t *testing.T) {
		w := prepare(t, false)
		w.Done("admin", "POST", "/apis", apistest.Classic("staging-mine", "W", "/w/"))
		w.Want("other", "POST", "/apis/migrate", `{"mode":"stage","apiIDs":["mine"]}`, 200, "Found API with the same ID")
		w.Want("other", "GET", "/apis/staging-mine", "", 400, "Could not retrieve API detail")
		w.Done("other", "POST", "/apis", apistest.Classic("next", "N", "/n/"))
		w.Want("other", "POST", "/apis/migrate", `{"mode":"stage","all":true}`, 200, `"stagedAPIs":[{"classicAPIID":"next"`) // a taken ID does not prevent the migration of the others
	})
}
