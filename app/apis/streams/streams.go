// Package streams holds the operations on streams APIs.
package streams

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/apis/documents"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/description/imports"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Service manages streams APIs.
type Service struct{ Documents *documents.Service }

type createIn struct {
	documents.In
	versioning.NewVersion
}

// Create stores a streams document.
func (s *Service) Create(ctx context.Context, in createIn) (operation.Receipt, error) {
	document, err := s.created(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	return s.Documents.Create(ctx, in.In, apidef.Streams, document, in.NewVersion)
}

// created returns the document that Create stores.
func (s *Service) created(ctx context.Context, in createIn) (*doc.Node, error) {
	document, err := s.body(ctx, in.Body)
	if err == nil {
		err = forms.WantStreams(document)
	}
	return document, err
}

// body reads a document if streams are on. Streams without settings for gateways are
// stored, but are inactive until they get some.
func (s *Service) body(ctx context.Context, b operation.Document) (*doc.Node, error) {
	if err := s.Documents.Forms.StreamsOn(); err != nil {
		return nil, err
	}
	return s.Documents.Body(ctx, b)
}

// Get returns the document of a streams API.
func (s *Service) Get(ctx context.Context, in rows.ByID) (operation.Rendition, error) {
	return s.Documents.Get(ctx, in, apidef.Streams)
}

// Replace replaces a streams document.
func (s *Service) Replace(ctx context.Context, in documents.ReplaceIn) (operation.Receipt, error) {
	document, err := s.replaced(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.Documents.Rewrite(ctx, in, func(apidef.API) (*doc.Node, error) {
		return document.Clone(), forms.WantStreams(document)
	}, apidef.Streams)
	return operation.Receipt{Message: "API updated.", Tag: operation.Tag(at)}, err
}

// replaced returns the document that Replace stores.
func (s *Service) replaced(ctx context.Context, in documents.ReplaceIn) (*doc.Node, error) {
	return s.body(ctx, in.Body)
}

// Patch stores a new description with the stored extensions; extensions in the request
// replace the stored ones.
func (s *Service) Patch(ctx context.Context, in documents.PatchIn) (operation.Receipt, error) {
	document, err := s.body(ctx, in.Body)
	if err != nil {
		return operation.Receipt{}, err
	}
	if document.Get(oas.ExtensionKey) == nil { // unknown members of the stored extension were accepted before
		in.Unknown = true
	}
	at, err := s.Documents.Rewrite(ctx, in.ReplaceIn, s.patched(document, in), apidef.Streams)
	return operation.Receipt{Message: "API updated", Tag: operation.Tag(at)}, err
}

// patches returns what Patch stores, for rules.
func (s *Service) patches(ctx context.Context, in documents.PatchIn) (operation.Settled, error) {
	document, err := s.body(ctx, in.Body)
	if err != nil {
		return operation.Settled{}, err
	}
	return s.Documents.Becomes(ctx, in.ReplaceIn, apidef.Streams, s.patched(document, in))
}

// patched returns the function that makes the new document of a stored API from a
// description.
func (s *Service) patched(description *doc.Node, in documents.PatchIn) func(apidef.API) (*doc.Node, error) {
	return func(a apidef.API) (*doc.Node, error) {
		if in.Body.Whole {
			return description.Clone(), forms.WantStreams(description)
		}
		_, stored, err := a.Texts()
		if err != nil {
			return nil, err
		}
		document, q := description.Clone(), s.Documents.Settings(in.SettingsIn)
		if ext := document.Get(oas.ExtensionKey); ext != nil {
			stored.Set(oas.ExtensionKey, ext.Clone())
		}
		if stored.Get(oas.ExtensionKey) != nil {
			return document, imports.Patch(document, stored, q)
		}
		forms.KeepStreams(document, stored)
		if q.Empty() { // settings for gateways are made only if the query asks for them
			return document, nil
		}
		return document, imports.Import(document, q)
	}
}

// Delete removes a streams API.
func (s *Service) Delete(ctx context.Context, in rows.WriteByID) (operation.Receipt, error) {
	return operation.Receipt{Message: "API deleted."}, s.Documents.Versions.Delete(ctx, in, apidef.Streams, false)
}
