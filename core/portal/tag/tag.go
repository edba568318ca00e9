// Package tag models the tags that join products and blog posts.
package tag

import "github.com/gatehouse-io/gatehouse/core/portal/table"

// Kind is the name of the resource in storage.
const Kind = "portal-tag"

// Tag is one tag.
type Tag struct {
	table.Base
	Name string
}

// Table implements table.Row.
func (Tag) Table() *table.Table[Tag] { return rows }

var rows = &table.Table[Tag]{
	Kind: Kind, Noun: "tag",
	Base: func(t *Tag) *table.Base { return &t.Base },
	Fields: []table.Field[Tag]{
		{Name: "Name", At: func(t *Tag) any { return &t.Name }, Required: true, Max: 255},
	},
	Unique: []table.Unique[Tag]{{Name: "name", Taken: "tag with that name already exists", Of: func(t Tag) string { return t.Name }}},
}
