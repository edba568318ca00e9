package tryout_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/tryout"
)

// TestSubscription goes through the messages that gateways may send.
func TestSubscription(t *testing.T) {
	const asked = `{"query":"subscription { a }"}`
	for _, c := range []struct{ protocol, hears, answer, shown string }{
		{tryout.Protocols[0], `{"type":"connection_ack"}`, `{"id":"1","type":"subscribe","payload":` + asked + `}`, ""},
		{tryout.Protocols[1], `{"type":"connection_ack"}`, `{"id":"1","type":"start","payload":` + asked + `}`, ""},
		{"", `{"type":"connection_ack","payload":{"a":1}}`, `{"id":"1","type":"subscribe","payload":` + asked + `}`, ""},
		{"", `{"type":"ping","payload":{}}`, `{"type":"pong"}`, ""},
		{"", `{"type":"pong"}`, "", ""},
		{"", `{"type":"ka"}`, "", ""},
		{"", "{\"id\":\"1\",\"type\":\"next\",\"payload\":{\n\"data\":{\"a\":\"x\\n\"}}}", "", "event: next\ndata: {\"data\":{\"a\":\"x\\n\"}}\n\n"},
		{"", `{"id":"1","type":"data","payload":{"data":null}}`, "", "event: next\ndata: {\"data\":null}\n\n"},
		{"", `{"id":"1","type":"next","payload":"` + strings.Repeat("x", 300<<10) + `"}`, "", "event: error\ndata: [{\"message\":\"A message is too large to be shown here.\"}]\n\nover"},
		{"", `{"id":"1","type":"error","payload":"` + strings.Repeat("x", 300<<10) + `"}`, "", "event: error\ndata: [{\"message\":\"A message is too large to be shown here.\"}]\n\nover"},
		{"", `{"id":"1","type":"error","payload":[{"message":"no"}]}`, "", "event: error\ndata: [{\"message\":\"no\"}]\n\nover"},
		{"", `{"type":"connection_error"}`, "", "event: error\ndata: null\n\nover"},
		{"", `{"id":"1","type":"complete"}`, "", "event: complete\ndata: null\n\nover"},
		{"", `{"type":"unheard of"}`, "", "event: error\ndata: [{\"message\":\"The gateway sends something else than GraphQL.\"}]\n\nover"},
		{"", `<html>`, "", "event: error\ndata: [{\"message\":\"The gateway sends something else than GraphQL.\"}]\n\nover"},
	} {
		s := tryout.Subscribe(c.protocol, []byte(asked))
		answer, shown, over := s.Hear([]byte(c.hears))
		got := string(shown)
		if over {
			got += "over"
		}
		if string(answer) != c.answer || got != c.shown {
			t.Errorf("%s %.80s: %s, %q", c.protocol, c.hears, answer, got)
		}
	}
	s := tryout.Subscribe("", []byte(asked))
	if got := string(s.Begin()); got != `{"type":"connection_init","payload":{}}` {
		t.Error(got)
	}
	s.Hear([]byte(`{"type":"connection_ack"}`))
	if again, _, _ := s.Hear([]byte(`{"type":"connection_ack"}`)); again != nil {
		t.Errorf("it is asked twice: %s", again)
	}
}

func TestCheckSubscription(t *testing.T) {
	for body, good := range map[string]bool{
		`{"query":"subscription { a }","variables":{}}`: true, `{"query":""}`: false, `{}`: false, `[]`: false, "": false, `{"query":1}`: false,
	} {
		if err := (tryout.Call{Method: "POST", Body: body}).CheckSubscription(); (err == nil) != good {
			t.Errorf("%s: %v", body, err)
		}
	}
	if (tryout.Call{Method: "POST", Path: "/../x", Body: `{"query":"a"}`}).CheckSubscription() == nil {
		t.Error("a path that leads up")
	}
}

// FuzzSubscription states that a page gets only complete events of one line each, for all
// messages of a gateway.
func FuzzSubscription(f *testing.F) {
	for _, text := range []string{`{"type":"next","payload":{"a":"\n"}}`, `{"type":"error","payload":"\r\n"}`, `{`, `{"type":"next","payload":}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, shown, _ := tryout.Subscribe("", []byte("{}")).Hear(text)
		if shown == nil {
			return
		}
		lines := strings.Split(string(shown), "\n")
		if len(lines) != 4 || !strings.HasPrefix(lines[0], "event: ") || !strings.HasPrefix(lines[1], "data: ") || lines[2]+lines[3] != "" || strings.Contains(string(shown), "\r") {
			t.Errorf("%q of %q", shown, text)
		}
	})
}
