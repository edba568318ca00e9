package migrate_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
)

// TestMigrationOfShadowed: another API may have chosen the database ID of one as its api_id.
func TestMigrationOfShadowed(t *testing.T) {
	f := newFarm(t, apis.Settings{})
	f.classic("real", "")
	id := f.call("admin", "GET", "/api/apis/real", "", 200).Get("api_definition", "id").Text()
	f.classic(id, "")
	f.expect(outcome(f.migrate("admin", `{"mode":"direct","apiIDs":["real"]}`)), "ok[real]")
	if f.call("admin", "GET", "/api/apis/"+id, "", 200).Get("api_definition", "is_oas").True() {
		t.Error("the other one is migrated")
	}
}

// TestMigrationOfVersions: an API to which the table of another one leads has its address
// below that one in its document, as after every other write.
func TestMigrationOfVersions(t *testing.T) {
	for mode, first := range map[string]string{"direct": "", "promote": "stage"} {
		f := newFarm(t, apis.Settings{})
		f.call("admin", "POST", "/api/apis/oas", `{"openapi":"3.0.3","info":{"title":"b","version":"1"},"paths":{},"x-tyk-api-gateway":{
			"info":{"id":"base","name":"base","state":{"active":true},"versioning":{"enabled":true,"name":"base","default":"self","location":"url","key":"v","versions":[{"name":"v1","id":"two"}]}},
			"server":{"listenPath":{"value":"/base/"}},"upstream":{"url":"http://up.example/"}}}`, 200)
		f.classic("two", "")
		if first != "" {
			f.migrate("admin", `{"mode":"`+first+`","apiIDs":["two"]}`)
		}
		f.expect(outcome(f.migrate("admin", `{"mode":"`+mode+`","apiIDs":["two"]}`)), "ok[two]")
		was := f.call("admin", "GET", "/api/apis/oas/two", "", 200)
		f.call("admin", "PUT", "/api/apis/oas/two", string(was.JSON()), 200)
		now := f.call("admin", "GET", "/api/apis/oas/two", "", 200)
		f.expect(string(was.Get("servers").JSON()), string(now.Get("servers").JSON()))
		if !strings.Contains(string(was.Get("servers").JSON()), "/base/v1") {
			t.Errorf("%s: %s", mode, was.Get("servers").JSON())
		}
	}
}
