package http

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"sync"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Description serves the API description as an operation of its own. Describe sets the
// operation table; until then the operation answers with an internal error.
type Description struct {
	version string
	made    func() (document, error)
}

// NewDescription returns a description with the given version of the API.
func NewDescription(version string) *Description { return &Description{version: version} }

// Operations returns the one row: GET /api/openapi.json, without authentication.
func (d *Description) Operations() []operation.Operation {
	return operation.Group{Surface: operation.Probe, Name: "openapi", Path: "/api/openapi.json", Tag: "API description"}.Rows(
		operation.GET("get", "", "Get the OpenAPI description", d.get, operation.Public(),
			operation.Notes("An OpenAPI 3.1 document with every operation of this installation."),
			operation.Example(nil, map[string]any{"openapi": "3.1.0", "info": map[string]any{"title": "Gatehouse", "version": d.version}, "paths": map[string]any{}})))
}

// Describe sets the whole table, including this row. Call it before the first request:
// that request builds the document, which takes longer than the rest of the start.
func (d *Description) Describe(ops []operation.Operation) {
	d.made = sync.OnceValues(func() (document, error) {
		text, err := Document(ops, "", d.version)
		if err != nil {
			return document{}, err
		}
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			return document{}, err
		}
		if _, err := w.Write(text); err != nil {
			return document{}, err
		}
		err = w.Close()
		sum := sha256.Sum256(text)
		return document{tag: hex.EncodeToString(sum[:16]), plain: [][]byte{text}, packed: [][]byte{packed.Bytes()}}, err
	})
}

func (d *Description) get(context.Context, struct{}) (document, error) {
	if d.made == nil {
		return document{}, errors.New("http: the description was never made")
	}
	return d.made()
}

// document is an encoded API description.
type document struct {
	tag           string
	plain, packed [][]byte
}

// Stream implements operation.Stream.
func (d document) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	return jsonType, d.tag, d.plain, d.packed
}

// Schema describes the essential members of an OpenAPI document.
func (document) Schema() map[string]any {
	return object{"type": "object", "required": []string{"openapi", "info", "paths"}, "properties": object{
		"openapi": object{"type": "string"}, "info": object{"type": "object"}, "paths": object{"type": "object"}}}
}
