package record_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/files/record"
	"github.com/gatehouse-io/gatehouse/ports/files/filestest"
)

// TestStorage runs the suite of all storages.
func TestStorage(t *testing.T) { filestest.Run(t, record.Storage{}) }
