package app_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// leaf is a resource of an embedder.
type leaf struct{ ID, Org string }

func leaves(kind string) crud.Registrar {
	return crud.Facts[leaf]{Kind: &store.Kind[leaf]{
		Name: kind, ID: func(l leaf) string { return l.ID }, Org: func(l leaf) tenant.ID { return tenant.ID(l.Org) },
	}}
}

// TestKindNames checks that the start refuses a kind with the name of another one:
// each would find the records of the other.
func TestKindNames(t *testing.T) {
	shared := leaves("leaf")
	for name, c := range map[string]struct {
		kinds []crud.Registrar
		want  string // in the error; "": there is none
	}{
		"none":                {},
		"one":                 {kinds: []crud.Registrar{shared}},
		"two":                 {kinds: []crud.Registrar{shared, leaves("needle")}},
		"one twice":           {kinds: []crud.Registrar{shared, shared}, want: `the kind "leaf" is registered twice`},
		"two of one name":     {kinds: []crud.Registrar{shared, leaves("leaf")}, want: `the kind "leaf" has the name of another kind`},
		"one without a name":  {kinds: []crud.Registrar{leaves("")}, want: "a kind has no name"},
		"two without a name":  {kinds: []crud.Registrar{leaves(""), leaves("")}, want: "a kind has no name; name it; a kind has no name; name it"},
		"that of a notice":    {kinds: []crud.Registrar{leaves("notice")}, want: `the kind "notice" has the name of another kind`},
		"that of APIs":        {kinds: []crud.Registrar{leaves("api")}, want: `"api"`},
		"that of a built-in":  {kinds: []crud.Registrar{shared, leaves("user")}, want: `"user"`},
		"that of two of them": {kinds: []crud.Registrar{leaves("policy"), leaves("asset")}, want: `"policy" has the name of another kind; give it another name; the kind "asset"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := app.New(quiet, app.WithResource(c.kinds...))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "gatehouse: kinds: ") || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	a, err := app.New(quiet)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range a.Kinds() { // each built-in name is taken
		if _, err := app.New(quiet, app.WithResource(leaves(k.Kind))); err == nil {
			t.Errorf("a second kind may be called %q", k.Kind)
		}
	}
}

// TestSignals states what changes of all kinds announce: the table that is joined from
// the registrations.
func TestSignals(t *testing.T) {
	a, err := app.New(quiet)
	if err != nil {
		t.Fatal(err)
	}
	want := signal.Table{
		"api":       {Created: signal.ApiAdded, Updated: signal.ApiUpdated, Deleted: signal.ApiRemoved, Alias: "api_id"},
		"policy":    {Created: signal.PolicyChanged, Updated: signal.PolicyChanged, Deleted: signal.PolicyChanged, Alias: "id"},
		"clientidp": {Created: signal.ClientIdPChanged, Updated: signal.ClientIdPChanged, Deleted: signal.ClientIdPChanged, Alias: "client_idp_id"},
	}
	if have := a.Kinds().Signals(); !maps.Equal(have, want) {
		t.Errorf("have %v, want %v", have, want)
	}
}
