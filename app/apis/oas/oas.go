package apis

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/description/imports"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// OAS is the door for OpenAPI definitions (contract dashboard.md 10).
type OAS struct{ *Library }

type oasCreateIn struct {
	documentIn
	versionIn
	templateIn
}

// Create stores a complete document.
func (s OAS) Create(ctx context.Context, in oasCreateIn) (operation.Receipt, error) {
	document, err := s.created(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	return s.store(ctx, in.documentIn, document, in.versionIn)
}

// created returns the document that Create stores.
func (s OAS) created(ctx context.Context, in oasCreateIn) (*doc.Node, error) {
	document, err := s.body(ctx, in.Body)
	if err == nil && !in.Body.Whole {
		document, err = s.under(ctx, in.Scope, in.Who, in.id(), document)
	}
	if err == nil {
		err = wanted(document)
	}
	if err != nil {
		return nil, err
	}
	imports.TranslatePatterns(document)
	return document, nil
}

func (s OAS) store(ctx context.Context, in documentIn, document *doc.Node, v versionIn) (operation.Receipt, error) {
	a, at, err := s.createDocument(ctx, in.Scope, in.Who, apidef.OAS, document, v, in.Unknown)
	if err != nil {
		return operation.Receipt{}, err
	}
	return operation.Receipt{Message: "API created", Meta: a.ID(), ID: a.APIID(), Tag: operation.Tag(at)}, nil
}

type oasImportIn struct {
	documentIn
	versionIn
	templateIn
	settingsIn
}

// Import stores a plain description with the extension that follows from it and
// from the query.
func (s OAS) Import(ctx context.Context, in oasImportIn) (operation.Receipt, error) {
	document, err := s.imported(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	return s.store(ctx, in.documentIn, document, in.versionIn)
}

// imported returns the document that Import stores.
func (s OAS) imported(ctx context.Context, in oasImportIn) (*doc.Node, error) {
	document, err := s.body(ctx, in.Body)
	if err != nil || in.Body.Whole {
		return document, err
	}
	if err = imports.CheckPlain(document, "import"); err == nil {
		document, err = s.under(ctx, in.Scope, in.Who, in.id(), document)
	}
	if err == nil {
		err = imports.Import(document, in.parse(s.Hosts.Own))
	}
	return document, err
}

type oasReplaceIn struct {
	writeByID
	Unknown bool               `query:"accept_additional_properties" doc:"true lets members of the extension pass that nobody knows."`
	Body    operation.Document `body:""`
}

// openAPI are the classes of the APIs that the door serves, first the one that it
// makes. Streams APIs are OAS APIs to clients that read lists; their own rules hold
// for them here as well.
var openAPI = []apidef.Class{apidef.OAS, apidef.Streams}

// Replace replaces a document; categories and owners stay.
func (s OAS) Replace(ctx context.Context, in oasReplaceIn) (operation.Receipt, error) {
	document, err := s.replaced(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.rewrite(ctx, in.writeByID, in.Unknown, func(a apidef.API) (*doc.Node, error) {
		if a.Class() == apidef.Streams {
			if err := s.streamsOn(); err != nil {
				return nil, err
			}
			return document.Clone(), streaming(document)
		}
		return document.Clone(), wanted(document)
	}, openAPI...)
	return operation.Receipt{Message: "API updated.", Tag: operation.Tag(at)}, err
}

// replaced returns the document that Replace stores.
func (s OAS) replaced(ctx context.Context, in oasReplaceIn) (*doc.Node, error) {
	document, err := s.body(ctx, in.Body)
	if err == nil {
		imports.TranslatePatterns(document)
	}
	return document, err
}

type oasPatchIn struct {
	oasReplaceIn
	settingsIn
}

// Patch puts an updated description under the stored extension.
func (s OAS) Patch(ctx context.Context, in oasPatchIn) (operation.Receipt, error) {
	document, err := s.body(ctx, in.Body)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.rewrite(ctx, in.writeByID, in.Unknown, s.patched(document, in), apidef.OAS)
	return operation.Receipt{Message: "API updated", Tag: operation.Tag(at)}, err
}

// patches says to rules what Patch stores.
func (s OAS) patches(ctx context.Context, in oasPatchIn) (operation.Settled, error) {
	document, err := s.body(ctx, in.Body)
	if err != nil {
		return operation.Settled{}, err
	}
	return s.becomes(ctx, in.oasReplaceIn, apidef.OAS, s.patched(document, in))
}

// patched returns how a description becomes the new document of a stored API.
func (l *Library) patched(description *doc.Node, in oasPatchIn) func(apidef.API) (*doc.Node, error) {
	return func(a apidef.API) (*doc.Node, error) {
		if in.Body.Whole {
			return description.Clone(), wanted(description)
		}
		if err := imports.CheckPlain(description, "patch"); err != nil {
			return nil, err
		}
		_, stored, err := a.Texts()
		if err != nil {
			return nil, err
		}
		document := description.Clone()
		return document, imports.Patch(document, stored, in.parse(l.Hosts.Own))
	}
}

type dryRunIn struct {
	documentIn
	versionIn
	templateIn
	settingsIn
}

// sent returns the body as a document.
func (s OAS) sent(ctx context.Context, in dryRunIn) (*doc.Node, error) { return s.body(ctx, in.Body) }

// DryRun returns the document that would be saved, and stores nothing.
func (s OAS) DryRun(ctx context.Context, in dryRunIn) (*doc.Node, error) {
	body, err := s.body(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	template, err := s.template(ctx, in.Scope, in.Who, in.id())
	if err != nil {
		return nil, err
	}
	document, err := imports.DryRun(body, template, in.parse(s.Hosts.Own))
	if err != nil {
		return nil, err
	}
	if err := s.check(document, apidef.OAS, in.Unknown); err != nil {
		return nil, err
	}
	d := apidef.Draft{Class: apidef.OAS, Document: document, APIID: document.Get(oas.ExtensionKey, "info", "id").Text(), OrgID: in.Scope.Org()}
	var k link
	if in.Base != "" {
		if k, err = s.preview(ctx, in, d); err != nil {
			return nil, err
		}
	}
	return document, s.convert(&d, nil, k)
}

// preview returns what a new version would depend on.
func (s OAS) preview(ctx context.Context, in dryRunIn, d apidef.Draft) (k link, err error) {
	_, err = s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		if k, err = s.attach(ctx, w, in.Who, d, in.versionIn); err != nil {
			return err
		}
		return errPreview
	})
	if errors.Is(err, errPreview) {
		err = nil
	}
	return k, err
}

// purgeIn deletes an API, with purge its child versions too.
type purgeIn struct {
	writeByID
	Purge bool `query:"purge" doc:"true deletes the child versions of a base too."`
}

// Delete removes an API with a document.
func (s OAS) Delete(ctx context.Context, in purgeIn) (operation.Receipt, error) {
	return s.delete(ctx, in.writeByID, apidef.OAS, in.Purge, "API deleted.")
}
