package webhook_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
	"github.com/gatehouse-io/gatehouse/core/portal/webhook"
)

// TestWebhook states which values each field of a webhook takes.
func TestWebhook(t *testing.T) {
	for text, want := range map[string][]string{
		`{"Name":"n","URL":"https://h/x?a=1","Method":"POST"}`:                                               nil,
		`{"Name":"n","URL":"http://h:81","Method":"GET","Timeout":"30","Events":"UserRegistered"}`:           nil,
		`{"Name":"n","URL":"http://h","Method":"DELETE","Timeout":0,"Events":[]}`:                            nil,
		`{"Name":"n","URL":"http://h","Method":"PUT","Events":["UserRegistered","PasswordReset"]}`:           nil,
		`{"Name":"n","URL":"http://h","Method":"PATCH","Headers":[{"Name":"X-A","Value":1},{"Name":"X-B"}]}`: nil,
		`{}`: {"Name can't be blank", "URL can't be blank", "Method can't be blank"},
		`{"Name":"n","URL":"ftp://h","Method":"post","Timeout":31,"Events":["UserRegistered","userregistered"]}`: {"URL is invalid", "Method is invalid", "Timeout is invalid", "Events is invalid"},
		`{"Name":"n","URL":"/x","Method":"HEAD","Timeout":-1}`:                                                   {"URL is invalid", "Method is invalid", "Timeout is invalid"},
		`{"Name":"n","URL":"https://u:p@h","Method":"GET","Timeout":1.5}`:                                        {"URL is invalid", "Timeout is invalid"},
		`{"Name":"n","URL":"https://h/` + strings.Repeat("x", 2000) + `","Method":"GET"}`:                        {"URL is too long (the maximum is 2000 characters)"},
		`{"Name":"` + strings.Repeat("x", 256) + `","URL":"https://h","Method":"GET"}`:                           {"Name is too long (the maximum is 255 characters)"},
		`{"Name":"n","URL":"http://h","Method":"GET","Headers":{}}`:                                              {"Headers is invalid"},
		`{"Name":"n","URL":"http://h","Method":"GET","Headers":null}`:                                            nil,
		`{"Name":"n","URL":"http://h","Method":"GET","Headers":["X-A"]}`:                                         {"Headers is invalid"},
		`{"Name":"n","URL":"http://h","Method":"GET","Headers":[{"Name":"X-A"},{"Name":"x-a"}]}`:                 {"Headers is invalid"},
		`{"Name":"n","URL":"http://h","Method":"GET","Headers":[{"Name":"","Value":"v"}]}`:                       {"Headers is invalid"},
		`{"Name":"n","URL":"http://h","Method":"GET","Headers":[{"Name":"a","Value":"a\r\nb"}]}`:                 {"Headers is invalid"},
		`{"Name":"n","URL":"http://h","Method":"GET","Headers":[{"Name":"a","Value":{}}]}`:                       {"Headers is invalid"},
		`{"Name":"n","URL":"http://h","Method":"GET","Headers":[` + strings.Repeat(`{},`, 32) + `{}]}`:           {"Headers is invalid"},
	} {
		v := webhook.Webhook{Longest: 30}
		if have := tabletest.Apply(t, &v, text, true); !slices.Equal(have, want) {
			t.Errorf("%.90s: %q, want %q", text, have, want)
		}
	}
	v := webhook.Webhook{Name: "n", URL: "http://h", Method: "GET", Longest: 30}
	if have := tabletest.Apply(t, &v, `{"Headers":[{"ID":"1","Name":"X-A","Value":"v"}],"Events":null,"Method":"POST"}`, false); have != nil || v.Headers != nil || v.Method != "POST" {
		t.Errorf("%q, %+v", have, v)
	}
	if v.Seconds() != 10 || (webhook.Webhook{Timeout: 3}).Seconds() != 3 {
		t.Error(v.Seconds())
	}
	if l := (webhook.Webhook{Events: []string{"b", "a", "b"}}).Listens(); !slices.Equal(l, []string{"a", "b"}) {
		t.Error(l)
	}
}

// TestHeader states which names and values a header can have.
func TestHeader(t *testing.T) {
	for text, want := range map[string][]string{
		`{"Name":"X-Key","Value":"hunter2"}`:                         nil,
		`{"Name":"X-Key","Value":""}`:                                nil,
		`{"Name":"Authorization","Value":5}`:                         nil,
		`{"Name":"X-Tab","Value":"a\tb é"}`:                          nil,
		`{"Value":"v"}`:                                              {"Name can't be blank"},
		`{"Name":" ","Value":"v"}`:                                   {"Name can't be blank"},
		`{"Name":"X Key","Value":"v"}`:                               {"Name is invalid"},
		`{"Name":"X-A","Value":" \n "}`:                              {"Value is invalid"},
		`{"Name":"X:","Value":"\n"}`:                                 {"Name is invalid", "Value is invalid"},
		`{"Name":"é","Value":"a\u0000"}`:                             {"Name is invalid", "Value is invalid"},
		`{"Name":"Content-Length"}`:                                  {"Name is invalid"},
		`{"Name":"Content-Type","Value":"text/plain"}`:               {"Name is invalid"},
		`{"Name":"HOST"}`:                                            {"Name is invalid"},
		`{"Name":"Webhook-Signature"}`:                               {"Name is invalid"},
		`{"Name":"X-A","Value":[]}`:                                  {"Value is invalid"},
		`{"Name":"X-A","Value":"` + strings.Repeat("x", 4097) + `"}`: {"Value is too long (the maximum is 4096 characters)"},
	} {
		v := webhook.Header{}
		if have := tabletest.Apply(t, &v, text, true); !slices.Equal(have, want) {
			t.Errorf("%.90s: %q, want %q", text, have, want)
		}
	}
}

// FuzzHeaders states that an accepted header can be sent.
func FuzzHeaders(f *testing.F) {
	f.Add(`[{"Name":"X-A","Value":"v"}]`)
	f.Add(`[{"Name":"X-A\r\nHost","Value":"\t\r\n"},null]`)
	f.Fuzz(func(t *testing.T, text string) {
		v, body := webhook.Webhook{Longest: 30}, `{"Name":"n","URL":"http://h","Method":"GET","Headers":`+text+`}`
		if !json.Valid([]byte(body)) || tabletest.Apply(t, &v, body, true) != nil {
			return
		}
		for _, h := range v.Headers {
			if h.Name == "" || strings.ContainsAny(h.Name+h.Value, "\r\n\x00") || strings.ContainsAny(h.Name, ": \t") || strings.EqualFold(h.Name, "host") {
				t.Errorf("%q: %q", h.Name, h.Value)
			}
		}
	})
}

// TestTables: the fields of webhooks and their headers.
func TestTables(t *testing.T) {
	tabletest.Sound[webhook.Webhook](t, `{"Name":"Hook","URL":"https://a.example/in","Method":"POST"}`)
	tabletest.Sound[webhook.Header](t, `{"Name":"X-Own","Value":"v"}`)
	h := webhook.Header{WebhookID: 3, Name: "X-Own"}
	if of := h.Table(); of.Parent(h) != 3 || of.Unique[0].Of(h) != of.Unique[0].Of(webhook.Header{WebhookID: 3, Name: "x-OWN"}) {
		t.Error("a webhook has one header twice")
	}
	if items := (&webhook.Headers{}).Schema()["items"]; items == nil {
		t.Error("headers are not described")
	}
}
