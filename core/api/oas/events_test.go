package oas_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/webhook"
)

// TestRefreshWebhook: the handlers of a webhook get its current settings; their switches and
// pauses stay, and so do handlers of others.
func TestRefreshWebhook(t *testing.T) {
	headers, err := doc.ParseObject([]byte(`{"X-B":"2","X-A":"1"}`))
	if err != nil {
		t.Fatal(err)
	}
	h := webhook.Hook{ID: "h1", Draft: webhook.Draft{Name: "new", Method: "PUT", TargetPath: "https://new.example", Headers: headers, EventTimeout: 30}}
	const now = `"name":"new","disabled":false,"method":"PUT","target_path":"https://new.example","template_path":"","header_map":{"X-B":"2","X-A":"1"},"event_timeout":`
	for name, c := range map[string]struct {
		definition, document, definitionThen, documentThen string
		changed                                            bool
	}{
		"a definition": {
			`{"event_handlers":{"events":{"E":[{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"h1","target_path":"https://old.example","event_timeout":5}}]}}}`, "",
			`{"event_handlers":{"events":{"E":[{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"h1",` + now + `5}}]}}}`, "", true,
		},
		"a document": {
			`{}`, `{"x-tyk-api-gateway":{"server":{"eventHandlers":[{"enabled":false,"trigger":"E","type":"webhook","id":"h1","url":"https://old.example","method":"POST","cooldownPeriod":"5s","bodyTemplate":"t","name":"old"}]}}}`,
			`{}`, `{"x-tyk-api-gateway":{"server":{"eventHandlers":[{"enabled":false,"trigger":"E","type":"webhook","id":"h1","url":"https://new.example","method":"PUT","cooldownPeriod":"5s","name":"new","headers":[{"name":"X-A","value":"1"},{"name":"X-B","value":"2"}]}]}}}`, true,
		},
		"no pause of its own": {
			`{}`, `{"x-tyk-api-gateway":{"server":{"eventHandlers":[{"enabled":true,"trigger":"E","type":"webhook","id":"h1"}]}}}`,
			`{}`, `{"x-tyk-api-gateway":{"server":{"eventHandlers":[{"enabled":true,"trigger":"E","type":"webhook","id":"h1","url":"https://new.example","method":"PUT","headers":[{"name":"X-A","value":"1"},{"name":"X-B","value":"2"}],"name":"new"}]}}}`, true,
		},
		"a pause of nothing": {
			`{"event_handlers":{"events":{"E":[{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"h1"}}]}}}`, `{"x-tyk-api-gateway":{"server":{"eventHandlers":[{"enabled":true,"trigger":"E","type":"webhook","id":"h1","cooldownPeriod":"0s"}]}}}`,
			`{"event_handlers":{"events":{"E":[{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"h1",` + strings.TrimSuffix(now, `,"event_timeout":`) + `}}]}}}`,
			`{"x-tyk-api-gateway":{"server":{"eventHandlers":[{"enabled":true,"trigger":"E","type":"webhook","id":"h1","url":"https://new.example","method":"PUT","cooldownPeriod":"0s","headers":[{"name":"X-A","value":"1"},{"name":"X-B","value":"2"}],"name":"new"}]}}}`, true,
		},
		"as it is": {
			`{"event_handlers":{"events":{"E":[{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"h1",` + now + `30}}]}}}`, "",
			`{"event_handlers":{"events":{"E":[{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"h1",` + now + `30}}]}}}`, "", false,
		},
		"others": {
			`{"event_handlers":{"events":{"E":[{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"h2"}},{"handler_name":"eh_log_handler","handler_meta":{"id":"h1"}},1],"F":3}}}`,
			`{"x-tyk-api-gateway":{"server":{"eventHandlers":[{"type":"webhook","id":"h2"},{"type":"custom","id":"h1"},"h1"]}}}`,
			`{"event_handlers":{"events":{"E":[{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"h2"}},{"handler_name":"eh_log_handler","handler_meta":{"id":"h1"}},1],"F":3}}}`,
			`{"x-tyk-api-gateway":{"server":{"eventHandlers":[{"type":"webhook","id":"h2"},{"type":"custom","id":"h1"},"h1"]}}}`, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			parse := func(text string) *doc.Node {
				if text == "" {
					return nil
				}
				n := doctest.Node(t, text)
				return n
			}
			definition, document := parse(c.definition), parse(c.document)
			if changed := oas.RefreshWebhook(definition, document, h); changed != c.changed {
				t.Errorf("changed: %t", changed)
			}
			if want := parse(c.definitionThen); !definition.Equal(want) {
				t.Errorf("definition %s\nwant %s", definition.JSON(), want.JSON())
			}
			if want := parse(c.documentThen); document != nil && !document.Equal(want) {
				t.Errorf("document %s\nwant %s", document.JSON(), want.JSON())
			}
			again := h
			again.EventTimeout = 99 // a handler's own pause stays; without one, gateways use the webhook's
			if oas.RefreshWebhook(definition, document, again) {
				t.Error("the second time changes something")
			}
		})
	}
}
