package app_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// leaf is a resource of an embedder.
type leaf struct{ ID, Org string }

func leaves(kind string) *store.Kind[leaf] {
	return &store.Kind[leaf]{Name: kind, ID: func(l leaf) string { return l.ID }, Org: func(l leaf) tenant.ID { return tenant.ID(l.Org) }}
}

// tree is a service of plain rows over a kind.
type tree struct {
	name string
	kind *store.Kind[leaf]
}

// Operations implements operation.Service.
func (s tree) Operations() []operation.Operation {
	r := crud.Resource[leaf, leaf]{Kind: s.kind}
	return operation.Group{Surface: operation.Management, Name: s.name, Path: "/api/" + s.name, Tag: "Leaves", Permission: access.Hooks,
		Style: operation.Style{Word: "OK", ListKey: s.name}}.Rows(r.Rows(crud.Words{Noun: "leaf"}, leaf{}, leaf{})...)
}

// TestKindNames checks that the start refuses a kind with the name of another one:
// each would find the records of the other.
func TestKindNames(t *testing.T) {
	shared := leaves("leaf")
	for name, c := range map[string]struct {
		trees []tree
		want  string // in the error; "": there is none
	}{
		"one":                   {trees: []tree{{"leaves", shared}}},
		"one with two doors":    {trees: []tree{{"leaves", shared}, {"foliage", shared}}},
		"two":                   {trees: []tree{{"leaves", shared}, {"foliage", leaves("needle")}}},
		"two of one name":       {trees: []tree{{"leaves", shared}, {"foliage", leaves("leaf")}}, want: `leaves.list keeps a kind named "leaf", and so does foliage.list`},
		"none":                  {trees: []tree{{"leaves", leaves("")}}, want: "leaves.list keeps a kind without a name"},
		"that of announcements": {trees: []tree{{"notices", leaves("notice")}}, want: `notices.list keeps a kind named "notice", which is reserved`},
		"that of APIs":          {trees: []tree{{"leaves", leaves("api")}}, want: "reserved"},
		"that of policies":      {trees: []tree{{"leaves", leaves("policy")}}, want: "reserved"},
		"that of webhooks":      {trees: []tree{{"leaves", leaves("webhook")}}, want: "reserved"},
		"that of assets":        {trees: []tree{{"leaves", leaves("asset")}}, want: "reserved"},
		"that of client IdPs":   {trees: []tree{{"leaves", leaves("clientidp")}}, want: "reserved"},
		"that of users":         {trees: []tree{{"leaves", leaves("user")}}, want: "reserved"},
		"that of organisations": {trees: []tree{{"leaves", leaves("organisation")}}, want: "reserved"},
	} {
		t.Run(name, func(t *testing.T) {
			options := []app.Option{quiet}
			for _, s := range c.trees {
				options = append(options, app.WithService(func(app.Tools) operation.Service { return s }))
			}
			_, err := app.New(options...)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "gatehouse: operation: ") || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
