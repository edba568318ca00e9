package mcp_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// The expanded tool view tells what the operations of the source take, so that it is for
// those who may read the source. It is answered as stored when there is nothing to expand,
// and storing it changes nothing about it.
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
