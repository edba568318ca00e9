package view_test

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
	"github.com/gatehouse-io/gatehouse/core/analytics/view"
)

// holds evaluates cuts as databases do.
func holds(value string, cuts []view.Cut) bool {
	return slices.ContainsFunc(cuts, func(c view.Cut) bool {
		from, to := c.At-1, c.At-1+c.Length
		return len(value) >= to && slices.Contains(c.Texts, value[from:to])
	})
}

// FuzzCuts: a cut matches the endpoints of its API and no others, wherever the API ID ends in
// base64 or hex.
func FuzzCuts(f *testing.F) {
	f.Add("api1", "api12", "/items", "key")
	f.Add("a", "ab", "", "k")
	f.Add("abc", "abc?", "/", "")
	f.Fuzz(func(t *testing.T, api, other, path, key string) {
		if strings.ContainsAny(api+other, ":\x1f") || strings.Contains(key, ".") || !isASCII(key) || path != "" && path[0] != '/' {
			return
		}
		for _, of := range []string{api, other} {
			value := key + "." + base64.RawStdEncoding.EncodeToString([]byte(of+":"+path))
			if got := holds(value, view.CutsFor(key, []string{api})); got != (of == api) {
				t.Errorf("%q of %q: %v for %q", value, of, got, api)
			}
			if e := view.EndpointFor(key, value); e.API != of || e.Path != path {
				t.Errorf("%q is %+v", value, e)
			}
			value = hex.EncodeToString([]byte(of + ":v:" + path))
			if got := holds(value, view.EndpointCuts([]string{api, "more"}, "")); got != (of == api || of == "more") {
				t.Errorf("%q of %q: %v for %q", value, of, got, api)
			}
			if !holds(value, view.EndpointCuts([]string{of}, "v")) || holds(value, view.EndpointCuts([]string{of}, "w")) {
				t.Errorf("%q: versions", value)
			}
			if e := view.EndpointOf(value); e != (view.Endpoint{API: of, Version: "v", Path: path}) {
				t.Errorf("%q is %+v", value, e)
			}
		}
	})
}

// TestEndpoints: a version may contain colons, and so may a path.
func TestEndpoints(t *testing.T) {
	for text, want := range map[string]view.Endpoint{
		"a:v:/items":              {API: "a", Version: "v", Path: "/items"},
		"a::/":                    {API: "a", Path: "/"},
		"a:2026-11-03T12:00:/a:b": {API: "a", Version: "2026-11-03T12:00", Path: "/a:b"},
		"a:v:/x:/y":               {API: "a", Version: "v", Path: "/x:/y"},
		"a:v:items":               {API: "a", Version: "v", Path: "items"},
	} {
		if got := view.EndpointIn(text); got != want {
			t.Errorf("%q is %+v", text, got)
		}
		if got := view.EndpointOf(hex.EncodeToString([]byte(text))); got != want {
			t.Errorf("%q in hexadecimal is %+v", text, got)
		}
	}
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 126 || r < 32 }) < 0
}

// TestPrimitives tests the decoding of MCP values, and which of them match filters.
func TestPrimitives(t *testing.T) {
	for value, want := range map[string]view.Primitive{
		"tool_get-weather": {Type: "tool", Name: "get-weather", Method: "tools/call"}, "resource_file:///a_b": {Type: "resource", Name: "file:///a_b", Method: "resources/read"},
		"prompt_": {Type: "prompt", Method: "prompts/get"}, "tools/list": {Name: "tools/list", Method: "tools/list"}, "other_x": {Name: "other_x", Method: "other_x"},
	} {
		if got := view.PrimitiveOf(value); got != want {
			t.Errorf("%s is %+v", value, got)
		}
	}
	for _, c := range []struct {
		method, kind, name string
		values             []string
		prefix             string
		wrong              bool
	}{
		{"", "", "", nil, "", false}, {"tools/call", "", "", nil, "tool_", false}, {"", "prompt", "", nil, "prompt_", false}, {"tools/list", "", "", []string{"tools/list"}, "", false},
		{"prompts/get", "tool", "", []string{}, "", false}, {"", "", "x", []string{"tool_x", "resource_x", "prompt_x", "x"}, "", false}, {"", "tool", "x", []string{"tool_x"}, "", false},
		{"resources/read", "", "x", []string{"resource_x"}, "", false}, {"tools/list", "", "x", []string{}, "", false}, {"tools/list", "", "tools/list", []string{"tools/list"}, "", false},
		{"tools/list", "tool", "", []string{}, "", false}, {"", "pot", "", nil, "", true},
	} {
		values, prefix, err := view.PrimitiveValues(c.method, c.kind, c.name)
		if !slices.Equal(values, c.values) || (values == nil) != (c.values == nil) || prefix != c.prefix || (err != nil) != c.wrong {
			t.Errorf("%q %q %q: %q %q %v", c.method, c.kind, c.name, values, prefix, err)
		}
	}
}

// TestCSV: a text that looks like a formula becomes a text, and the file contains the results.
func TestCSV(t *testing.T) {
	for _, evil := range []string{"=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "|x", "\v=1", "\x7f=1", "\u0085=1", " =1", "\ufeff=1", "＝1"} {
		u := view.Row{Counters: view.Counters{Hits: 2, RequestTime: 5}}.Unit()
		u.ID.Path, u.ID.APIName, u.ID.Key, u.ID.URL, u.ID.APIID, u.ID.Country, u.ID.Alias = evil, evil, evil, evil, evil, evil, evil
		lines, err := csv.NewReader(strings.NewReader(string(view.CSV([]view.Unit{u, u})))).ReadAll()
		if err != nil || len(lines) != 3 {
			t.Fatal(lines, err)
		}
		for i, cell := range lines[1] {
			if strings.Contains(evil, cell) && len(cell) > 1 {
				t.Errorf("%s is %q", lines[0][i], cell)
			}
		}
		if lines[1][12] != "2" || lines[1][16] != "2.5" {
			t.Error(lines[1])
		}
	}
	for text, want := range map[string]string{
		"/items": "/items", "": "", "a=b-c": "a=b-c", "a;b": "a;b", "/a b": "/a b", "bot (x; +http://b)": "bot (x; +http://b)", // unchanged
		"/a;=1": "/a;'=1", "/a;;@x": "/a;;'@x", "a\r\n=1": "a\r\n'=1", "a\t-1": "a\t'-1", `a;"=1"`: `a;"'=1"`, "a; =1": "a;' =1",
	} {
		if got := view.Cell(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestParameters tests the accepted values of parameters.
func TestParameters(t *testing.T) {
	preset := view.Order{By: view.ByTime}
	for _, c := range []struct {
		by, sort string
		want     view.Order
		wrong    bool
	}{
		{"", "", preset, false}, {"Hits", "", view.Order{By: view.ByHits, Desc: true}, false}, {"hits", "1", view.Order{By: view.ByHits}, false}, {"UPSTREAM_latency", "-1", view.Order{By: view.ByUpstreamLatency, Desc: true}, false},
		{"", "-1", view.Order{By: view.ByTime, Desc: true}, false}, {"Name", "", view.Order{By: view.ByName}, false}, {"x", "", preset, true}, {"", "asc", preset, true}, {"hits desc; drop table x", "", preset, true},
	} {
		if got, err := view.ParseOrder(c.by, c.sort, preset); got != c.want || (err != nil) != c.wrong {
			t.Errorf("%q %q: %+v %v", c.by, c.sort, got, err)
		}
	}
	for text, want := range map[string]view.Resolution{"": view.Month, "hour": view.Hour, "day": view.Day, "month": view.Month} {
		if got, err := view.ParseResolution(text, view.Month); got != want || err != nil {
			t.Error(text, got, err)
		}
	}
	if _, err := view.ParseResolution("Day", view.Whole); err == nil {
		t.Error("Day is taken")
	}
}

// TestColons: counters of an API with a colon in its ID are not read as those of another API,
// which may have other owners.
func TestColons(t *testing.T) {
	b := aggregate.New(aggregate.Options{TrackAll: true})
	b.Add(&record.Record{TimeStamp: time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC), OrgID: "o", APIID: "a:b", APIVersion: "v", Path: "/p", APIKey: "k"})
	seen := map[string]bool{}
	for _, r := range b.Rows() {
		switch seen[r.Dimension] = true; r.Dimension {
		case view.Endpoints:
			if e := view.EndpointOf(r.Value); e != (view.Endpoint{API: "a:b", Version: "v", Path: "/p"}) {
				t.Errorf("%+v", e)
			}
			if holds(r.Value, view.EndpointCuts([]string{"a"}, "")) || !holds(r.Value, view.EndpointCuts([]string{"a:b"}, "v")) {
				t.Error("the endpoint is found for another API")
			}
		case view.KeyEndpoints:
			if e := view.EndpointFor("k", r.Value); e != (view.Endpoint{API: "a:b", Path: "/p"}) {
				t.Errorf("%+v", e)
			}
			if holds(r.Value, view.CutsFor("k", []string{"a"})) || !holds(r.Value, view.CutsFor("k", []string{"a:b"})) {
				t.Error("the endpoint of the key is found for another API")
			}
		case view.Versions:
			if r.Value == view.VersionValue("a", "b:v") || r.Value != view.VersionValue("a:b", "v") {
				t.Errorf("%q", r.Value)
			}
		}
	}
	if !seen[view.Endpoints] || !seen[view.KeyEndpoints] || !seen[view.Versions] {
		t.Error(seen)
	}
}

// TestCallsCSV: a call becomes a line without its messages, in the order of the header.
func TestCallsCSV(t *testing.T) {
	c := view.Call{
		Method: "GET", Host: "h", Path: "/p", RawPath: "=raw", ResponseCode: 200, RequestTime: 7, Latency: view.Latency{Total: 6, Upstream: 5}, APIID: "a", APIName: "n", APIVersion: "v",
		APIKey: "k", OAuthID: "o", Alias: "+x", IPAddress: "127.0.0.1", Country: "DE", UserAgent: "ua", ContentLength: 9, TimeStamp: "2026-01-02T03:04:05Z", Tags: []string{"t", "=u"},
		RawRequest: "request", RawResponse: "response",
	}
	const want = "timestamp,method,host,path,raw_path,response_code,request_time,latency,upstream_latency,api_id,api_name,api_version,api_key,oauth_id,alias,ip_address,iso_country,user_agent,content_length,tags\r\n" +
		"2026-01-02T03:04:05Z,GET,h,/p,'=raw,200,7,6,5,a,n,v,k,o,'+x,127.0.0.1,DE,ua,9,t =u\r\n"
	if got := string(view.CallsCSV([]view.Call{c})); got != want {
		t.Errorf("have %s\nwant %s", got, want)
	}
	if got := (view.Row{Counters: view.Counters{RequestTime: 5}}).Unit().RequestTime; got != 0 {
		t.Errorf("the average of no calls is %v", got)
	}
}
