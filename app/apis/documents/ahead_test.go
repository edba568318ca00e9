package apis_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/openapi"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// watched is a store and a validator that notice each other.
type watched struct {
	store.Store
	openapi.Validator
	writing atomic.Bool
	inside  atomic.Int64 // checks while the writer was held
}

func (w *watched) Update(ctx context.Context, sc tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	return w.Store.Update(ctx, sc, func(wr store.Writer) error {
		w.writing.Store(true)
		defer w.writing.Store(false)
		return fn(wr)
	})
}

func (w *watched) Validate(text []byte, o openapi.Options) []validation.Problem {
	if w.writing.Load() {
		w.inside.Add(1)
	}
	return w.Validator.Validate(text, o)
}

// The check of a document, which takes longer than all the rest, does not hold the
// writer.
func TestDocumentsAreCheckedAhead(t *testing.T) {
	w := newWorld(t, apis.Settings{})
	w.done("admin", "POST", "/apis/oas", document("one", "One", "/one/"))
	spy := &watched{Store: w.db, Validator: validator}
	w.library.Store, w.library.Validator = spy, spy
	w.done("admin", "PUT", "/apis/oas/one", strings.Replace(document("one", "One", "/one/"), `"T"`, `"U"`, 1))
	w.done("admin", "PATCH", "/apis/oas/one", `{"openapi":"3.0.3","info":{"title":"V","version":"1"},"paths":{}}`)
	if n := spy.inside.Load(); n != 0 {
		t.Errorf("%d checks while the writer was held", n)
	}
}
