package keys_test

import (
	"strings"
	"testing"
)

// TestUsers: clients read, change and delete basic-auth users below the path where they
// create them.
func TestUsers(t *testing.T) {
	inWorld(t, func(w *world) {
		const path = "/api/apis/keys/basic/bob"
		w.want("GET", path, "", 404, "Could not retrieve key detail.")
		w.want("PUT", path, `{"apply_policies":["gold"]}`, 404, "Could not retrieve key detail.")
		w.want("POST", path, `{"basic_auth_data":{"password":"correct horse"},"apply_policies":["gold"]}`, 200, `"key_id":"abob"`)
		w.want("PUT", path, `{"alias":"Bob","basic_auth_data":{"password":"battery staple"},"apply_policies":["gold"]}`, 200, `"key_id":"abob"`)
		if text := w.want("GET", path, "", 200, `"alias":"Bob"`); strings.Contains(text, "staple") || !strings.Contains(text, `"key_hash":"`) {
			t.Error(text)
		}
		w.want("PUT", path, `{"alias":7}`, 400, "malformed input")
		w.want("PUT", path, "[", 403, "Request body malformed.")
		w.as = "user" // a caller that may only read
		w.want("GET", path, "", 200, `"alias":"Bob"`)
		w.want("PUT", path, `{"apply_policies":["gold"]}`, 403, "")
		w.want("DELETE", path, "", 403, "")
		w.as = "admin"
		w.want("DELETE", path, "", 200, "Key deleted successfully.")
		w.want("DELETE", path, "", 404, "Could not retrieve key detail.")
	})
}
