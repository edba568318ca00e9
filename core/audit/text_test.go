package audit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/audit"
)

func TestTexts(t *testing.T) {
	r := sample("a", 2)
	want := `req_id: r2
org_id: a
date: Tue, 14 Nov 2023 22:13:22 UTC
timestamp: 1700000002
ip: 192.0.2.1
user: a@example.com
action: Replace a <policy>
method: PUT
url: /api/x?a=b&c=d
status: 200
diff: [{"subject":"policy p","path":"/name","from":"é<","to":{"a":1.0}}]
actor: u1
on_behalf_of: b
operation: policies.replace
subjects: [{"op":"updated","kind":"policy","id":"p2"}]
verdict: allowed
count: 2

`
	if got := string(r.Text()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := string(r.JSON()); !strings.HasPrefix(got, `{"req_id":"r2","org_id":"a","date":`) || !strings.HasSuffix(got, `"verdict":"allowed","count":2}`+"\n") || strings.Contains(got, `"hash"`) {
		t.Error(got)
	}
	empty := audit.Record{}
	if got := string(empty.Text()); strings.Count(got, "\n") != 15 || strings.Contains(got, "diff") {
		t.Error(got)
	}
}

// FuzzText writes records with any texts of callers: a line stays one line.
func FuzzText(f *testing.F) {
	f.Add("r", "/api/x\nstatus: 200", "a\u2028b\x00\xff")
	f.Fuzz(func(t *testing.T, id, url, user string) {
		r := audit.Record{ReqID: id, URL: url, User: user, Method: "GET"}
		if text := string(r.Text()); strings.Count(text, "\n") != 15 || strings.ContainsAny(text, "\r\x00\u2028\u2029") {
			t.Errorf("%q", text)
		}
		if line := r.JSON(); !json.Valid(line) || strings.Count(string(line), "\n") != 1 {
			t.Errorf("%q", line)
		}
	})
}
