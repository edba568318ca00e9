package tag_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
	"github.com/gatehouse-io/gatehouse/core/portal/tag"
)

// TestTable: the fields of tags.
func TestTable(t *testing.T) {
	tabletest.Sound[tag.Tag](t, `{"Name":"new"}`)
}
