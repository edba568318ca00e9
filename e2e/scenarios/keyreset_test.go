package scenarios

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// TestKeyResetIsAnnounced: programs that use a user's access key are told its
// replacement. The keys are in the announcement, and in no file, even without
// encryption of documents.
func TestKeyResetIsAnnounced(t *testing.T) {
	addr, dir := harness.NewRedis(t).Addr(), t.TempDir()
	s := serve(t, onSQLite(dir).bootstrapping().with(environment{"REDISADDRS": addr, "ENCRYPTATREST": "false", "LOGLEVEL": "debug"}))
	messages := listen(t, addr)
	var made struct{ Message, Meta json.RawMessage }
	if err := s.api.call(t.Context(), http.MethodPost, "/api/users", object{"first_name": "Ada", "last_name": "Example", "email_address": "ada@example.com",
		"user_permissions": object{"apis": "read"}}, &made); err != nil {
		t.Fatal(err)
	}
	path := "/api/users/" + strings.Trim(string(made.Meta), `"`)
	key := func() string {
		var u struct {
			AccessKey string `json:"access_key"`
		}
		if err := s.api.call(t.Context(), http.MethodGet, path, nil, &u); err != nil || len(u.AccessKey) != 32 {
			t.Fatal(u, err)
		}
		return u.AccessKey
	}
	keys := []string{key()}
	for range 2 {
		if err := s.api.call(t.Context(), http.MethodPut, path+"/actions/key/reset", nil, nil); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key())
		old, fresh := keys[len(keys)-2], keys[len(keys)-1]
		select {
		case m := <-messages:
			var a announcement
			want := old + "." + fresh + ":UserKeyReset"
			if err := json.Unmarshal([]byte(m.Payload), &a); err != nil || a.Command != "UserKeyReset" || a.Payload != want || a.Signature != gatewaysim.Signature(a.Command, want, nodeSecret) {
				t.Fatalf("%v %+v, want %s", err, a, want)
			}
		case <-time.After(gatewayLimit):
			t.Fatal("nothing was announced")
		}
	}
	s.process.Stop(t)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, key := range keys {
		if strings.Contains(s.process.Logs(), key) {
			t.Error("the log has an access key")
		}
		for _, file := range files {
			if raw, err := os.ReadFile(file); err == nil && bytes.Contains(raw, []byte(key)) {
				t.Errorf("%s has an access key", filepath.Base(file))
			}
		}
	}
}
