// Package files is the port to where large contents of records are kept.
package files

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
)

// Errors of storages.
var (
	// ErrAbsent means that there is no such file.
	ErrAbsent = errors.New("there is no such file")
	// ErrName means that a name cannot be that of a file (file.Valid).
	ErrName = errors.New("no file can have this name")
	// ErrDamaged means that a file is not as it was kept.
	ErrDamaged = errors.New("the file has another size than when it was kept")
)

// Storage keeps contents.
type Storage interface {
	// Apart reports whether contents are apart from their records, so that somebody must
	// remember them.
	Apart() bool
	// Keep stores a content under a name, for good when it returns, and says where it is.
	// Under one name there is only ever one content.
	Keep(ctx context.Context, name string, content []byte) (file.Content, error)
	// Open returns a content that was kept.
	Open(ctx context.Context, c file.Content) ([]byte, error)
	// Drop removes what was kept under a name, or was about to be, if there is anything.
	Drop(ctx context.Context, name string) error
}

// CodeAway is the code of the fault for a storage that does not answer, or that does not
// have what it should.
const CodeAway = "portal_file.away"

// Away returns the fault for a storage that does not answer. Its cause is for logs only.
func Away(err error) error {
	return fault.New(fault.Unavailable, CodeAway, "the storage of files does not answer: try again later").Because(err)
}

// Linker is a storage from which browsers can fetch files themselves.
type Linker interface {
	// Link returns an address that gives a file to anybody for a while; "": it has none.
	Link(ctx context.Context, p file.Place, mediaType string, life time.Duration) (string, error)
	// Origin is where such addresses are, as policies of pages name it; "": there are none.
	Origin() string
}
