// Package assets holds the use cases of assets: templates from which APIs are made.
package assets

import (
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/asset"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Kind is the kind of assets. Lookups use id or else _id.
var Kind = &store.Kind[asset.Asset]{
	Name: asset.Kind, Noun: "Asset", Alias: "id", Shared: true,
	ID:  func(a asset.Asset) string { return a.DatabaseID },
	Org: func(a asset.Asset) tenant.ID { return a.OrgID },
	Indexes: []store.Index[asset.Asset]{
		store.Unique("id", "ID", func(a asset.Asset) string { return a.ID }),
	},
}

// unprocessable is the response to a draft with errors.
var unprocessable = operation.Answer{Status: 422, Text: "{message}."}

// Resource is the resource of assets. Assets have no references, and a change of an
// asset does not change APIs that were made from it.
var Resource = crud.Resource[asset.Asset, asset.Draft]{
	Facts: crud.Facts[asset.Asset]{Kind: Kind, Name: func(a asset.Asset) string { return a.Name }, Past: crud.AsStored[asset.Asset]},
	Group: operation.Group{
		Surface: operation.Management, Name: "assets", Path: "/api/assets", Tag: "Assets", Permission: access.Assets,
		Style: operation.Style{Word: "success", Bare: true, Faults: map[string]operation.Answer{
			operation.CodeEmptyBody: {Text: "error reading json body."},
			operation.CodeMalformed: {Text: "error reading json body."},
			asset.CodeKind:          unprocessable, asset.CodeName: unprocessable, asset.CodeData: unprocessable, asset.CodeID: unprocessable,
			taken: {Text: "{message}."},
		}},
	},
	Words: crud.Words{One: "an asset", Many: "assets", Created: "asset created", Updated: "asset updated", Deleted: "Asset removed successfully",
		Param: "assetID", ParamDoc: "The id or the _id of the asset. An id takes precedence."},
	New:     func(at crud.Stamp, d asset.Draft) (asset.Asset, error) { return asset.New(at.ID, at.Org, at.Now(), d) },
	Replace: func(a asset.Asset, d asset.Draft, now system.Clock) (asset.Asset, error) { return a.Replace(d, now()) },
	Draft: map[string]any{"id": "our-defaults", "kind": asset.Template, "name": "Our defaults", "description": "What every API has.",
		"data": map[string]any{"x-tyk-api-gateway": map[string]any{"middleware": map[string]any{"global": map[string]any{"cache": map[string]any{"enabled": true}}}}}},
	Faults:  []string{asset.CodeKind, asset.CodeName, asset.CodeData, asset.CodeID},
	Unpaged: true,
	Receipt: func(op store.Op, a asset.Asset) (any, string) {
		if op == store.Deleted {
			return nil, ""
		}
		return a.DatabaseID, a.ID
	},
	Rows: rows,
}

// Codes of faults that come from the store.
const (
	missing = asset.Kind + ".not_found"
	taken   = asset.Kind + ".taken"
	trouble = "internal"
)

func rows(o crud.Operations[asset.Asset, asset.Draft]) []operation.Row {
	words := func(absent, failed string) operation.Option {
		return operation.Answers(map[string]operation.Answer{missing: {Text: absent}, trouble: {Text: failed}})
	}
	return []operation.Row{
		crud.ListBy(o, ofKind, operation.Faulting(asset.CodeKind),
			operation.Answers(map[string]operation.Answer{asset.CodeKind: {Status: 400}, trouble: {Text: "error listing assets."}})),
		o.Insert(operation.Status(201), operation.Answers(map[string]operation.Answer{trouble: {Text: "error adding asset."}})),
		o.Get(words("Asset not found", "Error fetching asset.")),
		o.Edit(operation.Notes("Absent members become empty, except id, which keeps its value."), words("Asset not found.", "error fetching asset.")),
		o.Delete(words("asset not found", "Error removing asset")),
		o.Referrers("List the references to an asset", []store.Reference{}, words("asset not found", "Error fetching asset."),
			operation.Notes("The list is always empty: an API made from a template keeps no reference to it, and changing the template does not change such APIs.")),
	}
}

// filter is the filters of lists.
type filter struct {
	Kind string `query:"kind" oneof:"oas-template" doc:"Only assets of this kind."`
}

// ofKind selects the assets of a kind: all, because there is only one kind.
func ofKind(f filter) (all crud.Selection[asset.Asset], err error) {
	if f.Kind != "" {
		err = asset.CheckKind(f.Kind)
	}
	return all, err
}
