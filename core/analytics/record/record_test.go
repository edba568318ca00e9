package record_test

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/record"
)

func TestClean(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	r := record.Record{
		Path: "/a\x00b\xff", UserAgent: long, RawRequest: long, Tags: make([]string, 1000), RequestTime: -5, Latency: record.Latency{Total: math.MaxInt64},
		Geo: record.Geo{Latitude: math.NaN(), Longitude: math.Inf(1), CityNames: map[string]string{"en\x00": "\xff"}}, ExpireAt: time.Unix(math.MaxInt64, 0),
		GraphQL: record.GraphQL{Types: []record.Type{{Name: "\x00T", Fields: []string{"\xfe"}}}}, Network: record.Network{In: math.MaxInt64, Out: -1},
	}
	r.Tags[0] = "\x00tag"
	r.Clean()
	if r.Path != "/ab\uFFFD" || len(r.UserAgent) != 8<<10 || len(r.RawRequest) != len(long) || len(r.Tags) != record.MaxList || r.Tags[0] != "tag" {
		t.Errorf("%q %d %d %q", r.Path, len(r.UserAgent), len(r.Tags), r.Tags[0])
	}
	if r.RequestTime != 0 || r.Latency.Total != 1e9 || r.Geo.Latitude != 0 || r.Geo.Longitude != 0 || r.Geo.CityNames["en"] != "\uFFFD" || r.ExpireAt.Year() > 10000 ||
		r.GraphQL.Types[0].Name != "T" || r.GraphQL.Types[0].Fields[0] != "\uFFFD" || r.Network.In != 1e14 || r.Network.Out != 0 {
		t.Errorf("%+v", r)
	}
	if got := record.Text("aé", 2); got != "a" {
		t.Errorf("%q", got)
	}
}

func TestRedact(t *testing.T) {
	request := "GET /a?access_token=SECRET1&q=1 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer SECRET2\r\nX-Other: my SECRETKEY is here\r\n folded SECRET3\r\nCookie: c=SECRET4\r\n\r\n{\"password\":\"BODY\"}"
	encoded := base64.StdEncoding.EncodeToString([]byte(request))
	for level, holds := range map[record.Level]string{record.All: "BODY", record.Bodies: "BODY", record.Headers: "Host: h", record.Nothing: ""} {
		r := record.Record{RawRequest: encoded, RawResponse: "no base64", APIKey: "SECRETKEY"}
		r.Redact(level)
		text, err := base64.StdEncoding.DecodeString(r.RawRequest)
		if err != nil || !strings.Contains(string(text), holds) {
			t.Errorf("%s: %v %q", level, err, text)
		}
		if level == record.All {
			continue
		}
		if strings.Contains(string(text), "SECRET") || r.RawResponse != "" || level == record.Headers && strings.Contains(string(text), "BODY") || level == record.Nothing && r.RawRequest != "" {
			t.Errorf("%s: %q %q", level, text, r.RawResponse)
		}
	}
}

// TestHide: a key is hidden in every place in which an API accepts it.
func TestHide(t *testing.T) {
	request := "GET /a?x-gold=SECRET1&q=1&token=SECRET2 HTTP/1.1\r\nHost: h\r\nX-Gold: SECRET3\r\nX-Plain: seen\r\nCookie: SECRET4\r\n\r\nbody with SECRETKEY"
	got, err := base64.StdEncoding.DecodeString(record.Hide(base64.StdEncoding.EncodeToString([]byte(request)), "SECRETKEY", []string{"x-gold", ""}, true))
	if text := string(got); err != nil || strings.Contains(text, "SECRET") || !strings.Contains(text, "GET /a?x-gold=***&q=1&token=*** HTTP/1.1\r\n") ||
		!strings.Contains(text, "X-Plain: seen") || !strings.HasSuffix(text, "body with ***") {
		t.Errorf("%q %v", text, err)
	}
	if got := record.Hide("SECRET, no base64", "", nil, true); got != "" {
		t.Errorf("%q", got)
	}
}

func FuzzHide(f *testing.F) {
	f.Add("GET /a?x-gold=1 HTTP/1.1\r\nX-Gold: 1\r\n\r\nbody", "x-gold")
	f.Add("?", "")
	f.Add("a?b=c", "b")
	f.Fuzz(func(t *testing.T, message, name string) {
		once := record.Hide(base64.StdEncoding.EncodeToString([]byte(message)), "", []string{name}, true)
		if twice := record.Hide(once, "", []string{name}, true); twice != once {
			t.Fatalf("%q, then %q", once, twice)
		}
	})
}

func TestPlausible(t *testing.T) {
	now := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	for at, good := range map[time.Time]bool{
		now: true, now.Add(47 * time.Hour): true, now.Add(49 * time.Hour): false, now.AddDate(-9, 0, 0): true, now.AddDate(-11, 0, 0): false,
		time.Unix(math.MaxInt64, 0): false, time.Unix(math.MinInt64, 0): false, {}: false,
	} {
		if err := record.Plausible(at, now); (err == nil) != good {
			t.Errorf("%d: %v", at.Unix(), err)
		}
	}
}

// TestCleanMaps: a map of names keeps as many entries as a list.
func TestCleanMaps(t *testing.T) {
	r := record.Record{Geo: record.Geo{Latitude: 48.1, Longitude: -11.5, CityNames: map[string]string{}}}
	for i := range record.MaxList + 5 {
		r.Geo.CityNames[strings.Repeat("x", i+1)] = "name"
	}
	r.Clean()
	if n := len(r.Geo.CityNames); n != record.MaxList || r.Geo.Latitude != 48.1 || r.Geo.Longitude != -11.5 {
		t.Errorf("%d names, at %v, %v", n, r.Geo.Latitude, r.Geo.Longitude)
	}
	r.Geo.CityNames = map[string]string{}
	if r.Clean(); r.Geo.CityNames != nil {
		t.Error("an empty map is stored")
	}
}

// TestCleanUptime: what clients can choose of an uptime check.
func TestCleanUptime(t *testing.T) {
	u := record.Uptime{URL: "http://h\x00/" + strings.Repeat("x", 10_000), APIID: "a\xff", OrgID: "o", RequestTime: math.MaxInt64, ExpireAt: time.Unix(-5, 0)}
	u.Clean()
	if len(u.URL) != 8<<10 || strings.Contains(u.URL, "\x00") || u.APIID != "a\uFFFD" || u.OrgID != "o" || u.RequestTime != 1e9 || u.ExpireAt.Unix() != 0 {
		t.Errorf("%.20q (%d), %q, %q, %d, %v", u.URL, len(u.URL), u.APIID, u.OrgID, u.RequestTime, u.ExpireAt)
	}
}

// TestOperations: the name of a GraphQL operation in the tables; numbers that no gateway of
// today sends have the name of the first.
func TestOperations(t *testing.T) {
	for n, want := range map[record.Operation]string{0: "Unknown", 1: "Query", 2: "Mutation", 3: "Subscription", 4: "Unknown", -1: "Unknown", math.MaxInt64: "Unknown"} {
		if got := n.String(); got != want {
			t.Errorf("operation %d is %s, want %s", n, got, want)
		}
	}
}
