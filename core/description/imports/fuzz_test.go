package imports_test

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/description/imports"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// FuzzImport: for any JSON nothing panics, a refused document is unchanged, and a second
// import changes nothing.
func FuzzImport(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.json")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if g, err := doc.ParseNode(text); err == nil {
			f.Add(g.Get("document").JSON(), g.Get("existing").JSON(), g.Get("query").Text())
		}
	}
	f.Add([]byte(`{"paths":{"/a/{b":{"get":{}},"":{"put":{"operationId":7}}},"servers":[{"url":"http://a"}]}`), []byte(`{"x-tyk-api-gateway":[]}`), "allowList=1&authentication=0")
	f.Fuzz(func(t *testing.T, text, stored []byte, query string) {
		document, err := doc.ParseNode(text)
		if err != nil {
			return
		}
		values, _ := url.ParseQuery(query)
		s := imports.ParseSettings(func(name string) (string, bool) { return values.Get(name), values.Has(name) })
		once := document.Clone()
		if err := imports.Import(once, s); err != nil {
			if !bytes.Equal(once.JSON(), document.JSON()) {
				t.Fatalf("a refused document was changed: %s", once.JSON())
			}
			return
		}
		twice := once.Clone()
		if err := imports.Import(twice, s); err != nil || !bytes.Equal(twice.JSON(), once.JSON()) {
			t.Fatalf("%v\nonce  %s\ntwice %s", err, once.JSON(), twice.JSON())
		}
		if existing, err := doc.ParseNode(stored); err == nil {
			patched := document.Clone()
			_ = imports.Patch(patched, existing, s)
			_, _ = imports.DryRun(existing, document, s)
		}
	})
}
