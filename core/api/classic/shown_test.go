package classic_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// TestShowTimeouts: the timeouts of uptime tests are texts for users and nanoseconds for
// gateways, other values stay, and the two conversions are inverse.
func TestShowTimeouts(t *testing.T) {
	list := func(timeout string) string {
		return `{"uptime_tests":{"check_list":[{"url":"u","timeout":` + timeout + `}]}}`
	}
	for stored, shown := range map[string]string{
		`1500000000`: `"1.5s"`, `0`: `"0s"`, `-1`: `"-1ns"`, `3600000000000`: `"1h0m0s"`, `"soon"`: `"soon"`, `true`: `true`,
	} {
		n := doctest.Node(t, list(stored))
		classic.Show(n)
		if have := string(n.Get("uptime_tests", "check_list").Items()[0].Get("timeout").JSON()); have != shown {
			t.Errorf("%s is shown as %s", stored, have)
		}
		classic.ReadTimeouts(n)
		if have := string(n.Get("uptime_tests", "check_list").Items()[0].Get("timeout").JSON()); have != stored {
			t.Errorf("%s came back as %s", stored, have)
		}
	}
	for timeout, want := range map[string]string{`"1s"`: "", `1`: "", `true`: "", `""`: "[0].timeout", `"abc"`: "[0].timeout", `"1s"},{"timeout":"5"`: "[1].timeout"} {
		problems := classic.ReadTimeouts(doctest.Node(t, list(timeout)))
		if want == "" && len(problems) == 0 {
			continue
		}
		if len(problems) != 1 || problems[0].String() != "uptime_tests.check_list"+want+`: want a duration such as "1.5s" or "500ms", or a whole number of nanoseconds, got another string` {
			t.Errorf("%s: %v", timeout, problems)
		}
	}
	for _, text := range []string{`{}`, `{"uptime_tests":null}`, `{"uptime_tests":{"check_list":{}}}`, list(`5`)} {
		n := doctest.Node(t, text)
		if classic.ReadTimeouts(n); string(n.JSON()) != text {
			t.Errorf("%s became %s", text, n.JSON())
		}
	}
}

// TestShowLists: users get no list that is null or missing, and all members that typed clients
// need; applying Show twice gives the same.
func TestShowLists(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                              `"tags":[]`,
		`{"tags":null}`:                   `"tags":[]`,
		`{"tags":["a"]}`:                  `"tags":["a"]`,
		`{"name":"a"}`:                    `"active":false,"is_oas":false,"slug":""`,
		`{"active":true,"slug":"s"}`:      `{"active":true,"slug":"s",`,
		`{"config_data":null}`:            `"config_data":{}`,
		`{"config_data":{"a":1}}`:         `"config_data":{"a":1}`,
		`{"graphql":{"enabled":true}}`:    `"schema":""`,
		`{"graphql":{"schema":"type Q"}}`: `"schema":"type Q"`,
		`{"event_handlers":null}`:         `"event_handlers":{"events":{}}`,
		`{"event_handlers":{"events":{"Trigger":[{}]}}}`: `"event_handlers":{"events":{"Trigger":[{`,
		`{"graphql":null}`: `"graphql":null`,
		`{"version_data":{"versions":{"v":{"extended_paths":{"white_list":null}}}}}`:            `"white_list":[]`,
		`{"version_data":{"versions":{"v":{"extended_paths":{"ignored":[]}}}}}`:                 `"white_list":[]`,
		`{"version_data":{"versions":{"v":{"extended_paths":{}},"w":{"extended_paths":null}}}}`: `"w":{"extended_paths":null`,
	} {
		n := doctest.Node(t, text)
		classic.Show(n)
		once := string(n.JSON())
		if !strings.Contains(once, want) {
			t.Errorf("%s is shown as %s, without %s", text, once, want)
		}
		if classic.Show(n); string(n.JSON()) != once {
			t.Errorf("%s is shown as %s, then as %s", text, once, n.JSON())
		}
	}
}
