package registry_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestPut states under which IDs an imported provider is stored, and that the same
// import twice writes once.
func TestPut(t *testing.T) {
	const free, taken = "5f1a0c5d8e3b2a1f000000f0", "5f1a0c5d8e3b2a1f00000001"
	for name, c := range map[string]struct {
		id, draft string
		op        store.Op
		_id, as   string // "" for _id: generated
	}{
		"a new one":                  {free, `{"client_idp_id":"new","name":"n","jwks_uri":"u"}`, store.Created, free, "new"},
		"an ID in capitals":          {strings.ToUpper(free), `{"client_idp_id":"new","name":"n","jwks_uri":"u"}`, store.Created, free, "new"},
		"no client_idp_id":           {free, `{"name":"n","jwks_uri":"u"}`, store.Created, free, free},
		"an ID of no form":           {"old-7", `{"name":"n","jwks_uri":"u"}`, store.Created, "", "old-7"},
		"no ID":                      {"", `{"client_idp_id":"new","name":"n","jwks_uri":"u"}`, store.Created, "", "new"},
		"an ID that is taken":        {taken, `{"client_idp_id":"new","name":"n","jwks_uri":"u"}`, store.Created, "", "new"},
		"over another":               {free, `{"client_idp_id":"corp","name":"n","jwks_uri":"u"}`, store.Updated, taken, "corp"},
		"over one that is the same":  {free, corp, "", taken, "corp"},
		"of no form, new":            {free, `{"client_idp_id":"new","jwks_uri":"u"}`, "", "", ""},
		"of no form, over another":   {free, `{"client_idp_id":"corp","jwks_uri":"u"}`, "", taken, "corp"},
		"a client_idp_id of no form": {free, `{"client_idp_id":"a/b","name":"n","jwks_uri":"u"}`, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			d.must(t, request{op: "create", body: corp})
			d.now = d.now.Add(time.Hour)
			var draft registry.Draft
			if err := json.Unmarshal([]byte(c.draft), &draft); err != nil {
				t.Fatal(err)
			}
			put := func() (op store.Op, err error) {
				_, err = d.Store.Update(t.Context(), scope(t, ours), func(w store.Writer) (err error) {
					op, err = d.Put(t.Context(), w, tenant.ID(ours), c.id, draft)
					return err
				})
				return op, err
			}
			op, err := put()
			if op != c.op || (err != nil) != strings.Contains(name, "no form") && name != "an ID of no form" {
				t.Fatalf("%q, %v", op, err)
			}
			if c.as == "" {
				return
			}
			text := d.must(t, request{op: "get", id: c.as})
			if !strings.Contains(text, `"_id":"`+c._id) || strings.Contains(text, `T04:04:05Z"`) != (op != "") {
				t.Errorf("%s", text)
			}
			if c.op == "" {
				return
			}
			if op, err := put(); op != "" || err != nil {
				t.Errorf("the second time: %q, %v", op, err)
			}
		})
	}
}

// TestPutOfShadowed: another provider may have chosen the _id of one as its client_idp_id.
func TestPutOfShadowed(t *testing.T) {
	d := open(t)
	d.must(t, request{op: "create", body: corp})
	const id = "5f1a0c5d8e3b2a1f00000001"
	d.must(t, request{op: "create", body: `{"client_idp_id":"` + id + `","name":"Shadow","jwks_uri":"u","api_mappings":{"dark":{"scope_to_policy":{}}}}`})
	var draft registry.Draft
	if err := json.Unmarshal([]byte(`{"client_idp_id":"corp","name":"Changed","jwks_uri":"u"}`), &draft); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Store.Update(t.Context(), scope(t, ours), func(w store.Writer) error {
		_, err := d.Put(t.Context(), w, tenant.ID(ours), id, draft)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"corp": "Changed", id: "Shadow"} {
		if text := d.must(t, request{op: "get", id: name}); !strings.Contains(text, `"name":"`+want) {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text := d.must(t, request{op: "references", id: "corp"}); strings.Contains(text, "dark") {
		t.Errorf("corp names what its shadow names: %s", text)
	}
}
