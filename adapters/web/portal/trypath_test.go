package portal_test

import (
	"runtime"
	"strings"
	"testing"
)

// TestTryRepeatedParameter: a path that repeats a parameter does not multiply a long value of
// a form.
func TestTryRepeatedParameter(t *testing.T) {
	w := newWorld(t)
	w.served("http://gateway.example")
	w.upload("POST", "/portal-api/products/1/api-details/pets/oas", "pets.yaml", []byte(`{"openapi":"3.0.3","info":{"title":"T","version":"1"},"paths":{"/`+strings.Repeat("{a}", 10_000)+`":{"get":{"parameters":[{"name":"a","in":"path","required":true,"schema":{"type":"string"}}]}}}}`))
	const at = "/portal/catalogue-products/served/pets/try"
	w.as("grace")
	docs := w.open("/portal/catalogue-products/served/pets/docs").text
	get := docs[strings.Index(docs, at+"?operation=")+len(at+"?operation="):]
	get = get[:strings.Index(get, `"`)]
	form := w.shows(w.open(at+"?operation="+get), 200, `name="parameter-path-a"`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w.shows(w.submit(form, at, "operation", get, "parameter-path-a", strings.Repeat("x", 50_000)), 422, "Path is invalid")
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 200<<20 {
		t.Errorf("%d MiB", took>>20)
	}
}
