package streams

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/documents"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/description/imports"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Operations lists the operations on streams APIs.
func (s *Service) Operations() []operation.Operation {
	group := operation.Group{Surface: operation.Management, Name: "apis.streams", Path: "/api/apis/streams", Tag: "Streams APIs", Permission: access.APIs, Style: rows.Documents("apis")}
	refused := map[string]operation.Answer{apis.CodeClass: {Status: 400, Text: "Could not delete the API."}}
	dry := operation.Rehearsable(s.Documents.APIs.References.Onlooker)
	media := operation.Media("application/vnd.tyk.streams.oas")
	off := operation.Switched(func(context.Context, *operation.Call) error { return s.Documents.Forms.StreamsOn() })
	return group.Rows(
		operation.POST("create", "", "Create a streams API", s.Create, off, media, rows.Unread(), documents.Settles(s.created), rows.Writing(append(versioning.Faults, forms.CodeExtension, forms.CodeStreamsOff)...),
			operation.Example(rows.StreamsDocument, rows.Made("API created", "5f1a0c5d8e3b2a1f00000005")),
			operation.Notes("The document needs x-tyk-api-gateway, x-tyk-streaming or both. Without x-tyk-api-gateway the API is stored as inactive until a later write adds that extension. The request is refused while streaming.enabled is off.")),
		operation.GET("get", "/{apiId}", "Fetch the document of a streams API", s.Get, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, apis.CodeClass),
			rows.Absent(400, "Could not retrieve API detail."), operation.Example(nil, rows.StreamsDocument)),
		operation.PUT("replace", "/{apiId}", "Replace the document of a streams API", s.Replace, off, media, documents.Settles(s.replaced), rows.Writing(apis.CodeMissing, apis.CodeWrongID, forms.CodeExtension, apis.CodeClass, forms.CodeStreamsOff),
			rows.Absent(404, "API definition does not exist"), dry, operation.Example(rows.StreamsDocument, rows.Done("API updated."))),
		operation.PATCH("patch", "/{apiId}", "Update the description of a streams API and keep its settings", s.Patch, off, media, operation.Settles(s.patches), rows.Writing(append(imports.Codes, apis.CodeMissing, apis.CodeWrongID, forms.CodeExtension, apis.CodeClass, forms.CodeStreamsOff)...),
			rows.Absent(404, "API not found."), dry, operation.Example(rows.Description, rows.Done("API updated"))),
		operation.DELETE("delete", "/{apiId}", "Delete a streams API", s.Delete, operation.Faulting(apis.CodeMissing, apis.CodeNotOwned, apis.CodeClass, versions.CodeTooLarge),
			rows.AbsentOr(404, "Could not retrieve API detail.", refused), dry, operation.Example(nil, rows.Done("API deleted."))),
	)
}
