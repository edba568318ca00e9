package versioning_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
)

// TestRebaseAcrossClasses: an API that may be a version of a streams API may also
// become its base, and both keep their classes.
func TestRebaseAcrossClasses(t *testing.T) {
	w := apistest.New(t, apis.Settings{Streams: true})
	w.Done("admin", "POST", "/apis/streams", apistest.Document("s", "S", "/s/"))
	w.Done("admin", "POST", "/apis/oas?base_api_id=s&base_api_version_name=v1&new_version_name=v2", apistest.Document("o", "O", "/o/"))
	w.Want("admin", "PATCH", "/apis/oas/s/rebase/o", "", 200, "API converted successfully")
	w.Want("admin", "GET", "/apis/oas/o/versions", "", 200, `{"apis":[{"id":"s","name":"S","versionName":"v1","internal":false,"expirationDate":"","isDefaultVersion":true}],"pages":1}`)
	w.Want("admin", "GET", "/apis/streams/s", "", 200, `"id":"s"`)
	w.Want("admin", "GET", "/apis/streams/o", "", 400, "API is not a streams API")
	w.Want("admin", "PATCH", "/apis/oas/o/rebase/s", "", 200, "API converted successfully")
	w.Want("admin", "GET", "/apis/oas/s/versions", "", 200, `{"apis":[{"id":"o","name":"O","versionName":"v2","internal":false,"expirationDate":"","isDefaultVersion":false}],"pages":1}`)
}
