// Package assets holds the use cases of assets: templates from which APIs are
// made (contract dashboard.md 17).
package assets

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/asset"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Kind keeps assets, found by id or else by _id.
var Kind = &store.Kind[asset.Asset]{
	Name: asset.Kind, Noun: "Asset", Alias: "id", Shared: true,
	ID:  func(a asset.Asset) string { return a.DatabaseID },
	Org: func(a asset.Asset) tenant.ID { return a.OrgID },
	Indexes: []store.Index[asset.Asset]{
		store.Unique("id", "ID", func(a asset.Asset) string { return a.ID }),
	},
}

// Service keeps assets. A change of one touches no API that was made from it.
type Service struct {
	Store store.Store
	NewID system.NewID
	Now   system.Clock
	// References knows who names an asset; nil: only what the store indexes.
	References *crud.References
}

// Examples for the API description.
var (
	exampleData  = map[string]any{"x-tyk-api-gateway": map[string]any{"middleware": map[string]any{"global": map[string]any{"cache": map[string]any{"enabled": true}}}}}
	exampleDraft = map[string]any{"id": "our-defaults", "kind": asset.Template, "name": "Our defaults", "description": "What every API has.", "data": exampleData}
	exampleAsset = map[string]any{"_id": "5f1a0c5d8e3b2a1f00000006", "id": "our-defaults", "org_id": "5f1a0c5d8e3b2a1f00000001", "kind": asset.Template,
		"name": "Our defaults", "description": "What every API has.", "data": exampleData, "last_updated": "2026-01-02T03:04:05Z"}
)

func done(message string, meta any, id string) any {
	out := map[string]any{"Status": "success", "Message": message, "Meta": meta}
	if id != "" {
		out["ID"] = id
	}
	return out
}

// Codes of faults that come from the store.
const (
	missing = asset.Kind + ".not_found"
	taken   = asset.Kind + ".taken"
	trouble = "internal"
)

// Operations lists what clients can do with assets.
func (s *Service) Operations() []operation.Operation {
	unprocessable := operation.Answer{Status: 422, Text: "{message}."}
	invalid := []string{asset.CodeKind, asset.CodeName, asset.CodeData, asset.CodeID}
	words := func(absent, failed string) operation.Option {
		return operation.Answers(map[string]operation.Answer{missing: {Text: absent}, trouble: {Text: failed}})
	}
	dry := operation.Rehearsable(s.References.Onlooker)
	return operation.Group{
		Surface: operation.Management, Name: "assets", Path: "/api/assets", Tag: "Assets", Permission: access.Assets,
		Style: operation.Style{Word: "success", Faults: map[string]operation.Answer{
			operation.CodeEmptyBody: {Text: "error reading json body."},
			operation.CodeMalformed: {Text: "error reading json body."},
			asset.CodeKind:          unprocessable, asset.CodeName: unprocessable, asset.CodeData: unprocessable, asset.CodeID: unprocessable,
			taken: {Text: "{message}."},
		}},
	}.Rows(
		operation.GET("list", "", "List assets", s.List, operation.Faulting(asset.CodeKind), operation.Example(nil, []any{exampleAsset}),
			operation.Answers(map[string]operation.Answer{asset.CodeKind: {Status: 400}, trouble: {Text: "error listing assets."}})),
		operation.POST("create", "", "Create an asset", s.Create, operation.Status(201), operation.Faulting(append(invalid, taken)...),
			operation.Example(exampleDraft, done("asset created", "5f1a0c5d8e3b2a1f00000006", "our-defaults")),
			operation.Answers(map[string]operation.Answer{trouble: {Text: "error adding asset."}})),
		operation.GET("get", "/{assetID}", "Fetch an asset", s.Get, operation.Faulting(missing), operation.Example(nil, exampleAsset),
			words("Asset not found", "Error fetching asset.")),
		operation.PUT("replace", "/{assetID}", "Replace an asset", s.Replace, dry, operation.Faulting(append(invalid, missing, taken)...),
			operation.Notes("Absent members become empty; only an absent id is kept."),
			operation.Example(exampleDraft, done("asset updated", "5f1a0c5d8e3b2a1f00000006", "our-defaults")),
			words("Asset not found.", "error fetching asset.")),
		operation.DELETE("delete", "/{assetID}", "Delete an asset", s.Delete, dry, operation.Faulting(missing),
			operation.Example(nil, done("Asset removed successfully", nil, "")), words("asset not found", "Error removing asset")),
		operation.GET("references", "/{assetID}/references", "List who names an asset", s.ListReferences, operation.Faulting(missing),
			operation.Notes("Nobody: a template leaves no trace in the APIs made of it, and changing it does not touch them."),
			operation.Example(nil, []store.Reference{}), words("asset not found", "Error fetching asset.")),
	)
}

type listIn struct {
	Scope tenant.Scope
	Kind  string `query:"kind" doc:"Only assets of this kind; oas-template is the only one there is."`
}

// List is a list of assets.
type List []asset.Asset

// AppendJSON implements doc.Appender: templates keep their text here, too.
func (l List) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, '[')
	for i, a := range l {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = a.AppendJSON(b) // texts always encode
	}
	return append(b, ']'), nil
}

// List returns all assets of the organisation, oldest first.
func (s *Service) List(ctx context.Context, in listIn) (List, error) {
	out := List{}
	if in.Kind != "" {
		if err := asset.CheckKind(in.Kind); err != nil {
			return nil, err
		}
	}
	err := s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		for a, err := range Kind.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			out = append(out, a.Value)
		}
		return nil
	})
	return out, err
}

type createIn struct {
	Scope tenant.Scope
	Draft asset.Draft `body:""`
}

// Create makes an asset.
func (s *Service) Create(ctx context.Context, in createIn) (operation.Receipt, error) {
	a, err := asset.New(s.NewID(), in.Scope.Org(), s.Now(), in.Draft)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := store.Write(ctx, s.Store, in.Scope, func(w store.Writer) (store.Serial, error) { return Kind.Create(ctx, w, a) })
	return receipt("asset created", a, at), err
}

func receipt(message string, a asset.Asset, at store.Serial) operation.Receipt {
	return operation.Receipt{Message: message, Meta: a.DatabaseID, ID: a.ID, Tag: operation.Tag(at)}
}

type byID struct {
	Scope tenant.Scope
	Who   operation.Principal
	ID    string `path:"assetID" doc:"id, or else _id, of the asset."`
}

type writeByID struct {
	byID
	Match operation.Match
}

// Get returns one asset.
func (s *Service) Get(ctx context.Context, in byID) (operation.Entity[asset.Asset], error) {
	var a store.Stored[asset.Asset]
	err := s.Store.View(ctx, in.Scope, func(r store.Reader) (err error) {
		a, err = Kind.Get(ctx, r, in.ID)
		return err
	})
	return operation.Entity[asset.Asset]{Value: a.Value, Tag: operation.Tag(a.Serial)}, err
}

type replaceIn struct {
	writeByID
	Draft asset.Draft `body:""`
}

// Replace replaces what the client may choose.
func (s *Service) Replace(ctx context.Context, in replaceIn) (operation.Receipt, error) {
	now := s.Now()
	var a store.Stored[asset.Asset]
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) (err error) {
		a, err = Kind.Revise(ctx, w, in.ID, in.Match.Check, func(a asset.Asset) (asset.Asset, error) { return a.Replace(in.Draft, now) })
		return err
	})
	return receipt("asset updated", a.Value, a.Serial), err
}

// Delete removes an asset.
func (s *Service) Delete(ctx context.Context, in writeByID) (operation.Receipt, error) {
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		_, err := Kind.Delete(ctx, w, in.ID, in.Match.Check)
		return err
	})
	return operation.Receipt{Message: "Asset removed successfully"}, err
}
