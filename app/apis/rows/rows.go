package apis

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// baseHeader tells readers of a child version what its base is (contract
// dashboard.md 9.3, 10.3).
const baseHeader = "X-Tyk-Base-Api-Id"

// Document is the text of an OpenAPI document in a list.
type Document struct{ text json.RawMessage }

// AppendJSON implements doc.Appender.
func (d Document) AppendJSON(b []byte) ([]byte, error) { return append(b, d.text...), nil }

// MarshalJSON implements json.Marshaler.
func (d Document) MarshalJSON() ([]byte, error) { return d.text, nil }

// render returns the text of an API as answer.
func render(text json.RawMessage, a store.Stored[apidef.API], base string) operation.Rendition {
	r := operation.Rendition{JSON: text, Tag: operation.Tag(a.Serial)}
	if base != "" {
		r.Header = map[string]string{baseHeader: base}
	}
	return r
}

// Get returns the wrapper of an API of any class.
func (s Classic) Get(ctx context.Context, in byID) (operation.Rendition, error) {
	var base string
	a, err := s.look(ctx, in)
	if err == nil {
		err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
			b, err := s.baseOf(ctx, r, a.Value)
			if b != nil {
				base = b.APIID()
			}
			return err
		})
	}
	if err != nil {
		return operation.Rendition{}, err
	}
	text, err := a.Value.View(false).AppendJSON(nil)
	return render(text, a, base), err
}

// Get returns the document of an OAS API, or of a streams API.
func (s OAS) Get(ctx context.Context, in byID) (operation.Rendition, error) {
	return s.document(ctx, in, openAPI...)
}

// Get returns the document of a streams API.
func (s Streams) Get(ctx context.Context, in byID) (operation.Rendition, error) {
	return s.Library.document(ctx, in, apidef.Streams)
}

// Get returns the document of an MCP proxy.
func (s MCP) Get(ctx context.Context, in byID) (operation.Rendition, error) {
	return s.document(ctx, in, apidef.MCP)
}

func (l *Library) document(ctx context.Context, in byID, classes ...apidef.Class) (operation.Rendition, error) {
	a, base, err := l.find(ctx, in, classes...)
	if err != nil {
		return operation.Rendition{}, err
	}
	return render(a.Value.Document(), a, base), nil
}

type exportIn struct {
	byID
	Mode string `query:"mode" doc:"public leaves out the vendor extensions."`
	Type string `header:"Content-Type" doc:"application/x-yaml for YAML."`
}

// Export returns the document of an API as a file.
func (s OAS) Export(ctx context.Context, in exportIn) (operation.Rendition, error) {
	a, _, err := s.find(ctx, in.byID, openAPI...)
	if err != nil {
		return operation.Rendition{}, err
	}
	text := a.Value.Document()
	if in.Mode == "public" {
		_, document, err := a.Value.Texts()
		if err != nil {
			return operation.Rendition{}, err
		}
		for _, name := range document.Names() {
			if strings.HasPrefix(name, "x-tyk-") {
				document.Delete(name)
			}
		}
		text = document.JSON()
	}
	r := operation.Rendition{JSON: text, YAML: strings.Contains(in.Type, "yaml"), Download: a.Value.APIID() + ".json"}
	if r.YAML {
		r.Download = a.Value.APIID() + ".yaml"
	}
	return r, nil
}
