package analytics_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	sqlanalytics "github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	port "github.com/gatehouse-io/gatehouse/ports/analytics"
)

// TestRecordedCredentials: a reader of the log of calls sees no credentials of others,
// wherever the API expects them, unless the settings allow it.
func TestRecordedCredentials(t *testing.T) {
	s := onSQLite(t, false)
	w := newWorld(t, s, nil)
	w.apis.Done("admin", "POST", "/apis", `{"api_definition":{"name":"Gold","api_id":"gold","active":true,"proxy":{"listen_path":"/gold/","target_url":"http://up.example/"},
		"auth":{"auth_header_name":"X-Old"},"auth_configs":{"authToken":{"auth_header_name":"X-Gold","use_param":true,"param_name":"gold","use_cookie":true,"cookie_name":"g"}}}}`)
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	now := time.Now()
	calls := []record.Record{
		{OrgID: "a", APIID: "gold", TimeStamp: now, Path: "/1", APIKey: "SECRET-KEY", RawRequest: encode("GET /1?gold=SECRET&page=2&access_token=SECRET HTTP/1.1\r\nX-Gold: SECRET\r\nX-Old: SECRET\r\n" +
			"Authorization: Bearer SECRET\r\nCookie: g=SECRET\r\nX-Api-Key: SECRET\r\nX-Also: SECRET-KEY\r\nAccept: */*\r\n\r\nthe body"),
			RawResponse: encode("HTTP/1.1 200 OK\r\nSet-Cookie: s=SECRET\r\nX-Plain: seen\r\n\r\nthe answer")},
		{OrgID: "a", APIID: "gone", TimeStamp: now.Add(-time.Second), Path: "/2", RawRequest: "SECRET: no message"},
	}
	if err := s.Writers()[0].Store(t.Context(), port.Piece{Claim: port.Claim{Claim: "c"}, To: 2, Records: calls, At: now}); err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/api/logs?start=%d&end=%d", now.Unix()-60, now.Unix())
	messages := func() (out [][2]string) {
		var page struct{ Data []view.Call }
		if err := json.Unmarshal(w.get("admin", path).Body.Bytes(), &page); err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Data {
			request, _ := base64.StdEncoding.DecodeString(c.RawRequest)
			response, _ := base64.StdEncoding.DecodeString(c.RawResponse)
			out = append(out, [2]string{string(request), string(response)})
		}
		return out
	}
	got := messages()
	if len(got) != 2 || strings.Contains(got[0][0]+got[0][1]+got[1][0], "SECRET") || !strings.Contains(got[0][0], "page=2") || !strings.Contains(got[0][0], "Accept: */*") ||
		!strings.HasSuffix(got[0][0], "the body") || !strings.Contains(got[0][1], "X-Plain: seen") || got[1][0] != "" {
		t.Errorf("%q", got)
	}
	file := w.get("admin", path+"&type=csv")
	if lines := strings.Split(file.Body.String(), "\r\n"); file.Header().Get("Content-Type") != "text/csv" || !strings.Contains(file.Header().Get("Content-Disposition"), "calls.csv") ||
		len(lines) != 4 || !strings.HasPrefix(lines[0], "timestamp,method,") || !strings.Contains(lines[1], ",/1,") || !strings.Contains(lines[2], ",/2,") || strings.Contains(file.Body.String(), "SECRET\r") {
		t.Errorf("%v %q", file.Header(), file.Body)
	}
	if got := w.get("admin", path+"&type=xml"); got.Code != 400 || !strings.Contains(got.Body.String(), "type must be csv or json") {
		t.Error(got.Code, got.Body)
	}
	w.service.Unmasked = true
	if got := messages(); !strings.Contains(got[0][0], "Bearer SECRET") || !strings.Contains(got[0][1], "s=SECRET") {
		t.Errorf("%q", got)
	}
}

// TestMessagesAreBounded: calls whose messages do not fit into a response come without
// them and say so. A CSV file, which has no messages, reads none.
func TestMessagesAreBounded(t *testing.T) {
	for name, open := range databases(t) {
		t.Run(name, func(t *testing.T) { messagesAreBounded(t, open(t)) })
	}
}

func messagesAreBounded(t *testing.T, s *sqlanalytics.Store) {
	t.Helper()
	w := newWorld(t, s, nil)
	now := time.Now()
	message := base64.StdEncoding.EncodeToString([]byte("HTTP/1.1 200 OK\r\nA: b\r\n\r\n" + strings.Repeat("x", 9<<20)))
	calls := make([]record.Record, 5)
	for i := range calls {
		calls[i] = record.Record{OrgID: "a", APIID: "gone", TimeStamp: now.Add(-time.Duration(i) * time.Second), Path: fmt.Sprint("/", i), RawResponse: message}
	}
	calls[4].RawResponse = base64.StdEncoding.EncodeToString([]byte("HTTP/1.1 200 OK\r\n\r\nshort"))
	if err := s.Writers()[0].Store(t.Context(), port.Piece{Claim: port.Claim{Claim: "c"}, To: 5, Records: calls, At: now}); err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/api/logs?start=%d&end=%d", now.Unix()-60, now.Unix())
	for _, p := range []string{"0", "1"} {
		var page struct {
			Data  []view.Call
			Pages int
		}
		if err := json.Unmarshal(w.get("admin", path+"&p="+p).Body.Bytes(), &page); err != nil || len(page.Data) != 5 || page.Pages != 1 {
			t.Fatal(len(page.Data), err)
		}
		for i, c := range page.Data {
			if fits := i < 2; c.LeftOut == fits || (c.RawResponse != "") != fits {
				t.Errorf("page %s, call %d: %d bytes, left out %v", p, i, len(c.RawResponse), c.LeftOut)
			}
		}
	}
	scope, _ := tenant.Of("a")
	span := view.Period{From: now.Add(-time.Minute), To: now.Add(time.Minute)}
	list, _, err := s.List(t.Context(), scope, view.CallQuery{Period: span, AtMost: 10})
	if err != nil || len(list) != 5 || list[0].RawResponse != "" || list[0].LeftOut {
		t.Errorf("%d calls, %v", len(list), err)
	}
}
