package datagraph_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

const importGraph = "/data-graphs/data-sources/import"

func described(title string) string {
	return `{"openapi":"3.0.3","info":{"title":"` + title + `"},"servers":[{"url":"http://orders"}],"paths":{"/orders/{id}":{"get":{"operationId":"order"}}}}`
}

// Network errors are faults of the server; a wrong address or document is a fault of
// the client.
func TestDataGraphDownloads(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	trouble := fault.New(fault.Invalid, operation.CodeMalformed, "no luck")
	for _, c := range []struct {
		err    error
		status int
	}{
		{trouble.At("url").Because(fetch.ErrUnreachable), 500}, {trouble.At("url").Because(fetch.ErrTooLarge), 500}, {trouble.At("url"), 500},
		{trouble.At("url").Because(fetch.ErrPrivate), 400}, {trouble.At("url").Because(fetch.ErrRequest), 400}, {trouble, 400}, {errors.New("broken"), 500},
	} {
		w.Documents.Read = func(context.Context, operation.Document) (*doc.Node, error) { return nil, c.err }
		before := w.Head()
		w.Want("ann", "POST", importGraph, `{"url":"http://x"}`, c.status, "")
		if w.Head() != before {
			t.Errorf("%v: something was stored", c.err)
		}
	}
}

// A data graph is a classic API like any other: it has owners, and can be read,
// replaced and deleted.
func TestDataGraphIsAClassicAPI(t *testing.T) {
	w := apistest.New(t, apis.Settings{Ownership: true})
	w.Want("ann", "POST", importGraph, described("Orders"), 200, `{"Status":"OK","Message":"Data source imported","Meta":"made0000000000000000000000000001","ID":"made0000000000000000000000000001"}`)
	w.Want("reader", "POST", importGraph, described("Others"), 403, "")
	w.Want("other", "POST", importGraph, described("Orders"), 200, "")
	w.Want("ann", "POST", importGraph, described("orders!"), 403, "Found API with same url.")
	const path = "/apis/made0000000000000000000000000001"
	w.Want("bob", "GET", path, "", 401, "")
	got := w.Node("ann", path)
	if d := got.Get("api_definition"); d.Get("org_id").Text() != "a" || d.Get("api_id").Text() == "" || d.Get("graphql", "execution_mode").Text() != "executionEngine" {
		t.Errorf("%s", d.JSON())
	}
	w.Done("ann", "PUT", path, string(got.JSON()))
	w.Done("ann", "DELETE", path, "")
	w.Done("ann", "POST", importGraph, described("Orders"))
}
