package classic_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/app/apis/importing"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestAdoptedWebhooks: an import creates the webhooks that an API brings, but none of
// an API that is refused. Other APIs of the same unit of work are stored nevertheless.
func TestAdoptedWebhooks(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	made := 0
	w.APIs.Hook = func(context.Context, store.Reader, string) (json.RawMessage, error) {
		return nil, fault.New(fault.NotFound, "webhook.not_found", "webhook not found")
	}
	w.APIs.AddHook = func(context.Context, store.Writer, webhook.Hook) error { made++; return nil }
	put := func(id, path string) (err error) {
		t.Helper()
		n, failed := doc.ParseNode([]byte(apistest.Classic(id, id, path)))
		refs, wrong := doc.ParseObject([]byte(`{"hook_references":[{"event_name":"AuthFailure","event_timeout":5,"hook":{"id":"5f1a0c5d8e3b2a1f00000001","method":"POST","target_path":"http://h"}}]}`))
		if failed != nil || wrong != nil {
			t.Fatal(failed, wrong)
		}
		checked, problems := w.Importing.Check(importing.Incoming{APIID: id, Class: apidef.Classic, Definition: n.Get("api_definition"), Wrapper: refs}, w.Scope().Org())
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if _, failed := w.DB.Update(t.Context(), w.Scope(), func(wr store.Writer) error {
			_, err = w.Importing.Put(t.Context(), wr, checked)
			return nil
		}); failed != nil {
			t.Fatal(failed)
		}
		return err
	}
	if err := put("a", "/a/"); err != nil || made != 1 {
		t.Fatal(made, err)
	}
	if err := put("b", "/a/"); err == nil || made != 1 {
		t.Errorf("a new API that is refused makes %d webhooks, %v", made-1, err)
	}
	if err := put("b", "/b/"); err != nil || made != 2 {
		t.Fatal(made, err)
	}
	if err := put("b", "/a/"); err == nil || made != 2 {
		t.Errorf("a replacement that is refused makes %d webhooks, %v", made-2, err)
	}
}
