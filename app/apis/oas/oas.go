// Package oas lets clients manage APIs by OpenAPI documents.
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
	// Template returns the document part of an asset.
	Template func(ctx context.Context, r store.Reader, id string) (*doc.Node, error)
}

// classes are the classes of the APIs that the service finds, first the one that it
// makes. Streams APIs are OAS APIs to clients that read lists; their own rules hold
// for them here as well.
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

// Import stores a plain description with the extension that follows from it and
// from the query.
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

// Replace replaces a document; categories and owners stay.
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

// Patch puts an updated description under the stored extension.
func (s *Service) Patch(ctx context.Context, in documents.PatchIn) (operation.Receipt, error) {
	document, err := s.Documents.Body(ctx, in.Body)
	if err != nil {
		return operation.Receipt{}, err
	}
	in.Unknown = true // a patch brings no extension: members of the stored one were let pass before
	at, err := s.Documents.Rewrite(ctx, in.ReplaceIn, s.patched(document, in), apidef.OAS)
	return operation.Receipt{Message: "API updated", Tag: operation.Tag(at)}, err
}

// patches says to rules what Patch stores.
func (s *Service) patches(ctx context.Context, in documents.PatchIn) (operation.Settled, error) {
	document, err := s.Documents.Body(ctx, in.Body)
	if err != nil {
		return operation.Settled{}, err
	}
	return s.Documents.Becomes(ctx, in.ReplaceIn, apidef.OAS, s.patched(document, in))
}

// patched returns how a description becomes the new document of a stored API.
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

// deleteIn deletes an API, with purge its child versions too.
type deleteIn struct {
	rows.WriteByID
	Purge bool `query:"purge" doc:"true deletes the child versions of a base too."`
}

// Delete removes an API with a document.
func (s *Service) Delete(ctx context.Context, in deleteIn) (operation.Receipt, error) {
	return operation.Receipt{Message: "API deleted."}, s.Documents.Versions.Delete(ctx, in.WriteByID, apidef.OAS, in.Purge)
}
