package provider_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

// TestSettings: valid forms of MetaData, as text and as an object, and the problems of others.
func TestSettings(t *testing.T) {
	for text, want := range map[string]any{
		`{"URL":"http://d"}`: provider.Settings{URL: "http://d"},
		`{"URL":"https://d:8443/base/","Secret":"abc","OrgID":"o","Gateway":"http://g","PoliciesTags":["a","","b"],"InsecureSkipVerify":true,"Else":{"x":1}}`: provider.Settings{
			URL: "https://d:8443/base/", Secret: "abc", OrgID: "o", Gateway: "http://g", PoliciesTags: []string{"a", "b"}, InsecureSkipVerify: true},
		`{"URL":"http://d","PoliciesTags":"a,b","InsecureSkipVerify":"true"}`:                         provider.Settings{URL: "http://d", PoliciesTags: []string{"a", "b"}, InsecureSkipVerify: true},
		`{"URL":"http://d","Secret":null,"OrgID":null,"PoliciesTags":null,"InsecureSkipVerify":null}`: provider.Settings{URL: "http://d"},
		`{"URL":"http://d","Secret":12,"OrgID":34}`:                                                   provider.Settings{URL: "http://d", Secret: "12", OrgID: "34"},
		`{"URL":"http://d","CID":"2r7p8aUnkzby17hCJk8w2XvK3K6"}`:                                      provider.Settings{URL: "http://d"},
		`{}`:                                              "URL can't be blank",
		`{"url":"http://d"}`:                              "URL can't be blank",
		`{"URL":"d:3000"}`:                                "URL is invalid",
		`{"URL":"/relative"}`:                             "URL is invalid",
		`{"URL":"http://"}`:                               "URL is invalid",
		`{"URL":"http://u:p@d"}`:                          "URL is invalid",
		`{"URL":"http://d?key=x"}`:                        "URL is invalid",
		`{"URL":"http://d#x"}`:                            "URL is invalid",
		`{"URL":"file:///etc/passwd"}`:                    "URL is invalid",
		`{"URL":["http://d"]}`:                            "URL is invalid",
		`{"URL":"http://d","Secret":"a\r\nb: c"}`:         "Secret is invalid",
		`{"URL":"http://d","Secret":{}}`:                  "Secret is invalid",
		`{"URL":"http://d","Gateway":"g"}`:                "Gateway is invalid",
		`{"URL":"http://d","InsecureSkipVerify":"maybe"}`: "InsecureSkipVerify is invalid",
		`{"URL":"http://d","PoliciesTags":{}}`:            "PoliciesTags is invalid",
		`{"URL":"http://d","PoliciesTags":["` + strings.Repeat("x", 256) + `"]}`: "PoliciesTags is invalid",
		`{"URL":"http://d","OrgID":"` + strings.Repeat("x", 256) + `"}`:          "OrgID is too long (the maximum is 255 characters)",
		`{"URL":"http://d"} x`: "MetaData is invalid",
		`[]`:                   "MetaData is invalid",
		`{`:                    "MetaData is invalid",
		` `:                    "MetaData can't be blank",
		`{"URL":"` + strings.Repeat("x", 200<<10) + `"}`: "MetaData is invalid",
	} {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, sent := range []string{text, string(quoted)} {
			if !json.Valid([]byte(sent)) {
				continue // a body cannot have this
			}
			s, wrong := provider.ParseSettings(json.RawMessage(sent))
			if problem, bad := want.(string); bad {
				if !slices.Equal(wrong, table.Problems{problem}) {
					t.Errorf("%.80s: %q, want %q", sent, wrong, problem)
				}
				continue
			}
			if len(wrong) > 0 || !reflect.DeepEqual(s, want) {
				t.Errorf("%.80s: %+v, %q", sent, s, wrong)
			}
		}
	}
}

// TestConfigured: requests with and without a configuration. Settings that were not sent are
// not reported as replaced, because their secret is sealed already.
func TestConfigured(t *testing.T) {
	had := provider.Provider{Name: "x", Type: provider.TykPro, Settings: provider.Settings{URL: "http://old", Secret: "sealed"}}
	for sent, want := range map[provider.Sent]string{
		"": "http://old", `{}`: "http://old", `{"ID":7}`: "http://old", `{"MetaData":null}`: "http://old", `null`: "http://old",
		`{"MetaData":{"URL":"http://new"}}`: "http://new", `{"MetaData":"{\"URL\":\"http://new\"}"}`: "http://new",
		`{"MetaData":""}`: "MetaData can't be blank", `{"MetaData":7}`: "MetaData is invalid", `[]`: "Configuration is invalid", `7`: "Configuration is invalid",
	} {
		p := had
		p.Sent = sent
		p, replaced, wrong := p.Configured()
		if new := want == "http://new"; len(wrong) == 0 && replaced != new || !new && len(wrong) == 0 && p.Settings.Secret != "sealed" {
			t.Errorf("%s: replaced %v, %+v", sent, replaced, p.Settings)
		}
		if have := strings.Join(append([]string{p.Settings.URL}, wrong...), " "); p.Sent != "" && len(wrong) == 0 || len(wrong) == 0 && have != want || len(wrong) > 0 && wrong[0] != want {
			t.Errorf("%s: %s, %v", sent, have, wrong)
		}
	}
	if p, _, wrong := (provider.Provider{}).Configured(); p.Type != provider.TykPro || len(wrong) != 1 {
		t.Error(p, wrong)
	}
}

// TestAgo: the texts for times.
func TestAgo(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "0 seconds ago", 400 * time.Millisecond: "0 seconds ago", time.Second: "1 second ago", 59 * time.Second: "59 seconds ago",
		time.Minute: "1 minute ago", 7*time.Minute + 5*time.Second: "7 minutes 5 seconds ago", 61 * time.Minute: "1 hour 1 minute ago",
		time.Hour + 5*time.Second: "1 hour ago", 2*time.Hour + 59*time.Second: "2 hours ago", 49*time.Hour + time.Minute: "2 days 1 hour ago", 24 * time.Hour: "1 day ago",
		-time.Minute: "0 seconds ago",
	} {
		if have := provider.Ago(now.Add(-d), now); have != want {
			t.Errorf("%s: %q, want %q", d, have, want)
		}
	}
	if provider.Ago(time.Time{}, now) != "" {
		t.Error("never is no time")
	}
}

// TestTried: the state after an attempt.
func TestTried(t *testing.T) {
	at := time.Unix(100, 0)
	s := provider.State{Status: provider.Unknown}.Tried(true, at)
	if s.Status != provider.Up || !s.SyncedAt.Equal(at) || !s.TriedAt.Equal(at) {
		t.Error(s)
	}
	if s = s.Tried(false, at.Add(time.Hour)); s.Status != provider.Down || !s.SyncedAt.Equal(at) || !s.TriedAt.Equal(at.Add(time.Hour)) {
		t.Error(s)
	}
}

// FuzzParseSettings: accepted settings stay the same when they are encoded and parsed.
func FuzzParseSettings(f *testing.F) {
	f.Add(`{"URL":"http://d","Secret":"<&>","PoliciesTags":["a"]}`)
	f.Add(`"{\"URL\":\"http://d\"}"`)
	f.Add(`{"URL":"http://[::1]:3000/%zz","PoliciesTags":"a,,b"}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, wrong := provider.ParseSettings(json.RawMessage(text))
		if len(wrong) > 0 {
			return
		}
		again, wrong := provider.ParseSettings(json.RawMessage(s.MetaData()))
		if len(wrong) > 0 || again.MetaData() != s.MetaData() {
			t.Fatalf("%q: %+v, then %+v %q", text, s, again, wrong)
		}
	})
}

// TestTables: the fields of providers, and the forms of a configuration.
func TestTables(t *testing.T) {
	const settings = `{"MetaData":"{\"URL\":\"http://d\"}"}`
	tabletest.Sound[provider.Provider](t, `{"Name":"Main","Configuration":`+settings+`}`)
	tabletest.Bodies(t, provider.Provider{}, true, map[string]string{
		`{"Name":"Main","Type":"other","Configuration":` + settings + `}`: "Type is invalid",
		`{"Name":"Main"}`: "MetaData can't be blank",
		`{"Name":"Main","Configuration":{"MetaData":null}}`:               "MetaData can't be blank",
		`{"Name":"Main","Configuration":[]}`:                              "Configuration is invalid",
		`{"Name":"Main","Configuration":{"MetaData":{"URL":"x"}}}`:        "URL is invalid",
		`{"Name":"Main","Configuration":{"MetaData":{"URL":"http://d"}}}`: `{"Name":"Main"}`,
	})
	s := provider.Sent(`{"a":1}`)
	text, err := json.Marshal(s)
	properties, _ := s.Schema()["properties"].(map[string]any)
	if err != nil || string(text) != `{"a":1}` || properties["MetaData"] == nil {
		t.Errorf("%s, %v, %v", text, err, properties)
	}
	if done, ok := s.Take(make(chan int)); !done || ok {
		t.Error("a value that is no JSON is taken")
	}
}
