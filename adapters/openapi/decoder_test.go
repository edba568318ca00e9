package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/shape/shapetest"
)

// TestDecoder compares the type of documents with a decoder like that of gateways: the
// decoder reads what the type accepts.
func TestDecoder(t *testing.T) {
	n := 0
	for c := range shapetest.Right(feed.DocumentType()) {
		if len(c.Place) > 8 || strings.Contains(c.Text, "1e400") {
			continue
		}
		n++
		if err := json.Unmarshal([]byte(c.Text), new(openapi3.T)); err != nil {
			t.Errorf("%s: %v", c.Text, err)
		}
	}
	if n < 1000 {
		t.Errorf("only %d documents", n)
	}
}
