package showcase_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal/showcase"
)

// TestDocumentSize states that answers with documents report their size, so that large ones
// reserve memory before they are encoded.
func TestDocumentSize(t *testing.T) {
	var answer any = showcase.Document{Product: "Pets", Text: "openapi"}
	if sized, ok := answer.(interface{ Size() int }); !ok || sized.Size() != len("openapi") {
		t.Error("the size of a document is not known")
	}
}
