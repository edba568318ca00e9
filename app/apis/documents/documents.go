package apis

import (
	"context"

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

// documentIn is what rows that take a whole document have in common.
type documentIn struct {
	Scope   tenant.Scope
	Who     operation.Principal
	Unknown bool               `query:"accept_additional_properties" doc:"true lets members of the extension pass that nobody knows."`
	Body    operation.Document `body:""`
}

// templateIn chooses an asset that is put under a new document.
type templateIn struct {
	Template   string `query:"templateID" doc:"Asset to merge under the document; needs api_assets:read."`
	TemplateID string `query:"templateId" doc:"Another spelling of templateID."`
}

func (t templateIn) id() string {
	if t.Template != "" {
		return t.Template
	}
	return t.TemplateID
}

// settingsIn are the query settings of import, patch and dry run (contract
// dashboard.md 10.2). Booleans that are none count as absent.
type settingsIn struct {
	UpstreamURL     string `query:"upstreamURL" doc:"Where gateways send requests. When absent: an import takes the first server, a patch leaves what is stored."`
	ListenPath      string `query:"listenPath" doc:"Path gateways listen at. When absent: / for an import; a patch leaves what is stored."`
	CustomDomain    string `query:"customDomain" doc:"Domain gateways answer for; unchanged when absent."`
	AllowList       string `query:"allowList" doc:"true or false: only the endpoints of the description are allowed. Unchanged when absent."`
	ValidateRequest string `query:"validateRequest" doc:"true or false: requests are checked against the description. Unchanged when absent."`
	MockResponse    string `query:"mockResponse" doc:"true or false: answers come from the description's examples. Unchanged when absent."`
	Authentication  string `query:"authentication" doc:"true: authentication as the description says; false: none; compliant: all requirements of the description."`
	APIID           string `query:"apiID" doc:"API ID that an import wants; a patch cannot change it."`
	Mode            string `query:"securityProcessingMode" doc:"legacy or compliant."`
}

func (s settingsIn) parse(own func(string) bool) imports.Settings {
	values := map[string]string{
		"upstreamURL": s.UpstreamURL, "listenPath": s.ListenPath, "customDomain": s.CustomDomain, "allowList": s.AllowList,
		"validateRequest": s.ValidateRequest, "mockResponse": s.MockResponse, "authentication": s.Authentication,
		"apiID": s.APIID, "securityProcessingMode": s.Mode,
	}
	out := imports.ParseSettings(func(name string) (string, bool) { v := values[name]; return v, v != "" })
	out.Own = own
	return out
}

// body returns the document of a request.
func (l *Library) body(ctx context.Context, b operation.Document) (n *doc.Node, err error) {
	if b.Whole {
		n, err = doc.ParseNode(b.JSON)
	} else {
		n, err = l.Read(ctx, b)
	}
	if err == nil && !n.Is(doc.TypeObject) {
		err = unreadable("the document must be an object")
	}
	if err == nil {
		err = l.streamable(n)
	}
	return n, err
}

// comesTo says to rules that a row stores the document which draft makes of its
// input.
func comesTo[I any](draft func(context.Context, I) (*doc.Node, error)) operation.Option {
	return operation.Settles(func(ctx context.Context, in I) (operation.Settled, error) {
		n, err := draft(ctx, in)
		if err != nil {
			return operation.Settled{}, err
		}
		return operation.Settled{Body: n.JSON()}, nil
	})
}

// becomes says to rules what the document of a stored API becomes.
func (l *Library) becomes(ctx context.Context, in oasReplaceIn, class apidef.Class, build func(apidef.API) (*doc.Node, error)) (s operation.Settled, err error) {
	err = l.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := l.get(ctx, r, in.ID, l.viewerOf(class, in.Who, access.Write))
		if err == nil {
			err = l.isA(a.Value, class)
		}
		if err != nil {
			return err
		}
		document, err := build(a.Value)
		if err == nil {
			s = operation.Settled{Body: document.JSON(), At: a.Serial}
		}
		return err
	})
	return s, err
}

// Codes of faults of documents.
const (
	codeExtension = "oas.extension"
	codeTemplates = "asset.rights"
)

func unreadable(reason string) error {
	return fault.New(fault.Invalid, operation.CodeMalformed, "%s", reason)
}

// wanted refuses a document without the vendor extension.
func wanted(document *doc.Node) error {
	if document.Get(oas.ExtensionKey).Is(doc.TypeObject) {
		return nil
	}
	return fault.New(fault.Invalid, codeExtension, "The payload should contain x-tyk-api-gateway.").At(oas.ExtensionKey)
}

// under merges a template under a document, if one is wanted.
func (l *Library) under(ctx context.Context, scope tenant.Scope, who operation.Principal, id string, document *doc.Node) (*doc.Node, error) {
	template, err := l.template(ctx, scope, who, id)
	if err != nil || template == nil {
		return document, err
	}
	return imports.Apply(template, document), nil
}

// template returns the document part of an asset, or nil when none is wanted.
func (l *Library) template(ctx context.Context, scope tenant.Scope, who operation.Principal, id string) (template *doc.Node, err error) {
	if id == "" {
		return nil, nil
	}
	if !who.Permissions.Allows(access.Assets, access.Read) {
		return nil, fault.New(fault.Denied, codeTemplates, "The user does not have the rights to apply templates.")
	}
	err = l.Store.View(ctx, scope, func(r store.Reader) error {
		template, err = l.Template(ctx, r, id)
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		err = fault.New(fault.Invalid, codeInvalid, "there is no template %q", id).At("templateID")
	}
	return template, err
}

// createDocument checks and stores a new API with a document.
func (l *Library) createDocument(ctx context.Context, scope tenant.Scope, who operation.Principal, class apidef.Class, document *doc.Node, v versionIn, unknown bool) (apidef.API, store.Serial, error) {
	d := apidef.Draft{ID: l.NewID(), OrgID: scope.Org(), Class: class, Document: document}
	info := document.Get(oas.ExtensionKey, "info")
	if d.APIID = info.Get("id").Text(); d.APIID == "" {
		d.APIID = l.NewAPIID()
	}
	if err := checkAPIID(d.APIID); err != nil {
		return apidef.API{}, 0, err
	}
	identify(info, d)
	if err := l.check(document, class, unknown); err != nil {
		return apidef.API{}, 0, err
	}
	return l.create(ctx, scope, who, d, v)
}

// identify writes the identifiers the server owns into the extension.
func identify(info *doc.Node, d apidef.Draft) {
	if info.Is(doc.TypeObject) {
		info.Set("id", doc.NewString(d.APIID))
		info.Set("dbId", doc.NewString(d.ID))
		info.Set("orgId", doc.NewString(string(d.OrgID)))
	}
}
