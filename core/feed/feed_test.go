package feed_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/webhook"
)

func hooks(t testing.TB) feed.Hooks {
	t.Helper()
	h, err := webhook.Load([]byte(`{"id":"h1","org_id":"o1","name":"alarm","method":"POST","target_path":"https://hooks.example/new",
		"template_path":"t.json","header_map":{"X-A":"b"},"event_timeout":30}`))
	if err != nil {
		t.Fatal(err)
	}
	return func(id string) (webhook.Hook, bool) { return h, id == h.ID }
}

const meta = `{"id":"h1","name":"alarm","disabled":false,"method":"POST","target_path":"https://hooks.example/new","template_path":"t.json","header_map":{"X-A":"b"},"event_timeout":30}`

func handler(meta string) string {
	return `{"handler_name":"eh_web_hook_handler","handler_meta":` + meta + `}`
}

// entry makes an entry from the parts of a record; "" leaves a part out.
func entry(t testing.TB, definition, document, references string) feed.Entry {
	t.Helper()
	e := doc.Object{}.Edit()
	for name, text := range map[string]string{"api_definition": definition, "oas": document, "hook_references": references} {
		if text != "" {
			e.Set(name, json.RawMessage(text))
		}
	}
	return feed.API(e.Object(), hooks(t))
}

func TestAPI(t *testing.T) {
	paused := strings.Replace(meta, `"event_timeout":30`, `"event_timeout":5`, 1)
	off := strings.Replace(meta, `"disabled":false`, `"disabled":true`, 1)
	for _, c := range []struct{ name, definition, document, references, want string }{
		{"classic", `{"active":true,"api_id": "a", "x": 1.0}`, "", "", `{"api_definition":{"active":true,"api_id":"a","x":1.0},"oas":null}`},
		{"null document", `{"active":true}`, "null", "null", `{"api_definition":{"active":true},"oas":null}`},
		{"document", `{"active":true,"is_oas":true}`, `{"openapi":"3.0.3","paths":{"/a":{"get":{"responses":{}}},"x-any":5},"x-y":[1e2]}`, "",
			`{"api_definition":{"active":true,"is_oas":true},"oas":{"openapi":"3.0.3","paths":{"/a":{"get":{"responses":{}}},"x-any":5},"x-y":[1e2]}}`},
		{"a plain address of keys", `{"active":true,"jwt_source":"https://i.example/jwks"}`, "", "", `{"api_definition":{"active":true,"jwt_source":"aHR0cHM6Ly9pLmV4YW1wbGUvandrcw=="},"oas":null}`},
		{"its scheme in any case", `{"active":true,"jwt_source":"HTTPS://i.example/jwks"}`, "", "", `{"api_definition":{"active":true,"jwt_source":"SFRUUFM6Ly9pLmV4YW1wbGUvandrcw=="},"oas":null}`},
		{"an address in base64", `{"active":true,"jwt_source":"aHR0cHM6Ly9pLmV4YW1wbGUvandrcw=="}`, "", "", `{"api_definition":{"active":true,"jwt_source":"aHR0cHM6Ly9pLmV4YW1wbGUvandrcw=="},"oas":null}`},
		{"a secret", `{"active":true,"jwt_source":"c2VjcmV0"}`, "", "", `{"api_definition":{"active":true,"jwt_source":"c2VjcmV0"},"oas":null}`},
		{"a name that gateways fail at", `{"active":true,"name":"#payments","x":1}`, "", "", `{"api_definition":{"active":true,"name":" #payments","x":1},"oas":null}`},
		{"a name of categories only", `{"active":true,"name":" #payments #eu"}`, "", "", `{"api_definition":{"active":true,"name":" #payments #eu"},"oas":null}`},
		{"a member twice", `{"active":true,"name":5,"name":"b"}`, "", "", `{"api_definition":{"active":true,"name":"b"},"oas":null}`},
		{"reference", `{"active":true,"name":"a"}`, "", `[{"event_name":"AuthFailure","event_timeout":5,"hook":{"id":"h1","target_path":"https://old.example"}}]`,
			`{"api_definition":{"active":true,"name":"a","event_handlers":{"events":{"AuthFailure":[` + handler(paused) + `]}}},"oas":null}`},
		{"reference without a pause of its own", `{"active":true,"event_handlers":{"events":null}}`, "", `[{"event_name":"AuthFailure","hook":{"id":"h1"}},{"event_name":"KeyExpired","hook":{"id":"h1"}}]`,
			`{"api_definition":{"active":true,"event_handlers":{"events":{"AuthFailure":[` + handler(meta) + `],"KeyExpired":[` + handler(meta) + `]}}},"oas":null}`},
		{"reference to what is gone", `{"active":true}`, "", `[{"event_name":"AuthFailure","hook":{"id":"h2"}},{"event_name":"","hook":{"id":"h1"}},{"hook":null},7]`, `{"api_definition":{"active":true},"oas":null}`},
		{"webhooks that are in no store", `{"active":true}`, "", `[{"event_name":"E","hook":{"name":"n","method":"POST","target_path":"https://x.example"}},{"event_name":"E","hook":{"method":"POST","target_path":"https://x.example"}},{"event_name":"E","hook":{"method":"POST","target_path":"x"}}]`,
			`{"api_definition":{"active":true,"event_handlers":{"events":{"E":[` + handler(`{"id":"","name":"n","disabled":false,"method":"POST","target_path":"https://x.example","template_path":"","header_map":{},"event_timeout":0}`) + `]}}},"oas":null}`},
		{"embedded copy", `{"active":true,"event_handlers":{"events":{"AuthFailure":[` + handler(`{"id":"h1","target_path":"https://old.example","disabled":true}`) + `]}}}`, "", "",
			`{"api_definition":{"active":true,"event_handlers":{"events":{"AuthFailure":[` + handler(off) + `]}}},"oas":null}`},
		{"embedded copy and reference", `{"active":true,"event_handlers":{"events":{"AuthFailure":[` + handler(`{"id":"h1"}`) + `]}}}`, "", `[{"event_name":"AuthFailure","hook":{"id":"h1"}}]`,
			`{"api_definition":{"active":true,"event_handlers":{"events":{"AuthFailure":[` + handler(meta) + `]}}},"oas":null}`},
		{"only the name of one that is gone", `{"active":true,"event_handlers":{"events":{"E":[` + handler(`{"id":"gone"}`) + `]}}}`, "", "",
			`{"api_definition":{"active":true,"event_handlers":{"events":{"E":[` + handler(`{"id":"gone","disabled":true}`) + `]}}},"oas":null}`},
		{"others' handlers", `{"active":true,"event_handlers":{"events":{"E":[` + handler(`{"id":"own","target_path":"https://own.example"}`) + `,{"handler_name":"eh_log_handler","handler_meta":{"id":"h1","prefix":"p"}}]}}}`, "", "",
			`{"api_definition":{"active":true,"event_handlers":{"events":{"E":[` + handler(`{"id":"own","target_path":"https://own.example"}`) + `,{"handler_name":"eh_log_handler","handler_meta":{"id":"h1","prefix":"p"}}]}}},"oas":null}`},
		{"texts that gateways take for granted", `{"active":true,"event_handlers":{"events":{"E":[{"handler_name":"eh_dynamic_handler","handler_meta":{"name":"n"}},{"handler_name":"eh_dynamic_handler"},{"handler_name":"cp_dynamic_handler","handler_meta":{"name":5}},{"handler_name":"eh_log_handler","handler_meta":null},{"handler_name":"other","handler_meta":null}]}}}`, "", "",
			`{"api_definition":{"active":true,"event_handlers":{"events":{"E":[{"handler_name":"eh_dynamic_handler","handler_meta":{"name":"n","path":""}},{"handler_name":"eh_dynamic_handler","handler_meta":{"name":"","path":""}},{"handler_name":"cp_dynamic_handler","handler_meta":{"name":""}},{"handler_name":"eh_log_handler","handler_meta":{"prefix":""}},{"handler_name":"other","handler_meta":null}]}}},"oas":null}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := entry(t, c.definition, c.document, c.references)
			if string(e.Text) != c.want || e.Problems != nil {
				t.Errorf("have %s, %v\nwant %s", e.Text, e.Problems, c.want)
			}
		})
	}
	if e := entry(t, `{"api_id":"a","active":true}`, "", ""); e.Name != "a" {
		t.Errorf("goes by %q", e.Name)
	}
}

func TestInactive(t *testing.T) {
	for _, definition := range []string{`{}`, `{"Active":true}`, `{"active":false,"name":5}`, `{"active":null}`} {
		if e := entry(t, definition, "", ""); e.Text != nil || e.Problems != nil {
			t.Errorf("%s: %s %v", definition, e.Text, e.Problems)
		}
	}
}

func TestLeftOut(t *testing.T) {
	for _, c := range []struct{ name, definition, document, want string }{
		{"no definition", ``, "", "want a JSON object in api_definition"},
		{"null", `null`, "", "api_definition: want an object, got nothing"},
		{"a list", `[]`, "", "api_definition: want an object, got a list"},
		{"no JSON", `{"a"`, "", "want a JSON object in api_definition"},
		{"wrong type", `{"active":true,"use_keyless":"true","proxy":{"target_list":[1]}}`, "", "api_definition.use_keyless: want true or false, got a string; api_definition.proxy.target_list[0]: want a string, got a number"},
		{"another spelling", `{"active":true,"use_keyless":false,"Use_Keyless":true}`, "", `api_definition.Use_Keyless must be spelled use_keyless`},
		{"neither active nor not", `{"active":"true"}`, "", "api_definition.active: want true or false, got a string"},
		{"identifier", `{"active":true,"id":"a1"}`, "", "api_definition.id: want 24 hexadecimal digits"},
		{"huge number", `{"active":true,"config_data":{"n":1e999}}`, "", "api_definition.config_data.n: want"},
		{"document is no object", `{"active":true}`, `[]`, "oas: want an object, got a list"},
		{"document is no JSON", `{"active":true}`, `{`, "want a JSON object in oas"},
		{"wrong type in the document", `{"active":true}`, `{"info":{"version":1},"paths":{"/a":{"get":{"deprecated":"no"}}}}`, "oas.info.version: want a string, got a number; oas.paths./a.get.deprecated: want true or false, got a string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := entry(t, c.definition, c.document, "")
			var all []string
			for _, p := range e.Problems {
				all = append(all, p.String())
			}
			if have := strings.Join(all, "; "); e.Text != nil || !strings.HasPrefix(have, c.want) {
				t.Errorf("have %s, %s\nwant %s", e.Text, have, c.want)
			}
		})
	}
}

// FuzzAPI: a served text has a definition that is an object, and is valid when it is parsed
// again.
func FuzzAPI(f *testing.F) {
	f.Add(`{"active":true,"api_id":"a"}`, `{"openapi":"3.0.3"}`, `[{"event_name":"E","hook":{"id":"h1"}}]`)
	f.Add(`{"active":true,"use_keyless":false,"Use_Keyless":true}`, `{"openapi":"3.0.3","components":{"schemas":{"a":{"required":"no","Type":5,"items":{"minLength":1.0}}}}}`, `[]`)
	f.Add("{\"active\":true,\"u\u017fe_keyle\u017fs\":true}", `{"x-tyk-api-gateway":{"server":{"authentication":{"Enabled":false,"securitySchemes":{"a":{"allowedIssuers":"x"}}}}}}`, ``)
	f.Add(`{"active":true,"event_handlers":{"events":{"E":[{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"h1"}}]}}}`, `null`, ``)
	f.Fuzz(func(t *testing.T, definition, document, references string) {
		e := entry(t, definition, document, references)
		if e.Text != nil && e.Problems != nil {
			t.Fatalf("both: %s %v", e.Text, e.Problems)
		}
		if e.Text == nil {
			return
		}
		n, err := doc.ParseNode(e.Text)
		if err != nil || !n.Get("api_definition").Is(doc.TypeObject) || !n.Get("oas").Is(doc.TypeObject, doc.TypeNull) {
			t.Fatalf("%s: %v", e.Text, err)
		}
		again := entry(t, string(n.Get("api_definition").JSON()), string(n.Get("oas").JSON()), "")
		if string(again.Text) != string(e.Text) {
			t.Fatalf("%s\nthen %s %v", e.Text, again.Text, again.Problems)
		}
	})
}
