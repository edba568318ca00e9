package records_test

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tinylib/msgp/msgp"

	"github.com/gatehouse-io/gatehouse/adapters/records"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

var at = time.Unix(1795319034, 441028055)

var full = gatewaysim.Record{
	Time: at, Method: "POST", Path: "/items/{id}/{uuid}/secretabc", RawPath: "/items/42/x/secretabc", UserAgent: "curl", Code: 201, RequestTime: 12, Upstream: 9,
	API: "kl", APIName: "Keyless", Org: "o1", Version: "Non Versioned", Key: "00000000", Alias: "a", OAuthClient: "c", Country: "NL",
	Tags: []string{"x-team-Blue", "edge-a", "my.tag", "key-00000000", "org-o1", "api-kl"}, Track: true, Request: "UkVR", Response: "UkVT",
	In: 1, Out: 2, Open: 3, Closed: 4, GraphQL: true, Operation: 2, GraphErrors: true, RootFields: []string{"user"}, Types: map[string][]string{"User": {"id", "name"}},
	MCPMethod: "tools/call", MCPPrimitive: "tool", MCPName: "get-weather",
}

var want = record.Record{
	Method: "POST", Host: "127.0.0.1:9090", Path: full.Path, RawPath: full.RawPath, OriginalPath: full.RawPath, ListenPath: "/", ContentLength: 7, UserAgent: "curl", IPAddress: "192.0.2.7",
	Day: int64(at.Day()), Month: int64(at.Month()), Year: int64(at.Year()), Hour: int64(at.Hour()), TimeStamp: at, ExpireAt: at.AddDate(100, 0, 0), ResponseCode: 201,
	APIVersion: "Non Versioned", APIName: "Keyless", APIID: "kl", OrgID: "o1", OauthID: "c", Alias: "a", APIKey: "00000000",
	Latency: record.Latency{Total: 12, Upstream: 9, Gateway: 3}, RequestTime: 12, RawRequest: "UkVR", RawResponse: "UkVT",
	Geo: record.Geo{Country: "NL"}, Network: record.Network{In: 1, Out: 2, Open: 3, Closed: 4}, Tags: full.Tags, TrackPath: true,
	GraphQL: record.GraphQL{RootFields: []string{"user"}, Types: []record.Type{{Name: "User", Fields: []string{"id", "name"}}}, Errors: []string{"no such field"}, Operation: 2, HasErrors: true, Is: true},
	MCP:     record.MCP{Is: true, Method: "tools/call", PrimitiveType: "tool", PrimitiveName: "get-weather"},
}

// TestBothEncodings decodes the same record in both encodings.
func TestBothEncodings(t *testing.T) {
	for protobuf, entry := range map[bool][]byte{false: full.Msgpack(), true: full.Protobuf()} {
		got, err := records.Decoder{}.Record(entry, protobuf)
		if len(got.Geo.CityNames) == 0 {
			got.Geo.CityNames = nil
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("protobuf %v: %v\n%+v\nwant\n%+v", protobuf, err, got, want)
		}
	}
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// captured are the parts of an entry that a gateway has written.
const captured = `
	de0007 a64d6574686f64 a4504f5354
	ad436f6e74656e744c656e677468 07
	a459656172 cd07ea
	a954696d655374616d70 92 ce6b0264fa ce1a498dd7
	a454616773 96 ab782d7465616d2d426c7565 a6656467652d61 a66d792e746167 ac6b65792d3030303030303030 a66f72672d6f31 a66170692d6b6c
	a84578706972654174 92 cf0000000126fa8594 ce1cea3a62
	a74e65774e616d65 93 01 80 c0`

// TestCaptured decodes an entry that a gateway has written, with a member of a later
// release.
func TestCaptured(t *testing.T) {
	r, err := records.Decoder{}.Record(unhex(t, captured), false)
	if err != nil || r.Method != "POST" || r.ContentLength != 7 || r.Year != 2026 || !r.TimeStamp.Equal(at) || r.ExpireAt.Unix() != 0x126fa8594 ||
		!reflect.DeepEqual(r.Tags, full.Tags) {
		t.Errorf("%+v %v", r, err)
	}
}

// uptime is an entry that a gateway has written.
const uptime = `8ea355524cb6687474703a2f2f3132372e302e302e313a393737372fab5265717565737454696d6500ac526573706f6e7365436f6465cd0209a85443504572726f72c3ab5365727665724572726f72c2a344617916a54d
	6f6e74680ba459656172cd07eaa4486f757203a64d696e7574652ba954696d655374616d7092ce6b0264d8ce255cb44ba8457870697265417492ce6b03b658ce255cb58ba54150494944a27570a54f72674944a26f31`

func TestUptime(t *testing.T) {
	u, err := records.Decoder{}.Uptime(unhex(t, uptime))
	if err != nil || u.URL != "http://127.0.0.1:9777/" || u.ResponseCode != 521 || !u.TCPError || u.ServerError || u.APIID != "up" || u.OrgID != "o1" ||
		u.TimeStamp.Unix() != 1795319000 || u.ExpireAt.Unix() != 1795319000+86400 || u.Hour != 3 || u.Minute != 43 || u.Day != 22 {
		t.Errorf("%+v %v", u, err)
	}
}

// TestOddities decodes variants that gateways may write but that were not captured.
func TestOddities(t *testing.T) {
	entry := func(members ...any) []byte {
		out := msgp.AppendMapHeader(nil, uint32(len(members)/2))
		for _, m := range members {
			out, _ = msgp.AppendIntf(out, m)
		}
		return out
	}
	stamp := []any{1795319034, 0}
	many := make([]string, 1000)
	for name, c := range map[string]struct {
		entry []byte
		good  func(record.Record) bool
	}{
		"nothing but a time":  {entry("TimeStamp", stamp), func(r record.Record) bool { return r.TimeStamp.Unix() == 1795319034 }},
		"nil in all places":   {entry("TimeStamp", stamp, "Tags", nil, "Geo", nil, "Method", nil, "Latency", nil), func(r record.Record) bool { return r.Tags == nil }},
		"invalid UTF-8":       {entry("TimeStamp", stamp, "Path", "/\xff\x00"), func(r record.Record) bool { return r.Path == "/\xff\x00" }},
		"bytes as text":       {entry("TimeStamp", stamp, "Path", []byte("/a")), func(r record.Record) bool { return r.Path == "/a" }},
		"a negative number":   {entry("TimeStamp", stamp, "ResponseCode", -1), func(r record.Record) bool { return r.ResponseCode == -1 }},
		"a number too large":  {entry("TimeStamp", stamp, "RequestTime", uint64(1<<64-1)), func(r record.Record) bool { return r.RequestTime == 1<<63-1 }},
		"too many tags":       {entry("TimeStamp", stamp, "Tags", many, "Path", "/a"), func(r record.Record) bool { return len(r.Tags) == record.MaxList && r.Path == "/a" }},
		"no map":              {msgp.AppendString(nil, "hello"), nil},
		"no record":           {entry("hello", "world"), nil},
		"half of a record":    {entry("TimeStamp", stamp, "Path", "/a")[:12], nil},
		"more than a record":  {append(entry("TimeStamp", stamp), 1), nil},
		"nothing":             {nil, nil},
		"a text as a number":  {entry("TimeStamp", stamp, "ResponseCode", "200"), nil},
		"a promise of memory": {[]byte("\x81\xa4Tags\xdd\xff\xff\xff\xff"), nil},
	} {
		got, err := records.Decoder{}.Record(c.entry, false)
		if (err == nil) != (c.good != nil) || err == nil && !c.good(got) {
			t.Errorf("%s: %v %+v", name, err, got)
		}
	}
	for name, bad := range map[string]string{"nothing": "", "no field": "\x00", "half": string(full.Protobuf()[:30]), "an end of a group": "\x0c", "long": "\x0a\xff\xff\xff\xff\x0f"} {
		if r, err := (records.Decoder{}).Record([]byte(bad), true); err == nil {
			t.Errorf("protobuf, %s: %+v", name, r)
		}
	}
}

// Decoding an arbitrary entry does not panic, and its result can be cleaned.
func FuzzMsgpack(f *testing.F) {
	f.Add(full.Msgpack())
	f.Add(unhex(f, captured))
	f.Add(unhex(f, uptime))
	f.Add([]byte("\x81\xa4Tags\xdd\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, entry []byte) {
		sound(t, entry, false)
		if u, err := (records.Decoder{}).Uptime(entry); err == nil {
			u.Clean()
		}
	})
}

func FuzzProtobuf(f *testing.F) {
	f.Add(full.Protobuf())
	f.Add([]byte("\x0a\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, entry []byte) { sound(t, entry, true) })
}

func sound(t *testing.T, entry []byte, protobuf bool) {
	r, err := records.Decoder{}.Record(entry, protobuf)
	if err != nil {
		return
	}
	r.Clean()
	once := r
	if r.Clean(); !reflect.DeepEqual(once, r) {
		t.Fatalf("%+v\n%+v", once, r)
	}
	for _, s := range append([]string{r.Path, r.UserAgent, r.RawRequest}, r.Tags...) {
		if strings.ContainsRune(s, 0) || s != strings.ToValidUTF8(s, "") {
			t.Fatalf("%q", s)
		}
	}
}

func BenchmarkMsgpack(b *testing.B) {
	entry := full.Msgpack()
	b.SetBytes(int64(len(entry)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (records.Decoder{}).Record(entry, false); err != nil {
			b.Fatal(err)
		}
	}
}
