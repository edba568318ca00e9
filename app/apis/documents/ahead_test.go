package documents_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/openapi"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// watched is a store and a validator that observe each other.
type watched struct {
	store.Store
	openapi.Validator
	writing atomic.Bool
	inside  atomic.Int64 // number of checks while the writer was held
}

func (w *watched) Update(ctx context.Context, sc tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	return w.Store.Update(ctx, sc, func(wr store.Writer) error {
		w.writing.Store(true)
		defer w.writing.Store(false)
		return fn(wr)
	})
}

func (w *watched) Validate(d *doc.Node, o openapi.Options) []validation.Problem {
	if w.writing.Load() {
		w.inside.Add(1)
	}
	return w.Validator.Validate(d, o)
}

// A document is checked, which takes longer than the rest of a write, without holding
// the writer.
func TestDocumentsAreCheckedAhead(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Done("admin", "POST", "/apis/oas", apistest.Document("one", "One", "/one/"))
	spy := &watched{Store: w.DB, Validator: apistest.Validator}
	w.APIs.Store, w.Forms.Validator = spy, spy
	w.Done("admin", "PUT", "/apis/oas/one", strings.Replace(apistest.Document("one", "One", "/one/"), `"T"`, `"U"`, 1))
	w.Done("admin", "PATCH", "/apis/oas/one", `{"openapi":"3.0.3","info":{"title":"V","version":"1"},"paths":{}}`)
	if n := spy.inside.Load(); n != 0 {
		t.Errorf("%d checks while the writer was held", n)
	}
}
