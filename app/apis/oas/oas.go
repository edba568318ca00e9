// Package oas holds the operations on APIs that are written as OpenAPI documents.
package oas

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/apis/documents"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/description/imports"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Service manages OAS APIs.
type Service struct {
	Documents *documents.Service
	// Template returns the document in an asset.
	Template func(ctx context.Context, r store.Reader, id string) (*doc.Node, error)
}

// classes are the classes of APIs that the service finds; it creates APIs of the first
// one. In lists, clients see streams APIs as OAS APIs. The rules of streams apply to
// them here as well.
var classes = []apidef.Class{apidef.OAS, apidef.Streams}

type createIn struct {
	documents.In
	versioning.NewVersion
	templateIn
}

// Create stores a complete document.
func (s *Service) Create(ctx context.Context, in createIn) (operation.Receipt, error) {
	document, err := s.created(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	return s.Documents.Create(ctx, in.In, apidef.OAS, document, in.NewVersion)
}

// created returns the document that Create stores.
func (s *Service) created(ctx context.Context, in createIn) (*doc.Node, error) {
	document, err := s.Documents.Body(ctx, in.Body)
	if err == nil && !in.Body.Whole {
		document, err = s.under(ctx, in.In, in.templateIn, document)
	}
	if err == nil {
		err = forms.WantExtension(document)
	}
	if err != nil {
		return nil, err
	}
	imports.TranslatePatterns(document)
	return document, nil
}

type importIn struct {
	documents.In
	versioning.NewVersion
	templateIn
	documents.SettingsIn
}

// Import stores a plain description, with an extension that is made from the
// description and the query.
func (s *Service) Import(ctx context.Context, in importIn) (operation.Receipt, error) {
	document, err := s.imported(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	return s.Documents.Create(ctx, in.In, apidef.OAS, document, in.NewVersion)
}

// imported returns the document that Import stores.
func (s *Service) imported(ctx context.Context, in importIn) (*doc.Node, error) {
	document, err := s.Documents.Body(ctx, in.Body)
	if err != nil || in.Body.Whole {
		return document, err
	}
	if err = imports.CheckPlain(document, "import"); err == nil {
		document, err = s.under(ctx, in.In, in.templateIn, document)
	}
	if err == nil {
		err = imports.Import(document, s.Documents.Settings(in.SettingsIn))
	}
	return document, err
}

// Replace replaces a document; categories and owners are kept.
func (s *Service) Replace(ctx context.Context, in documents.ReplaceIn) (operation.Receipt, error) {
	document, err := s.replaced(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.Documents.Rewrite(ctx, in, func(a apidef.API) (*doc.Node, error) {
		if a.Class() == apidef.Streams {
			if err := s.Documents.Forms.StreamsOn(); err != nil {
				return nil, err
			}
			return document.Clone(), forms.WantStreams(document)
		}
		return document.Clone(), forms.WantExtension(document)
	}, classes...)
	return operation.Receipt{Message: "API updated.", Tag: operation.Tag(at)}, err
}

// replaced returns the document that Replace stores.
func (s *Service) replaced(ctx context.Context, in documents.ReplaceIn) (*doc.Node, error) {
	document, err := s.Documents.Body(ctx, in.Body)
	if err == nil {
		imports.TranslatePatterns(document)
	}
	return document, err
}

// Patch stores a new description with the stored extension.
func (s *Service) Patch(ctx context.Context, in documents.PatchIn) (operation.Receipt, error) {
	document, err := s.Documents.Body(ctx, in.Body)
	if err != nil {
		return operation.Receipt{}, err
	}
	in.Unknown = true // a patch brings no extension: unknown members of the stored one were accepted before
	at, err := s.Documents.Rewrite(ctx, in.ReplaceIn, s.patched(document, in), apidef.OAS)
	return operation.Receipt{Message: "API updated", Tag: operation.Tag(at)}, err
}

// patches returns what Patch stores, for rules.
func (s *Service) patches(ctx context.Context, in documents.PatchIn) (operation.Settled, error) {
	document, err := s.Documents.Body(ctx, in.Body)
	if err != nil {
		return operation.Settled{}, err
	}
	return s.Documents.Becomes(ctx, in.ReplaceIn, apidef.OAS, s.patched(document, in))
}

// patched returns the function that makes the new document of a stored API from a
// description.
func (s *Service) patched(description *doc.Node, in documents.PatchIn) func(apidef.API) (*doc.Node, error) {
	return func(a apidef.API) (*doc.Node, error) {
		if in.Body.Whole {
			return description.Clone(), forms.WantExtension(description)
		}
		if err := imports.CheckPlain(description, "patch"); err != nil {
			return nil, err
		}
		_, stored, err := a.Texts()
		if err != nil {
			return nil, err
		}
		document := description.Clone()
		return document, imports.Patch(document, stored, s.Documents.Settings(in.SettingsIn))
	}
}

// deleteIn is the input of Delete. With purge, child versions are deleted too.
type deleteIn struct {
	rows.WriteByID
	Purge bool `query:"purge" doc:"true: the child versions of a base are deleted as well."`
}

// Delete deletes an API with a document.
func (s *Service) Delete(ctx context.Context, in deleteIn) (operation.Receipt, error) {
	return operation.Receipt{Message: "API deleted."}, s.Documents.Versions.Delete(ctx, in.WriteByID, apidef.OAS, in.Purge)
}
