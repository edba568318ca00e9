// Package classicportal accepts the requests of jobs that set up a classic developer
// portal, so that the jobs succeed. There is no such portal: the bodies are stored and
// never read (docs/wire/classic-portal.md).
package classicportal

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/classicportal"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

const byAge = "age"

var pieces = &store.Kind[classicportal.Piece]{
	Name: classicportal.Kind, Noun: "piece of a portal",
	ID:      func(p classicportal.Piece) string { return p.ID },
	Org:     func(p classicportal.Piece) tenant.ID { return p.OrgID },
	Indexes: []store.Index[classicportal.Piece]{store.Sorted(byAge, classicportal.Piece.Age)},
}

// Registration returns the registration of the kind of pieces.
func Registration() crud.Registration {
	r := crud.Facts[classicportal.Piece]{Kind: pieces, Sample: func(at crud.Stamp) (classicportal.Piece, error) {
		return classicportal.New(at.ID, at.Org, "pages", doc.NewObject(), at.Now()), nil
	}}.Registration()
	r.Operations = operations
	return r
}

// maxBody is the maximum size of one piece in bytes, enough for a style sheet or an API
// description.
const maxBody = 1 << 20

func operations(t crud.Tools) []operation.Operation {
	rows := make([]operation.Row, 0, len(classicportal.Parts))
	for _, p := range classicportal.Parts {
		row := operation.POST[pieceIn, operation.Receipt]
		if p.Method == "PUT" {
			row = operation.PUT
		}
		rows = append(rows, row(p.Name, "/"+p.Name, "Accept the "+p.Noun+" of a classic portal", desk{t, p}.Keep,
			operation.Alone(), operation.Limits(maxBody, 10*time.Second), operation.Rehearsable(t.References.Onlooker),
			operation.Notes("There is no classic portal. The body is stored without its secrets, and nothing reads it. The message of the response is an identifier."),
			operation.Example(map[string]any{}, map[string]any{"Status": "OK", "Message": "5f1a0c5d8e3b2a1f00000009", "Meta": nil})))
	}
	return operation.Group{
		Surface: operation.Management, Name: "portal", Path: "/api/portal", Tag: "Classic portal", Permission: access.Portal,
		Style: operation.Style{Word: "OK", Faults: map[string]operation.Answer{operation.CodeMalformed: {Status: 403, Text: "Request body malformed."}}},
	}.Rows(rows...)
}

// desk stores the pieces of one part.
type desk struct {
	crud.Tools
	part classicportal.Part
}

// content is a body that may be missing: bootstrap scripts send a configuration without
// a body.
type content struct{ doc.Object }

// Schema describes the body in the API description.
func (content) Schema() map[string]any { return map[string]any{"type": "object"} }

// Optional implements operation.Optional.
func (content) Optional() {}

type pieceIn struct {
	Scope tenant.Scope
	Body  content `body:""`
}

// Keep stores a body, and deletes the oldest ones of its part if there are too many.
func (d desk) Keep(ctx context.Context, in pieceIn) (operation.Receipt, error) {
	text, err := in.Body.AppendJSON(nil)
	if err != nil {
		return operation.Receipt{}, err
	}
	body, err := doc.ParseNode(text)
	if err != nil {
		return operation.Receipt{}, err
	}
	piece := classicportal.New(d.NewID(), in.Scope.Org(), d.part.Name, body, d.Now())
	_, err = d.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		if err := d.forget(ctx, w); err != nil {
			return err
		}
		return pieces.Insert(ctx, w, piece)
	})
	return operation.Receipt{Message: piece.ID}, err
}

// forget deletes old pieces to make room for one more.
func (d desk) forget(ctx context.Context, w store.Writer) error {
	q := store.Query{Kind: classicportal.Kind, Index: byAge, Prefix: classicportal.Prefix(d.part.Name), Sorted: true}
	n, err := w.Count(ctx, q)
	if err != nil || n < d.part.Keep {
		return err
	}
	var old []string
	q.Limit = n - d.part.Keep + 1
	for rec, err := range w.Scan(ctx, q) {
		if err != nil {
			return err
		}
		old = append(old, rec.ID)
	}
	for _, id := range old {
		if err := w.Delete(ctx, classicportal.Kind, id); err != nil {
			return err
		}
	}
	return nil
}
