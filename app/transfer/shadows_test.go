package transfer_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
)

// TestImportOfShadowed: clients may choose the database ID of another record as an identifier.
// An import stores each record in its own place all the same.
func TestImportOfShadowed(t *testing.T) {
	const apisPath, policiesPath, id = "/admin/apis/import", "/admin/policies/import", "5f1a0c5d8e3b2a1f000000a1"
	w := newWorld(t, apis.Settings{})
	h := w.http(t)
	definition := func(id, apiID, name, path string) string {
		return `{"id":"` + id + `","api_id":"` + apiID + `","org_id":"a","name":"` + name + `","proxy":{"listen_path":"` + path + `","target_url":"http://up.example/"}}`
	}
	for _, c := range []struct{ name, path, body, meta string }{
		{"an API, and one in its shadow", apisPath, wrap(definition(id, "real", "Real", "/real/"), definition("", id, "Shadow", "/shadow/")), `{"` + id + `":true,"real":true}`},
		{"the API again", apisPath, wrap(definition(id, "real", "Changed", "/real/")), `{"real":true}`},
		{"a policy, and one in its shadow", policiesPath, `{"Data":[{"_id":"` + id + `","id":"gold","org_id":"a","name":"Gold"},{"_id":"5f1a0c5d8e3b2a1f000000a2","id":"` + id + `","org_id":"a","name":"Shadow"}]}`,
			`{"` + id + `":true,"gold":true}`},
		{"the policy again", policiesPath, `{"Data":[{"_id":"` + id + `","id":"gold","org_id":"a","name":"Gold","rate":7}]}`, `{"gold":true}`},
		{"the policy by its id", policiesPath, `{"Data":[{"id":"gold","org_id":"a","name":"Gold","rate":8}]}`, `{"gold":true}`},
		{"a policy whose shadow comes", policiesPath, `{"Data":[{"_id":"5f1a0c5d8e3b2a1f000000b1","id":"silver","org_id":"a","name":"Silver"}]}`, `{"silver":true}`},
		{"its shadow", policiesPath, `{"Data":[{"_id":"5f1a0c5d8e3b2a1f000000b2","id":"5f1a0c5d8e3b2a1f000000b1","org_id":"a","name":"Dark"}]}`, `{"5f1a0c5d8e3b2a1f000000b1":true}`},
	} {
		if status, answer := post(t, h, c.path, "secret", c.body); status != 200 || !strings.Contains(answer, `"Meta":`+c.meta) {
			t.Errorf("%s: %d %s, want %s", c.name, status, answer, c.meta)
		}
	}
	for _, c := range []struct{ kind, id, want string }{
		{"api", "real", `"name":"Changed"`}, {"api", id, `"name":"Shadow"`},
		{"policy", "gold", `"rate":8`}, {"policy", id, `"name":"Shadow"`}, {"policy", "silver", `"name":"Silver"`}, {"policy", "5f1a0c5d8e3b2a1f000000b1", `"name":"Dark"`},
	} {
		if text := w.record("a", c.kind, c.id); !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %s, want %s", c.kind, c.id, text, c.want)
		}
	}
}
