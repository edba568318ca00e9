package mcp_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// The expanded tool view shows the parameters of the source's operations, so only users
// who may read the source get it. If there is nothing to expand, it is returned as
// stored, and writing it back changes nothing.
func TestExpandedView(t *testing.T) {
	w := apistest.New(t, apis.Settings{Ownership: true})
	const list = `"paths":{"/orders":{"get":{"operationId":"listOrders","summary":"All orders","parameters":[{"name":"state","in":"query","schema":{"type":"string"}}],"responses":{"200":{"description":"d"}}}}}`
	w.Done("admin", "POST", "/apis/oas", strings.Replace(apistest.Document("o", "O", "/o/"), `"paths":{}`, list, 1))
	paired := strings.NewReplacer(`"paths"`, `"x-tyk-mcp-server":{"primitives":[{"source":{"operationId":"listOrders"},"name":"orders"}]},"paths"`).Replace(apistest.Document("m", "M", "/m/"))
	paired = strings.Replace(paired, `"upstream":{"url":"http://t"`, `"upstream":{"url":"tyk://o__mcp-server"`, 1)
	w.Done("admin", "POST", "/mcps", paired)
	const filled = `"inputSchema":{"type":"object","properties":{"state":{"type":"string"}}`
	stored := w.Ask("tim", "GET", "/mcps/m", "").Body.String()
	if strings.Contains(stored, "inputSchema") {
		t.Error("without being asked for, the view is expanded:", stored)
	}
	whole := w.Ask("admin", "GET", "/mcps/m?expanded=true", "").Body.String()
	if !strings.Contains(whole, filled) || !strings.Contains(whole, `"title":"All orders"`) {
		t.Error("nothing was filled in:", whole)
	}
	if got := w.Ask("tim", "GET", "/mcps/m?expanded=true", "").Body.String(); got != stored {
		t.Error("a caller who may not read the source sees what is in it:", got)
	}
	w.Done("admin", "PUT", "/mcps/m", whole)
	again := w.Node("admin", "/mcps/m?expanded=true")
	if before, err := doc.ParseNode([]byte(whole)); err != nil || !again.Equal(before) {
		t.Errorf("stored again, the view became\n%s, was\n%s, %v", again.JSON(), whole, err)
	}
	w.Done("admin", "PUT", "/mcps/m", stored)
	w.Done("admin", "DELETE", "/apis/oas/o", "")
	if got := w.Ask("admin", "GET", "/mcps/m?expanded=true", "").Body.String(); got != stored {
		t.Error("without its source:", got)
	}
	w.Done("admin", "POST", "/mcps", apistest.Document("n", "N", "/n/"))
	if plain := w.Ask("admin", "GET", "/mcps/n", "").Body.String(); plain != w.Ask("admin", "GET", "/mcps/n?expanded=true", "").Body.String() {
		t.Error("a proxy without a source is answered in another form")
	}
}

// Two proxies of one API may use a tool name only for the same operation, because
// clients of both would confuse the tools. A stored view that would be refused today
// does not block others.
func TestNamesOfTools(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	const list = `"paths":{"/a":{"get":{"operationId":"a","responses":{"200":{"description":"d"}}}},"/b":{"get":{"operationId":"b","responses":{"200":{"description":"d"}}}}}`
	w.Done("admin", "POST", "/apis/oas", strings.Replace(apistest.Document("o", "O", "/o/"), `"paths":{}`, list, 1))
	proxy := func(id, primitives string) string {
		paired := strings.Replace(apistest.Document(id, id, "/"+id+"/"), `"upstream":{"url":"http://t"`, `"upstream":{"url":"tyk://o__mcp-server"`, 1)
		return strings.Replace(paired, `"paths"`, `"x-tyk-mcp-server":{"primitives":[`+primitives+`]},"paths"`, 1)
	}
	const aAsB, bAsB, onlyBAsC = `{"source":{"operationId":"a"},"name":"b","allow":true}`, `{"source":{"operationId":"b"},"name":"b"}`, `{"source":{"operationId":"b"},"name":"c","allow":true}`
	w.Done("admin", "POST", "/mcps", proxy("one", bAsB))
	w.Want("admin", "POST", "/mcps", proxy("two", aAsB), 400, "the tool b is another operation at the MCP Proxy one")
	w.Done("admin", "POST", "/mcps", proxy("two", onlyBAsC))
	w.Done("admin", "PUT", "/mcps/one", proxy("one", onlyBAsC))
	w.Done("admin", "PUT", "/mcps/two", proxy("two", aAsB))
	w.Want("admin", "PUT", "/mcps/one", proxy("one", bAsB), 400, "the tool b is another operation at the MCP Proxy two")
}
