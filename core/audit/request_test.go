package audit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/audit"
)

func TestRequests(t *testing.T) {
	diff := func(parts ...string) (out []audit.Difference) {
		for i := 0; i < len(parts); i += 2 {
			d := audit.Difference{Subject: "policy p", Path: parts[i]}
			if parts[i+1] != "" {
				d.To = json.RawMessage(parts[i+1])
			}
			out = append(out, d)
		}
		return out
	}
	for name, c := range map[string]struct {
		record        audit.Record
		path, changed string
		masked, none  bool
	}{
		"no body":           {record: audit.Record{Method: "DELETE", URL: "/api/x/1?a=b&a=c"}, path: "/api/x/1"},
		"members":           {record: audit.Record{Method: "PUT", URL: "/api/x", Diff: diff("/a", "1", "/b/c", `"d"`, "/b/e~1f~0", "null")}, path: "/api/x", changed: `{"a":1,"b":{"c":"d","e/f~":null}}`},
		"a removed member":  {record: audit.Record{Method: "PUT", URL: "/api/x", Diff: diff("/a", "1", "/b", "")}, path: "/api/x", changed: `{"a":1}`},
		"a place in a list": {record: audit.Record{Method: "PUT", URL: "/api/x", Diff: diff("/a/0/b", "1")}, path: "/api/x"},
		"a secret":          {record: audit.Record{Method: "PUT", URL: "/api/x", Diff: diff("/password", `"***"`)}, path: "/api/x"},
		"a secret in query": {record: audit.Record{Method: "PUT", URL: "/api/x?token=***"}, path: "/api/x", masked: true},
		"contradictions":    {record: audit.Record{Method: "PUT", URL: "/api/x", Diff: diff("/a", "1", "/a/b", "2", "/a", "3")}, path: "/api/x", changed: `{"a":1}`},
		"more differences":  {record: audit.Record{Method: "PUT", URL: "/api/x", More: 1}, path: "/api/x"},
		"several documents": {record: audit.Record{Method: "PUT", URL: "/api/x", Diff: append(diff("/a", "1"), audit.Difference{Subject: "api q", Path: "/b"})}, path: "/api/x"},
		"no JSON":           {record: audit.Record{Method: "PUT", URL: "/api/x", Diff: diff("/a", "{")}, path: "/api/x"},
		"no request":        {record: audit.Record{Action: "bootstrap"}, none: true},
		"a cut address":     {record: audit.Record{Method: "PUT", URL: "/api/" + strings.Repeat("x", 1024)}, none: true},
		"a secret path":     {record: audit.Record{Method: "PUT", URL: "/api/keys/***"}, none: true},
		"revisions":         {record: audit.Record{Method: "PUT", URL: "revisions 1 to 2"}, none: true},
	} {
		q, ok := c.record.Request()
		if ok == c.none || q.Path != c.path || string(q.Changed) != c.changed || q.Masked != c.masked {
			t.Errorf("%s: %+v %v", name, q, ok)
		}
	}
	if q, _ := (audit.Record{Method: "GET", URL: "/api/x?a=b&a=c"}).Request(); len(q.Query["a"]) != 2 {
		t.Error(q.Query)
	}
}

// FuzzRequest makes requests from any places: the result is JSON, and not deeper than a place.
func FuzzRequest(f *testing.F) {
	f.Add("/api/x?a=b", "/a/b", `1`, "/a", `{"b":2}`)
	f.Add("/api/x?%", "/~1/~0/0", `"***"`, "", `null`)
	f.Fuzz(func(t *testing.T, url, path, to, path2, to2 string) {
		q, ok := audit.Record{Method: "PUT", URL: url, Diff: []audit.Difference{
			{Path: path, To: json.RawMessage(to)}, {Path: path2, To: json.RawMessage(to2)},
		}}.Request()
		if q.Changed != nil && !json.Valid(q.Changed) || ok && !strings.HasPrefix(q.Path, "/") {
			t.Errorf("%q", q.Changed)
		}
	})
}
