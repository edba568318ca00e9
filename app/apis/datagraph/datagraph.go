// Package datagraph creates APIs from descriptions of data sources. Afterwards they are
// classic APIs.
package datagraph

import (
	"context"
	"errors"
	"mime"

	"github.com/gatehouse-io/gatehouse/app/apis/documents"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/description/datagraph"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Service creates data graphs.
type Service struct{ Documents *documents.Service }

// Media types that name the format of a document.
const (
	openAPIType  = "application/vnd.tyk.udg.v2.openapi"
	asyncAPIType = "application/vnd.tyk.udg.v2.asyncapi"
)

// codeDownload is the code of the fault for a description that could not be downloaded.
const codeDownload = "datagraph.download"

// Operations lists the only operation.
func (s *Service) Operations() []operation.Operation {
	group := operation.Group{Surface: operation.Management, Name: "data-graphs", Path: "/api/data-graphs/data-sources", Tag: "Data graphs", Permission: access.APIs, Style: rows.Documents("apis")}
	return group.Rows(
		operation.POST("import", "/import", "Create a data graph from an OpenAPI or AsyncAPI description", s.Import, rows.Writing(datagraph.Code, codeDownload), documents.Settles(s.wrapper),
			operation.Answers(map[string]operation.Answer{codeDownload: {Status: 500}}),
			operation.Notes("The body is an OpenAPI 3.0 or 3.1 document (type application/vnd.tyk.udg.v2.openapi) or an AsyncAPI 2.0 to 2.4 document (type "+
				"application/vnd.tyk.udg.v2.asyncapi), as JSON or YAML, or {\"url\": \"https://…\"} for a document that the service downloads. "+
				"With any other type, the kind is read from the document. The result is a classic API without authentication, whose listen path is made of the title of the document. "+
				"GET operations become queries, other operations become mutations, and Kafka channels become subscriptions."),
			operation.Example(map[string]any{"url": "https://specs.example/orders.yaml"}, rows.Made("Data source imported", "orders"))),
	)
}

type dataSourceIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	Type  string             `header:"Content-Type" doc:"One of the two types selects OpenAPI or AsyncAPI. With any other type, the kind is read from the document."`
	Body  operation.Document `body:""`
}

// Import stores a data graph that is made from a description.
func (s *Service) Import(ctx context.Context, in dataSourceIn) (operation.Receipt, error) {
	wrapper, err := s.wrapper(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	d := apidef.Draft{ID: s.Documents.APIs.NewID(), APIID: s.Documents.APIs.NewAPIID(), OrgID: in.Scope.Org(), Class: apidef.Classic, Definition: wrapper.Get(inWrapper)}
	if err := s.Documents.Forms.Classic(&d); err != nil {
		return operation.Receipt{}, err
	}
	a, at, err := s.Documents.Versions.Create(ctx, in.Scope, in.Who, d, versioning.NewVersion{})
	if err != nil {
		return operation.Receipt{}, err
	}
	return operation.Receipt{Message: "Data source imported", Meta: a.APIID(), ID: a.APIID(), Tag: operation.Tag(at)}, nil
}

// inWrapper is the member of a wrapper with the definition.
const inWrapper = "api_definition"

// wrapper returns the data graph in the form of a classic API.
func (s *Service) wrapper(ctx context.Context, in dataSourceIn) (*doc.Node, error) {
	document, err := s.Documents.Body(ctx, in.Body)
	if err != nil || in.Body.Whole {
		return document, undelivered(err)
	}
	// If the media type does not name the format, the version member does.
	from := datagraph.FromOpenAPI
	mediaType, _, _ := mime.ParseMediaType(in.Type)
	if mediaType == asyncAPIType || mediaType != openAPIType && document.Get("openapi") == nil && document.Get("asyncapi") != nil {
		from = datagraph.FromAsyncAPI
	}
	definition, err := from(document)
	if err != nil {
		return nil, err
	}
	wrapper := doc.NewObject()
	wrapper.Set(inWrapper, definition)
	return wrapper, nil
}

// undelivered turns network errors into a fault of the server; an address that must not
// be called remains a fault of the client.
func undelivered(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Field != "url" || errors.Is(err, fetch.ErrRequest) || errors.Is(err, fetch.ErrPrivate) {
		return err
	}
	return fault.New(fault.Internal, codeDownload, "%s", f.Message).At("url").Because(f.Err)
}
