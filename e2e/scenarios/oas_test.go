package scenarios

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

func post(path string) request { return request{method: http.MethodPost, path: path} }
func get(path string) request  { return request{path: path} }

// TestOAS follows OpenAPI documents: gateways enforce the classic form that is derived
// when they are saved.
func TestOAS(t *testing.T) {
	e := newEstate(t, nil)
	allow := object{"operations": object{"getOrder": object{"allow": object{"enabled": true}}}}
	made := e.api.do(t, http.MethodPost, oasAPIs, oasAPI("listed", object{"middleware": allow}))
	if made.ID != "listed" || made.Message != "API created" {
		t.Errorf("creation: %+v", made)
	}
	e.becomes(t, "a listed endpoint", get("/listed/orders/1"), http.StatusOK, `"api_id":"listed"`)
	e.answers(t, "an endpoint that is not listed", post("/listed/orders"), http.StatusForbidden, "")
	e.answers(t, "a path that is not described", get("/listed/other"), http.StatusForbidden, "")
	e.api.do(t, http.MethodPut, oasAPIs+"/listed", oasAPI("listed", nil))
	e.becomes(t, "without an allow list", post("/listed/orders"), http.StatusOK, "")
	t.Run("import", e.testImport)
	t.Run("patch", e.testPatch)
	t.Run("dry run", e.testDryRun)
	t.Run("inactive", e.testInactive)
	t.Run("refused documents", e.testRefusedDocuments)
	e.healthy(t)
}

// A plain description becomes an API with the settings in the query.
func (e *estate) testImport(t *testing.T) {
	made := e.api.do(t, http.MethodPost, oasAPIs+"/import?listenPath=/imported/&upstreamURL=http://127.0.0.1:9/&allowList=true", description("Imported"))
	if made.ID == "" || made.Message != "API created" {
		t.Fatalf("import: %+v", made)
	}
	e.becomes(t, "an imported endpoint", get("/imported/orders/7"), http.StatusOK, made.ID)
	e.answers(t, "another described endpoint", post("/imported/orders"), http.StatusOK, "")
	e.answers(t, "what is not described", get("/imported/other"), http.StatusForbidden, "")
	e.api.refused(t, http.MethodPost, oasAPIs+"/import", oasAPI("again", nil), http.StatusBadRequest, "The import payload should not contain x-tyk-api-gateway.")
	e.api.refused(t, http.MethodPost, oasAPIs, description("Plain"), http.StatusBadRequest, "The payload should contain x-tyk-api-gateway.")
}

// A new description is combined with the stored settings.
func (e *estate) testPatch(t *testing.T) {
	e.api.do(t, http.MethodPost, oasAPIs, oasAPI("patched", nil))
	e.becomes(t, "before the patch", get("/patched/other"), http.StatusOK, "")
	e.api.do(t, http.MethodPatch, oasAPIs+"/patched?allowList=true", description("Second edition"))
	e.becomes(t, "with the patch's allow list", get("/patched/other"), http.StatusForbidden, "")
	e.answers(t, "what the patch describes", get("/patched/orders/1"), http.StatusOK, "")
	if text := e.api.read(t, oasAPIs+"/patched"); !strings.Contains(text, "Second edition") || !strings.Contains(text, `"/patched/"`) {
		t.Errorf("patched: %s", text)
	}
}

func (e *estate) testDryRun(t *testing.T) {
	var built object
	if err := e.api.call(t.Context(), http.MethodPost, oasAPIs+"/dry-run?listenPath=/rehearsed/", object{"oas": description("Rehearsed")}, &built); err != nil {
		t.Fatal(err)
	}
	if built["x-tyk-api-gateway"] == nil {
		t.Errorf("dry run: %v", built)
	}
	var list struct{ APIs []object }
	if e.api.get(t, classicAPIs+"?p=-1&q=Rehearsed", &list); len(list.APIs) != 0 {
		t.Errorf("a dry run stored %v", list.APIs)
	}
}

// An inactive API is removed from the gateways and can return, in any form.
func (e *estate) testInactive(t *testing.T) {
	open := func(active bool) object { return classicAPI("bell", object{"use_keyless": true, "active": active}) }
	e.api.do(t, http.MethodPost, classicAPIs, open(true))
	document := func(active bool) object {
		return oasAPI("horn", object{"info": object{"id": "horn", "name": "horn", "state": object{"active": active}}})
	}
	e.api.do(t, http.MethodPost, oasAPIs, document(false))
	e.becomes(t, "active", get("/bell/x"), http.StatusOK, "")
	e.answers(t, "created inactive", get("/horn/x"), http.StatusNotFound, "")
	e.api.do(t, http.MethodPut, classicAPIs+"/bell", open(false))
	e.api.do(t, http.MethodPut, oasAPIs+"/horn", document(true))
	e.becomes(t, "switched off", get("/bell/x"), http.StatusNotFound, "")
	e.becomes(t, "switched on", get("/horn/x"), http.StatusOK, "")
	loaded := slices.ContainsFunc(e.gateway.State().APIs, func(a gatewaysim.API) bool { return a.ID == "bell" })
	if loaded {
		t.Error("an inactive API is in the feed")
	}
	e.api.do(t, http.MethodPut, classicAPIs+"/bell", open(true))
	e.becomes(t, "on again", get("/bell/x"), http.StatusOK, "")
}

// Documents that would harm gateways are refused, and the stored ones stay.
func (e *estate) testRefusedDocuments(t *testing.T) {
	before := e.api.read(t, classicAPIs+"/bell")
	wrong := func(members object) object {
		members["use_keyless"] = true
		return classicAPI("bell", members)
	}
	for _, members := range []object{{"active": "yes"}, {"proxy": object{"listen_path": "bell/", "target_url": "http://127.0.0.1:9/"}}, {"tags": "a"}} {
		e.api.refused(t, http.MethodPut, classicAPIs+"/bell", wrong(members), http.StatusBadRequest, "")
	}
	if after := e.api.read(t, classicAPIs+"/bell"); after != before {
		t.Errorf("changed by refused writes:\n%s\n%s", before, after)
	}
	noPath := extension("horn", nil)
	noPath["server"] = object{"listenPath": object{"value": "horn/"}}
	e.api.refused(t, http.MethodPut, oasAPIs+"/horn", oasAPI("horn", noPath), http.StatusBadRequest, "")
	e.api.refused(t, http.MethodGet, oasAPIs+"/nowhere", nil, http.StatusBadRequest, "Could not retrieve Api detail")
}
