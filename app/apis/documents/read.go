package documents

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Document is the text of an OpenAPI document in a list.
type Document struct{ Text json.RawMessage }

// SchemaName is the name of the schema in the API description.
func (Document) SchemaName() string { return "OASDocument" }

// Schema describes the essential members of a document. GET /api/schemas/apidefs
// returns the whole schema.
func (Document) Schema() map[string]any {
	object := func(members doc.Fields) map[string]any {
		return map[string]any{"type": "object", "properties": members}
	}
	text, any := map[string]any{"type": "string"}, map[string]any{"type": "object"}
	return object(doc.Fields{
		{Name: "openapi", Value: text}, {Name: "info", Value: object(doc.Fields{{Name: "title", Value: text}, {Name: "version", Value: text}})}, {Name: "paths", Value: any},
		{Name: oas.ExtensionKey, Value: object(doc.Fields{
			{Name: "info", Value: object(doc.Fields{{Name: "id", Value: text}, {Name: "name", Value: text}, {Name: "state", Value: any}})},
			{Name: "server", Value: object(doc.Fields{{Name: "listenPath", Value: object(doc.Fields{{Name: "value", Value: text}})}})},
			{Name: "upstream", Value: any},
		})},
	})
}

// AppendJSON implements doc.Appender.
func (d Document) AppendJSON(b []byte) ([]byte, error) { return append(b, d.Text...), nil }

// MarshalJSON implements json.Marshaler.
func (d Document) MarshalJSON() ([]byte, error) { return d.Text, nil }

// Find returns an API of one of the classes and, if it is a child version, the API ID
// of its base.
func (s *Service) Find(ctx context.Context, in rows.ByID, classes ...apidef.Class) (a store.Stored[apidef.API], base string, err error) {
	err = s.APIs.Store.View(ctx, in.Scope, func(r store.Reader) error {
		if a, err = s.APIs.Get(ctx, r, in.ID, s.APIs.Viewer(in.Who, classes[0], access.Read)); err != nil {
			return err
		}
		if err = apis.CheckClass(a.Value, classes...); err != nil {
			return err
		}
		b, err := s.Versions.Base(ctx, r, a.Value)
		if b != nil {
			base = b.APIID()
		}
		return err
	})
	return a, base, err
}

// Get returns the document of an API of one of the classes.
func (s *Service) Get(ctx context.Context, in rows.ByID, classes ...apidef.Class) (operation.Rendition, error) {
	a, base, err := s.Find(ctx, in, classes...)
	if err != nil {
		return operation.Rendition{}, err
	}
	return rows.Render(a.Value.Document(), a, base), nil
}

// CodeNotBase is the code of the fault when an API without versions is asked for its
// versions.
const CodeNotBase = apidef.Kind + ".not_a_base"

// NotBase returns the fault when an API without versions is asked for its versions.
func NotBase(id string) error {
	return fault.New(fault.Invalid, CodeNotBase, "%s is not recognised", id)
}

// Children lists the child versions of a base of one of the classes.
func (s *Service) Children(ctx context.Context, in rows.ByID, q versions.Query, classes ...apidef.Class) (out versions.Metas, err error) {
	v := s.APIs.Viewer(in.Who, classes[0], access.Read)
	err = s.APIs.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := s.APIs.Get(ctx, r, in.ID, v)
		if err != nil {
			return err
		}
		if apis.CheckClass(a.Value, classes...) != nil {
			return NotBase(in.ID)
		}
		_, document, err := a.Value.Texts()
		if err != nil {
			return err
		}
		table := versions.InDocument(document)
		if !table.Enabled() {
			return NotBase(in.ID)
		}
		out = table.List(func(id string) *doc.Node {
			c, err := s.APIs.Named(ctx, r, id)
			if err != nil || c == nil || apis.Admit(*c, v) != nil {
				return nil
			}
			def, _, _ := c.Texts()
			return def
		}, q)
		return nil
	})
	return out, err
}
