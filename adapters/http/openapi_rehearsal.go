package http

import (
	nethttp "net/http"
	"reflect"
	"strconv"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// rehearsal adds the answer to a dry run to the responses of a row. Its status is 200,
// even if the row's own status differs.
func (d *describer) rehearsal(responses object) {
	status := strconv.Itoa(nethttp.StatusOK)
	schema := d.of(reflect.TypeFor[operation.Rehearsed]())
	if own, ok := responses[status].(object); ok {
		if content, ok := own["content"].(object); ok {
			media := content[jsonType].(object)
			media["schema"] = object{"anyOf": []any{media["schema"], schema}}
			return
		}
	}
	responses[status] = object{"description": nethttp.StatusText(nethttp.StatusOK), "headers": object{"X-Request-Id": ref("headers", "RequestID")},
		"content": object{jsonType: object{"schema": schema}}}
}
