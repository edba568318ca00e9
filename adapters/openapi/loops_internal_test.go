package openapi

import "testing"

// TestLoops: the address of a loop may name an API by its identifier, which a URL parser
// takes for a port.
func TestLoops(t *testing.T) {
	for text, want := range map[string]bool{"tyk://id:rest-1/mcp": true, "tyk://id:abc": true, "tyk://rest/mcp": true, "http://id:abc/": false, "tyk://id:a b\x00": false} {
		if err := formats["uri-reference"](text); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
		if err := formats["uri"](text); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
