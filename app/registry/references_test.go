package registry_test

import (
	"encoding/json"
	"log/slog"
	"net/url"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/registry"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// named is a kind for the APIs and policies that mappings refer to.
type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func kind(name string) *store.Kind[named] {
	return &store.Kind[named]{Name: name, ID: func(n named) string { return n.ID }, Org: func(named) tenant.ID { return "o" }}
}

func TestReferences(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	one, err := tenant.Of("o")
	if err != nil {
		t.Fatal(err)
	}
	apis, policies := kind(apidef.Kind), kind(policy.Kind)
	if _, err := db.Update(t.Context(), one, func(w store.Writer) error {
		if err := apis.Insert(t.Context(), w, named{"orders", "Orders"}); err != nil {
			return err
		}
		return policies.Insert(t.Context(), w, named{"gold", "Gold"})
	}); err != nil {
		t.Fatal(err)
	}
	name := func(n named) string { return n.Name }
	refs := crud.NewReferences(registry.Registration(), crud.Facts[named]{Kind: apis, Name: name}.Registration(), crud.Facts[named]{Kind: policies, Name: name}.Registration())
	s := &registry.ClientIDPs{Tools: crud.Tools{Store: db, NewID: func() string { return "5f1a0c5d8e3b2a1f00000003" }, Now: time.Now, Log: slog.New(slog.DiscardHandler), PageSize: 10, References: refs}}
	ops := map[string]operation.Operation{}
	for _, o := range s.Operations() {
		ops[o.ID] = o
	}
	do := func(id, body string, query url.Values) string {
		t.Helper()
		o := ops[id]
		out, err := o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Scope: one, Path: map[string]string{"id": "corp", "apiId": "lost"}, Body: []byte(body), Query: query})
		if err != nil {
			t.Fatal(id, err)
		}
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	do("clientidps.create", `{"client_idp_id":"corp","name":"Corp","jwks_uri":"https://i/jwks","api_mappings":{
		"orders":{"scope_to_policy":{"read":"gold","write":"platinum"}},"lost":{"scope_to_policy":{"read":"gold"}}}}`, nil)
	want := `[{"kind":"api","id":"orders","name":"Orders","where":"api_mappings.orders"},` +
		`{"kind":"policy","id":"gold","name":"Gold","where":"api_mappings.orders.scope_to_policy.read"},` +
		`{"kind":"policy","id":"platinum","name":"","where":"api_mappings.orders.scope_to_policy.write"},` +
		`{"kind":"api","id":"lost","name":"","where":"api_mappings.lost"},` +
		`{"kind":"policy","id":"gold","name":"Gold","where":"api_mappings.lost.scope_to_policy.read"}]`
	if got := do("clientidps.references", "", nil); got != want {
		t.Errorf("references: %s", got)
	}
	platinum := `{"kind":"clientidp","id":"corp","name":"Corp","where":"api_mappings.orders.scope_to_policy.write","to":{"kind":"policy","id":"platinum"}}`
	want = `{"dangling":[` + platinum + `,{"kind":"clientidp","id":"corp","name":"Corp","where":"api_mappings.lost","to":{"kind":"api","id":"lost"}}]}`
	if got := do("clientidps.report", "", nil); got != want {
		t.Errorf("report: %s", got)
	}
	want = `{"Status":"OK","Message":"dry run: nothing was stored","Meta":{"changes":[{"op":"updated","kind":"clientidp","id":"5f1a0c5d8e3b2a1f00000003",` +
		`"org_id":"o","members":["api_mappings","last_updated"]}],"references":[` + platinum + `]}}`
	if got := do("clientidps.mappings.delete", "", url.Values{operation.DryRun: {"true"}}); got != want {
		t.Errorf("dry run: %s", got)
	}
	whoNames(t, db, one, refs)
}

// whoNames checks the opposite direction: the records that refer to a policy, and the
// references that its deletion would leave dangling.
func whoNames(t *testing.T, db store.Store, one tenant.Scope, refs *crud.References) {
	t.Helper()
	list, err := refs.Of(t.Context(), db, one, crud.Viewer{All: true}, func(r store.Reader) (crud.Target, error) {
		return crud.TargetOf(t.Context(), kind(policy.Kind), r, "gold")
	})
	if err != nil || len(list) != 2 || list[0].ID != "corp" || list[1].Where != "api_mappings.lost.scope_to_policy.read" {
		t.Errorf("who names gold: %+v, %v", list, err)
	}
	ctx, rehearsal := store.Rehearse(t.Context(), refs.Onlooker(&operation.Call{Spec: &operation.Spec{}}))
	_, err = db.Update(ctx, one, func(w store.Writer) error {
		_, err := kind(policy.Kind).Delete(ctx, w, "gold", nil)
		return err
	})
	if err != nil || len(rehearsal.References) != 2 || rehearsal.References[0].To.ID != "gold" {
		t.Errorf("without gold: %+v, %v", rehearsal, err)
	}
}
