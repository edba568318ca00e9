package documents

import (
	"bytes"
	"context"
	"errors"
	"path"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/document"
	place "github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/graphql"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/yaml"
)

// Bounds of documents, besides their size in bytes.
const (
	maxValues = 300_000
	maxDepth  = 128
)

// Fault codes for files that are too large, and for schemas that cannot be checked here.
const (
	codeLarge     = "document.too_large"
	codeUnchecked = "document.unchecked"
)

// file is a validated document.
type file struct {
	mediaType string
	text      []byte
	kept      place.Content // where the text is stored; set by shelve
}

// shelve stores the text of a document before the unit of work that stores the document.
func (f family) shelve(ctx context.Context, in tenant.Scope, d file) (file, error) {
	var err error
	d.kept, err = f.Shelf.Keep(ctx, f.Tools, in, "documents", path.Base(d.mediaType), d.text)
	return d, err
}

// reader parses files of one form.
type reader func(ctx context.Context, a operation.Attachment) (file, error)

// readOAS parses an OpenAPI description.
func (c Config) readOAS(ctx context.Context, a operation.Attachment) (file, error) {
	n, mediaType, err := c.tree(ctx, a.Content)
	if err != nil {
		return file{}, err
	}
	return file{mediaType: mediaType, text: a.Content}, document.CheckOAS(n)
}

// tree parses JSON or YAML, after reserving memory for the result.
func (c Config) tree(ctx context.Context, text []byte) (*doc.Node, string, error) {
	if isJSON := bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")); isJSON && doc.Check(text, maxDepth) == nil {
		n, err := parseJSON(ctx, text, document.CodeOAS)
		return n, document.JSON, err
	}
	most := yaml.Limits{Bytes: int(c.MaxUpload), Values: maxValues}
	may, err := c.YAML.Weigh(text, most)
	if err != nil {
		return nil, "", unread(err)
	}
	if err := load.Of(ctx).Work(ctx, int64(may.Bytes), int64(may.Values)); err != nil {
		return nil, "", err
	}
	n, err := c.YAML.Parse(text, most)
	if err != nil {
		return nil, "", unread(err)
	}
	if n.Deeper(maxDepth) {
		return nil, "", fault.New(fault.Invalid, document.CodeOAS, "the document is nested deeper than %d levels", maxDepth).At("file")
	}
	return n, document.YAML, nil
}

func unread(err error) error {
	if errors.Is(err, yaml.ErrLarge) {
		return fault.New(fault.TooLarge, codeLarge, "the document is %s", err.Error()).At("file")
	}
	return fault.New(fault.Invalid, document.CodeOAS, "the file is neither JSON nor YAML: %s", err.Error()).At("file")
}

// parseJSON parses a JSON text, after reserving memory for its values.
func parseJSON(ctx context.Context, text []byte, code string) (*doc.Node, error) {
	if err := doc.Check(text, maxDepth); err != nil {
		return nil, fault.New(fault.Invalid, code, "the file is no JSON: %s", err.Error()).At("file")
	}
	values := doc.Count(text)
	if values > maxValues {
		return nil, fault.New(fault.TooLarge, codeLarge, "the document is too large: it holds more than %d values", maxValues).At("file")
	}
	if err := load.Of(ctx).Work(ctx, int64(len(text)), int64(values)); err != nil {
		return nil, err
	}
	return doc.ParseNode(text)
}

// readSchema parses a GraphQL schema: in the definition language, or as the result of
// the introspection query.
func (c Config) readSchema(ctx context.Context, a operation.Attachment) (file, error) {
	mediaType, err := document.SchemaType(a.Name)
	if err != nil {
		return file{}, err
	}
	out := file{mediaType: mediaType, text: a.Content}
	if mediaType != document.SDL {
		n, err := parseJSON(ctx, a.Content, document.CodeJSON)
		if err != nil {
			return file{}, err
		}
		return out, document.CheckIntrospection(n)
	}
	if c.GraphQL == nil {
		return out, fault.New(fault.Unavailable, codeUnchecked, "this service cannot check GraphQL schemas; upload the introspection result in JSON")
	}
	tokens, err := c.GraphQL.Weigh(a.Content)
	if err == nil {
		if err = load.Of(ctx).Work(ctx, int64(len(a.Content)), int64(tokens)); err != nil {
			return out, err
		}
		err = c.GraphQL.Check(a.Content)
	}
	switch {
	case errors.Is(err, graphql.ErrLarge):
		return out, fault.New(fault.TooLarge, codeLarge, "the document is %s", err.Error()).At("file")
	case err != nil:
		return out, fault.New(fault.Invalid, document.CodeSDL, "%s", err.Error()).At("file")
	}
	return out, nil
}
