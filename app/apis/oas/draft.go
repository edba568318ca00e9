package oas

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/documents"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/description/imports"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// templateIn names an asset that is merged under a new document.
type templateIn struct {
	Template   string `query:"templateID" doc:"Identifier of a template asset. The document is merged over the template. Needs the permission api_assets:read."`
	TemplateID string `query:"templateId" doc:"Another spelling of templateID."`
}

// codeTemplates is the code of the fault for a template that the caller may not read.
const codeTemplates = "asset.rights"

// under merges a template under a document, if the request names one.
func (s *Service) under(ctx context.Context, in documents.In, t templateIn, document *doc.Node) (*doc.Node, error) {
	template, err := s.template(ctx, in, t)
	if err != nil || template == nil {
		return document, err
	}
	return imports.Apply(template, document), nil
}

// template returns the document in an asset, or nil if the request names none.
func (s *Service) template(ctx context.Context, in documents.In, t templateIn) (template *doc.Node, err error) {
	id := t.Template
	if id == "" {
		id = t.TemplateID
	}
	if id == "" {
		return nil, nil
	}
	if !in.Who.Permissions.Allows(access.Assets, access.Read) {
		return nil, fault.New(fault.Denied, codeTemplates, "The user does not have the rights to apply templates.")
	}
	err = s.Documents.APIs.Store.View(ctx, in.Scope, func(r store.Reader) error {
		template, err = s.Template(ctx, r, id)
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		err = fault.New(fault.Invalid, apis.CodeInvalid, "there is no template %q", id).At("templateID")
	}
	return template, err
}

// DryRunRequest is the body of a dry run in the API description.
type DryRunRequest struct {
	OAS    doc.Object `json:"oas,omitzero" doc:"A plain OpenAPI description, in a form that an import or a patch takes."`
	Stored doc.Object `json:"tyk_oas,omitzero" doc:"A document with x-tyk-api-gateway. Together with oas, it is the stored document that the description updates."`
}

type dryRunIn struct {
	documents.In
	versioning.NewVersion
	templateIn
	documents.SettingsIn
}

// sent returns the body as a document, for rules.
func (s *Service) sent(ctx context.Context, in dryRunIn) (*doc.Node, error) {
	return s.Documents.Body(ctx, in.Body)
}

// DryRun returns the document that would be saved, and stores nothing.
func (s *Service) DryRun(ctx context.Context, in dryRunIn) (*doc.Node, error) {
	body, err := s.Documents.Body(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	template, err := s.template(ctx, in.In, in.templateIn)
	if err != nil {
		return nil, err
	}
	document, err := imports.DryRun(body, template, s.Documents.Settings(in.SettingsIn))
	if err != nil {
		return nil, err
	}
	d := apidef.Draft{Class: apidef.OAS, Document: document, APIID: document.Get(oas.ExtensionKey, "info", "id").Text(), OrgID: in.Scope.Org()}
	forms.IdentifyOrg(d)
	if err := s.Documents.Forms.Document(document, d.Class, in.Unknown); err != nil {
		return nil, err
	}
	if err := versioning.CheckTable(d, nil); err != nil {
		return nil, err
	}
	k, err := s.preview(ctx, in, d)
	if err != nil {
		return nil, err
	}
	if err := s.Documents.Forms.Convert(&d, nil, k); err != nil {
		return nil, err
	}
	return document, s.Documents.Forms.Writable(document, nil)
}

// errPreview rolls back the unit of work of a preview.
var errPreview = errors.New("apis: a preview")

// preview returns the link that a new version would have.
func (s *Service) preview(ctx context.Context, in dryRunIn, d apidef.Draft) (k forms.Link, err error) {
	if in.Base == "" {
		return k, nil
	}
	_, err = s.Documents.APIs.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		if k, err = s.Documents.Versions.Attach(ctx, w, in.Who, d, in.NewVersion); err != nil {
			return err
		}
		return errPreview
	})
	if errors.Is(err, errPreview) {
		err = nil
	}
	return k, err
}
