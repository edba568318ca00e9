package transfer_test

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/gatehouse-io/gatehouse/app/transfer"
)

// TestReadIsBounded: Read opens neither pipes nor devices, reading which may never end,
// nor files that are too large.
func TestReadIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		file fstest.MapFile
		want error
	}{
		"a pipe":   {fstest.MapFile{Mode: fs.ModeNamedPipe}, transfer.ErrNoFile},
		"a device": {fstest.MapFile{Mode: fs.ModeDevice | fs.ModeCharDevice}, transfer.ErrNoFile},
		"32 MiB":   {fstest.MapFile{Data: make([]byte, 32<<20+1)}, transfer.ErrTooLarge},
	} {
		if _, _, err := transfer.Read(fstest.MapFS{"apps/x.json": &c.file}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
