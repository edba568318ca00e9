package webhook_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/webhook"
)

// TestAttach states which event handlers the references of a wrapper become.
func TestAttach(t *testing.T) {
	stored := func(id string) (webhook.Hook, bool) {
		h, err := webhook.New(id, "o", draft(t, `{"name":"n","method":"POST","target_path":"https://h/`+id+`","header_map":{"A":"1"},"event_timeout":5}`))
		return h, err == nil && id != "deleted"
	}
	handler := func(id, name, disabled, method, target, headers, pause string) string {
		return `{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"` + id + `","name":"` + name + `","disabled":` + disabled + `,"method":"` + method + `","target_path":"` + target +
			`","template_path":"","header_map":` + headers + `,"event_timeout":` + pause + `}}`
	}
	of := func(id, disabled, pause string) string {
		return handler(id, "n", disabled, "POST", "https://h/"+id, `{"A":"1"}`, pause)
	}
	embedded := handler("", "", "false", "GET", "http://e", "{}", "0")
	const empty = `{"name":"api"}`
	events := func(text string) string { return `{"name":"api","event_handlers":{"events":{` + text + `}}}` }
	for name, c := range map[string]struct{ def, references, want string }{
		"no references":                    {empty, `[]`, empty},
		"a stored webhook":                 {empty, `[{"event_name":"E","hook":{"id":"w"}}]`, events(`"E":[` + of("w", "false", "5") + `]`)},
		"its values, not those beside it":  {empty, `[{"event_name":"E","hook":{"id":"w","method":"GET","target_path":"x"}}]`, events(`"E":[` + of("w", "false", "5") + `]`)},
		"the switch and pause of the use":  {empty, `[{"event_name":"E","hook":{"id":"w"},"disabled":true,"event_timeout":9}]`, events(`"E":[` + of("w", "true", "9") + `]`)},
		"a pause of zero is none":          {empty, `[{"event_name":"E","hook":{"id":"w"},"event_timeout":0}]`, events(`"E":[` + of("w", "false", "5") + `]`)},
		"two events":                       {empty, `[{"event_name":"E","hook":{"id":"w"}},{"event_name":"F","hook":{"id":"w"}}]`, events(`"E":[` + of("w", "false", "5") + `],"F":[` + of("w", "false", "5") + `]`)},
		"an embedded webhook":              {empty, `[{"event_name":"E","hook":{"method":"GET","target_path":"http://e"}}]`, events(`"E":[` + embedded + `]`)},
		"a deleted webhook":                {empty, `[{"event_name":"E","hook":{"id":"deleted"}}]`, empty},
		"no event":                         {empty, `[{"hook":{"id":"w"}}]`, empty},
		"embedded, with a wrong address":   {empty, `[{"event_name":"E","hook":{"method":"GET","target_path":"e"}}]`, empty},
		"embedded, with a wrong type":      {empty, `[{"event_name":"E","hook":{"method":1,"target_path":"http://e"}}]`, empty},
		"no webhook":                       {empty, `[{"event_name":"E"},5,null]`, empty},
		"its handler is there":             {events(`"E":[` + of("w", "true", "7") + `]`), `[{"event_name":"E","hook":{"id":"w"}}]`, events(`"E":[` + of("w", "true", "7") + `]`)},
		"the embedded one is there":        {events(`"E":[` + embedded + `]`), `[{"event_name":"E","hook":{"method":"GET","target_path":"http://e"}}]`, events(`"E":[` + embedded + `]`)},
		"the same address, another method": {events(`"E":[` + embedded + `]`), `[{"event_name":"E","hook":{"method":"PUT","target_path":"http://e"}}]`, events(`"E":[` + embedded + `,` + handler("", "", "false", "PUT", "http://e", "{}", "0") + `]`)},
		"another webhook is there":         {events(`"E":[` + of("v", "false", "5") + `]`), `[{"event_name":"E","hook":{"id":"w"}}]`, events(`"E":[` + of("v", "false", "5") + `,` + of("w", "false", "5") + `]`)},
		"events of another type":           {events(`"E":null`), `[{"event_name":"E","hook":{"id":"w"}}]`, events(`"E":[` + of("w", "false", "5") + `]`)},
	} {
		def := doctest.Node(t, c.def)
		webhook.Attach(def, doctest.Node(t, c.references), stored)
		if got := string(def.JSON()); got != c.want {
			t.Errorf("%s:\nhave %s\nwant %s", name, got, c.want)
		}
	}
}

// TestHeaderTypes states that a wrong type in header_map is refused with the name of the
// member and of its type: gateways need texts.
func TestHeaderTypes(t *testing.T) {
	for text, want := range map[string][2]string{
		`[]`: {"header_map", "array"}, `"a"`: {"header_map", "string"}, `5`: {"header_map", "number"},
		`{"a":"b","c":5}`: {"header_map.c", "number"}, `{"a":null}`: {"header_map.a", "null"}, `{"a":true}`: {"header_map.a", "bool"}, `{"a":{"b":"c"}}`: {"header_map.a", "object"},
	} {
		var d webhook.Draft
		err := json.Unmarshal([]byte(`{"header_map":`+text+`}`), &d)
		wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
		if !ok || wrong.Field != want[0] || !strings.HasPrefix(wrong.Value, want[1]) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
