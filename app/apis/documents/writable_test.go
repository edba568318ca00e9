package documents_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// TestWritable: no document is stored that is too large for a request body. Imports and
// patches can make a document larger than the description.
func TestWritable(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Forms.Room.Values = 400
	described := func(n int) string {
		var paths []string
		for i := range n {
			paths = append(paths, fmt.Sprintf(`"/p%d":{"get":{"operationId":"o%d","parameters":[{"name":"q","in":"query","schema":{"type":"string"}}],"responses":{"200":{"description":"d"}}}}`, i, i))
		}
		return `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"servers":[{"url":"http://u.example"}],"paths":{` + strings.Join(paths, ",") + `}}`
	}
	const too = "The API would be too large to be sent back: it would hold more than 400 values"
	fits, many := described(20), described(32)
	if n := doc.Count([]byte(many)); n > w.Forms.Room.Values {
		t.Fatal(n, "values: the description itself is too large")
	}
	head := w.Head()
	w.Want("admin", "POST", "/apis/oas/import?validateRequest=true&allowList=true&apiID=m", many, 413, too)
	w.Want("admin", "POST", "/apis/oas/dry-run?validateRequest=true&allowList=true", `{"oas":`+many+`}`, 413, too)
	if w.Head() != head {
		t.Error("something is stored")
	}
	w.Done("admin", "POST", "/apis/oas/import?apiID=f", fits)
	w.Want("admin", "PATCH", "/apis/oas/f?validateRequest=true&allowList=true", many, 413, too)
	back := w.Node("admin", "/apis/oas/f")
	if back.Values() > w.Forms.Room.Values {
		t.Error(back.Values())
	}
	w.Done("admin", "PUT", "/apis/oas/f", string(back.JSON()))
	w.Done("admin", "POST", "/apis", apistest.Classic("c", "C", "/c/"))
	w.Want("admin", "PATCH", "/apis/c", `{"api_definition":{"config_data":{"l":[`+strings.Repeat("1,", 390)+`1]}}}`, 413, too)
	// A document that was stored with a larger limit can be changed as long as it does
	// not grow.
	w.Forms.Room.Values = 50
	w.Want("admin", "PUT", "/apis/oas/f", string(back.JSON()), 200, "API updated")
	w.Want("admin", "PATCH", "/apis/c", `{"api_definition":{"name":"D"}}`, 200, "API updated")
	w.Forms.Room.Bytes = 10
	w.Want("admin", "POST", "/apis/oas", apistest.Document("b", "B", "/b/"), 413, "it would have more than 10 bytes")
}
