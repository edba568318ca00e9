package apis_test

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestTextsAreInMemoryOnce: the value that readers share and the record in the store
// share one text, after each kind of write.
func TestTextsAreInMemoryOnce(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	look := func(after string) {
		t.Helper()
		err := w.DB.View(t.Context(), tenant.Everyone("reading two records"), func(r store.Reader) error {
			for _, id := range []string{"c", "o"} {
				v, err := apis.Kind.Get(t.Context(), r, id)
				if err != nil {
					return err
				}
				for rec, err := range r.Scan(t.Context(), store.Query{Kind: apidef.Kind, ID: v.Value.ID()}) {
					if err != nil {
						return err
					}
					kept, err := v.Value.AppendJSON(nil)
					if err != nil {
						return err
					}
					if !bytes.Equal(kept, rec.Doc) || unsafe.SliceData(kept) != unsafe.SliceData(rec.Doc) {
						t.Errorf("after %s: %s is in memory twice", after, id)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Done("admin", "POST", "/apis", apistest.Classic("c", "C", "/c/"))
	w.Done("admin", "POST", "/apis/oas", apistest.Document("o", "O", "/o/"))
	look("the first write")
	w.Done("admin", "PUT", "/apis/c", apistest.Classic("c", "C2", "/c/"))
	w.Done("admin", "PUT", "/apis/oas/o", apistest.Document("o", "O2", "/o/"))
	look("another")
}
