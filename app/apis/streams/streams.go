package apis

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/description/imports"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Streams is the door for streams APIs (contract dashboard.md 12).
type Streams struct{ *Library }

// streamsKey is the member of a document that holds its streams.
const streamsKey = "x-tyk-streaming"

// codeStreamsOff is the code of a write while streams are switched off.
const codeStreamsOff = "streams.off"

// streamable refuses documents with streams while the feature is off, at every door:
// gateways run the streams of any document that has some.
func (l *Library) streamable(document *doc.Node) error {
	if document.Get(streamsKey) == nil {
		return nil
	}
	return l.streamsOn()
}

// streamsOn refuses writes of streams APIs while the feature is off.
func (l *Library) streamsOn() error {
	if l.Settings.Streams {
		return nil
	}
	return fault.New(fault.Denied, codeStreamsOff, "Streams APIs are switched off: set streaming.enabled to store them")
}

type streamsCreateIn struct {
	documentIn
	versionIn
}

// Create stores a streams document.
func (s Streams) Create(ctx context.Context, in streamsCreateIn) (operation.Receipt, error) {
	document, err := s.created(ctx, in)
	if err != nil {
		return operation.Receipt{}, err
	}
	a, at, err := s.createDocument(ctx, in.Scope, in.Who, apidef.Streams, document, in.versionIn, in.Unknown)
	if err != nil {
		return operation.Receipt{}, err
	}
	return operation.Receipt{Message: "API created", Meta: a.ID(), ID: a.APIID(), Tag: operation.Tag(at)}, nil
}

// created returns the document that Create stores.
func (s Streams) created(ctx context.Context, in streamsCreateIn) (*doc.Node, error) {
	document, err := s.document(ctx, in.Body)
	if err == nil {
		err = streaming(document)
	}
	return document, err
}

// replaced returns the document that Replace stores.
func (s Streams) replaced(ctx context.Context, in oasReplaceIn) (*doc.Node, error) {
	return s.document(ctx, in.Body)
}

// document reads a body that has at least one of the two extensions. Streams
// without settings for gateways are stored switched off until they get some.
func (s Streams) document(ctx context.Context, b operation.Document) (*doc.Node, error) {
	if err := s.streamsOn(); err != nil {
		return nil, err
	}
	return s.body(ctx, b)
}

// streaming refuses a document that has neither of the extensions.
func streaming(document *doc.Node) error {
	if document.Get(oas.ExtensionKey).Is(doc.TypeObject) || document.Get(streamsKey).Is(doc.TypeObject) {
		return nil
	}
	return fault.New(fault.Invalid, codeExtension, "The payload should contain x-tyk-api-gateway and/or x-tyk-streaming.").At(streamsKey)
}

// Replace replaces a streams document.
func (s Streams) Replace(ctx context.Context, in oasReplaceIn) (operation.Receipt, error) {
	document, err := s.document(ctx, in.Body)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.rewrite(ctx, in.writeByID, in.Unknown, func(apidef.API) (*doc.Node, error) {
		return document.Clone(), streaming(document)
	}, apidef.Streams)
	return operation.Receipt{Message: "API updated.", Tag: operation.Tag(at)}, err
}

// Patch puts an updated description under the stored extensions; extensions that
// it brings replace the stored ones.
func (s Streams) Patch(ctx context.Context, in oasPatchIn) (operation.Receipt, error) {
	document, err := s.document(ctx, in.Body)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.rewrite(ctx, in.writeByID, in.Unknown, s.patched(document, in), apidef.Streams)
	return operation.Receipt{Message: "API updated", Tag: operation.Tag(at)}, err
}

// patches says to rules what Patch stores.
func (s Streams) patches(ctx context.Context, in oasPatchIn) (operation.Settled, error) {
	document, err := s.document(ctx, in.Body)
	if err != nil {
		return operation.Settled{}, err
	}
	return s.becomes(ctx, in.oasReplaceIn, apidef.Streams, s.patched(document, in))
}

// patched returns how a description becomes the new document of a stored API.
func (s Streams) patched(description *doc.Node, in oasPatchIn) func(apidef.API) (*doc.Node, error) {
	return func(a apidef.API) (*doc.Node, error) {
		if in.Body.Whole {
			return description.Clone(), streaming(description)
		}
		_, stored, err := a.Texts()
		if err != nil {
			return nil, err
		}
		return updated(description.Clone(), stored, in.parse(s.Hosts.Own))
	}
}

// updated makes the new document of a streams API. One that has no settings for
// gateways gets some only when it is asked for.
func updated(document, stored *doc.Node, q imports.Settings) (*doc.Node, error) {
	if ext := document.Get(oas.ExtensionKey); ext != nil {
		stored.Set(oas.ExtensionKey, ext.Clone())
	}
	if stored.Get(oas.ExtensionKey) != nil {
		return document, imports.Patch(document, stored, q)
	}
	if document.Get(streamsKey) == nil {
		document.Set(streamsKey, stored.Get(streamsKey).Clone())
	}
	if q.Empty() {
		return document, nil
	}
	return document, imports.Import(document, q)
}

// Delete removes a streams API.
func (s Streams) Delete(ctx context.Context, in writeByID) (operation.Receipt, error) {
	return s.delete(ctx, in, apidef.Streams, false, "API deleted.")
}
