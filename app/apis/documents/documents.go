// Package documents holds the operations on OpenAPI documents that all classes share.
// OAS APIs, streams APIs and MCP proxies use it.
package documents

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/description/imports"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Service reads and writes documents.
type Service struct {
	APIs     *apis.Repository
	Forms    *forms.Forms
	Versions *versioning.Service
	// Read returns the JSON tree of a document in a request: JSON or YAML, an archive,
	// or a URL of one of these.
	Read func(ctx context.Context, b operation.Document) (*doc.Node, error)
}

// In is the input of operations with a whole document.
type In struct {
	Scope   tenant.Scope
	Who     operation.Principal
	Unknown bool               `query:"accept_additional_properties" doc:"true: unknown members of the extension are accepted."`
	Body    operation.Document `body:""`
}

// ReplaceIn is the input of operations with a new document of an API.
type ReplaceIn struct {
	rows.WriteByID
	Unknown bool               `query:"accept_additional_properties" doc:"true: unknown members of the extension are accepted."`
	Body    operation.Document `body:""`
}

// PatchIn is the input of operations with a new description of an API.
type PatchIn struct {
	ReplaceIn
	SettingsIn
}

// SettingsIn are the query settings of import, patch and dry run. Invalid booleans
// count as absent.
type SettingsIn struct {
	UpstreamURL     string `query:"upstreamURL" doc:"Upstream address of the API. When absent, an import takes the first server of the description, and a patch keeps the stored address."`
	ListenPath      string `query:"listenPath" doc:"Listen path of the API. When absent, an import takes /, and a patch keeps the stored path."`
	CustomDomain    string `query:"customDomain" doc:"Custom domain of the API. Unchanged when absent."`
	AllowList       string `query:"allowList" is:"boolean" doc:"true: gateways allow only the endpoints in the description. Unchanged when absent."`
	ValidateRequest string `query:"validateRequest" is:"boolean" doc:"true: gateways validate requests against the description. Unchanged when absent."`
	MockResponse    string `query:"mockResponse" is:"boolean" doc:"true: gateways respond with the examples in the description. Unchanged when absent."`
	Authentication  string `query:"authentication" oneof:"true,false,compliant" doc:"true: the API gets the authentication that the description declares. false: no authentication. compliant: all security requirements of the description are kept."`
	APIID           string `query:"apiID" doc:"API ID for an import. A patch cannot change it."`
	Mode            string `query:"securityProcessingMode" oneof:"legacy,compliant" doc:"How security requirements are interpreted."`
}

// Settings reads the query settings.
func (s *Service) Settings(in SettingsIn) imports.Settings {
	values := map[string]string{
		"upstreamURL": in.UpstreamURL, "listenPath": in.ListenPath, "customDomain": in.CustomDomain, "allowList": in.AllowList,
		"validateRequest": in.ValidateRequest, "mockResponse": in.MockResponse, "authentication": in.Authentication,
		"apiID": in.APIID, "securityProcessingMode": in.Mode,
	}
	out := imports.ParseSettings(func(name string) (string, bool) { v := values[name]; return v, v != "" })
	out.Own = s.Forms.Hosts.Own
	return out
}

// Body returns the document of a request.
func (s *Service) Body(ctx context.Context, b operation.Document) (n *doc.Node, err error) {
	if b.Whole {
		n, err = doc.ParseNode(b.JSON)
	} else {
		n, err = s.Read(ctx, b)
	}
	if err == nil && !n.Is(doc.TypeObject) {
		err = fault.New(fault.Invalid, operation.CodeMalformed, "the document must be an object")
	}
	if err == nil {
		err = s.Forms.Streamable(n)
	}
	return n, err
}

// Settles is the option of an operation that stores the document that draft returns for
// its input. Rules decide about that document.
func Settles[I any](draft func(context.Context, I) (*doc.Node, error)) operation.Option {
	return operation.Settles(func(ctx context.Context, in I) (operation.Settled, error) {
		n, err := draft(ctx, in)
		if err != nil {
			return operation.Settled{}, err
		}
		return operation.Settled{Body: n.JSON()}, nil
	})
}

// Becomes returns the new document of a stored API, for rules.
func (s *Service) Becomes(ctx context.Context, in ReplaceIn, class apidef.Class, build func(apidef.API) (*doc.Node, error)) (out operation.Settled, err error) {
	err = s.APIs.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := s.APIs.Get(ctx, r, in.ID, s.APIs.Viewer(in.Who, class, access.Write))
		if err == nil {
			err = apis.CheckClass(a.Value, class)
		}
		if err != nil {
			return err
		}
		document, err := build(a.Value)
		if err == nil {
			out = operation.Settled{Body: document.JSON(), At: a.Serial}
		}
		return err
	})
	return out, err
}

// Create checks and stores a new API with a document.
func (s *Service) Create(ctx context.Context, in In, class apidef.Class, document *doc.Node, v versioning.NewVersion) (operation.Receipt, error) {
	d := apidef.Draft{ID: s.APIs.NewID(), OrgID: in.Scope.Org(), Class: class, Document: document}
	if d.APIID = document.Get(oas.ExtensionKey, "info", "id").Text(); d.APIID == "" {
		d.APIID = s.APIs.NewAPIID()
	}
	if err := forms.CheckAPIID(d.APIID); err != nil {
		return operation.Receipt{}, err
	}
	forms.Identify(d)
	if err := s.Forms.Document(document, class, in.Unknown); err != nil {
		return operation.Receipt{}, err
	}
	a, at, err := s.Versions.Create(ctx, in.Scope, in.Who, d, v)
	if err != nil {
		return operation.Receipt{}, err
	}
	return operation.Receipt{Message: "API created", Meta: a.ID(), ID: a.APIID(), Tag: operation.Tag(at)}, nil
}
