package gatewaysim

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/tinylib/msgp/msgp"
)

// TestRecords: each request to an API leaves a record in the control plane's format.
func TestRecords(t *testing.T) {
	f := newFake(t)
	f.always(pathAPIs, feed(apiEntry(keyless("free", "/free/")), apiEntry(with(keyless("quiet", "/quiet/"), map[string]any{"do_not_track": true}))))
	cfg := f.config()
	cfg.Redis.Addr, cfg.Records = redisAddr(t), true
	g := loaded(t, cfg)
	for _, path := range []string{"/free/a", "/quiet/a", "/none", "/free/b"} {
		g.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	}
	client := redis.NewClient(&redis.Options{Addr: cfg.Redis.Addr})
	defer client.Close()
	entries, err := client.LRange(t.Context(), RecordList, 0, -1).Result()
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	members, rest, err := msgp.ReadMapStrIntfBytes([]byte(entries[1]), nil)
	if err != nil || len(rest) > 0 || len(members) != 35 || members["Path"] != "/b" || members["APIID"] != "free" || members["ResponseCode"] != int64(200) {
		t.Errorf("%v %v", members, err)
	}
}
