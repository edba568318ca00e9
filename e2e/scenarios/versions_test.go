package scenarios

import (
	"net/http"
	"net/url"
	"testing"
)

// TestVersions follows an API with a child version: requests to the base are routed by
// its table.
func TestVersions(t *testing.T) {
	e := newEstate(t, nil)
	e.api.do(t, http.MethodPost, oasAPIs, oasAPI("base", nil))
	query := func(more ...string) string {
		q := url.Values{"base_api_id": {"base"}}
		for i := 0; i < len(more); i += 2 {
			q.Set(more[i], more[i+1])
		}
		return oasAPIs + "?" + q.Encode()
	}
	e.api.refused(t, http.MethodPost, query("base_api_version_name", "v1"), oasAPI("next", nil), http.StatusUnprocessableEntity, "")
	e.api.do(t, http.MethodPost, query("base_api_version_name", "v1", "new_version_name", "v2"), oasAPI("next", nil))
	version := func(path, name string) request { return request{path: path, header: [2]string{"X-Tyk-Version", name}} }
	serves := func(api string) string { return `"api_id":"` + api + `"` }
	e.becomes(t, "the child by its version", version("/base/x", "v2"), http.StatusOK, serves("next"))
	e.answers(t, "the base by its version", version("/base/x", "v1"), http.StatusOK, serves("base"))
	e.answers(t, "no version", get("/base/x"), http.StatusOK, serves("base"))
	e.answers(t, "unknown version", version("/base/x", "v9"), http.StatusNotFound, "This API version does not seem to exist")
	var list struct {
		APIs []struct{ ID, VersionName string }
	}
	if e.api.get(t, oasAPIs+"/base/versions", &list); len(list.APIs) != 1 || list.APIs[0].ID != "next" || list.APIs[0].VersionName != "v2" {
		t.Errorf("versions: %+v", list)
	}
	e.api.do(t, http.MethodPost, query("new_version_name", "v3", "set_default", "true"), oasAPI("third", nil))
	e.becomes(t, "a new default", get("/base/x"), http.StatusOK, serves("third"))

	t.Run("locations", e.testLocations)
	e.api.refused(t, http.MethodPatch, oasAPIs+"/next/rebase/base", nil, http.StatusBadRequest, "current-base-apiId must be a base API")
	e.api.do(t, http.MethodPatch, oasAPIs+"/base/rebase/next", nil)
	e.becomes(t, "the old base by its version", version("/next/x", "v1"), http.StatusOK, serves("base"))
	e.answers(t, "the new base by its version", version("/next/x", "v2"), http.StatusOK, serves("next"))
	e.answers(t, "the default stays", get("/next/x"), http.StatusOK, serves("third"))
	e.answers(t, "the old base routes no more", version("/base/x", "v2"), http.StatusOK, serves("base"))

	e.api.do(t, http.MethodDelete, oasAPIs+"/third", nil)
	e.becomes(t, "the default is the base again", get("/next/x"), http.StatusOK, serves("next"))
	e.answers(t, "a deleted version", version("/next/x", "v3"), http.StatusNotFound, "This API version does not seem to exist")
	e.api.do(t, http.MethodDelete, oasAPIs+"/next?purge=true", nil)
	e.becomes(t, "the base is gone", get("/next/x"), http.StatusNotFound, "")
	e.becomes(t, "its children too", get("/base/x"), http.StatusNotFound, "")
	e.healthy(t)
}

// testLocations changes where requests to the base name their version.
func (e *estate) testLocations(t *testing.T) {
	for _, tt := range []struct{ location, key, path string }{
		{"url-param", "v", "/base/x?v=v2"}, {"url", "", "/base/v2/x"}, {"header", "X-Tyk-Version", "/base/x"},
	} {
		var base object
		e.api.get(t, oasAPIs+"/base", &base)
		versioning := base["x-tyk-api-gateway"].(object)["info"].(object)["versioning"].(object)
		if versioning["location"], versioning["key"] = tt.location, tt.key; tt.key == "" {
			delete(versioning, "key")
		}
		e.api.do(t, http.MethodPut, oasAPIs+"/base", base)
		asked := request{path: tt.path}
		if tt.location == "header" {
			asked.header = [2]string{tt.key, "v2"}
		}
		e.becomes(t, "a version by "+tt.location, asked, http.StatusOK, `"api_id":"next"`)
	}
}
