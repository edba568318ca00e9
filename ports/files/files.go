// Package files is the port to the storage for large contents of records.
package files

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
)

// Errors that a Storage returns.
var (
	// ErrAbsent means that there is no such file.
	ErrAbsent = errors.New("there is no such file")
	// ErrName means that a file cannot have this name (file.Valid).
	ErrName = errors.New("no file can have this name")
	// ErrDamaged means that the size of a file has changed since it was stored.
	ErrDamaged = errors.New("the file has another size than when it was kept")
)

// Storage stores contents.
type Storage interface {
	// Apart reports whether contents are stored outside their records, so that the caller must
	// keep track of them.
	Apart() bool
	// Keep stores a content under a name and returns where it is. When Keep returns, the content
	// is durable. A name never has two different contents.
	Keep(ctx context.Context, name string, content []byte) (file.Content, error)
	// Open returns a stored content.
	Open(ctx context.Context, c file.Content) ([]byte, error)
	// Drop removes the content of a name, also one that is still being written, if there is any.
	Drop(ctx context.Context, name string) error
}

// CodeAway is the code of the fault for a storage that does not respond, or that lacks a
// content that it should have.
const CodeAway = "portal_file.away"

// Away returns the fault for a storage that does not respond. Its cause is for logs only.
func Away(err error) error {
	return fault.New(fault.Unavailable, CodeAway, "the storage of files does not answer: try again later").Because(err)
}

// Linker is a storage from which browsers can fetch files themselves.
type Linker interface {
	// Link returns a URL that gives a file to every client for a while; "": it has none.
	Link(ctx context.Context, p file.Place, mediaType string, life time.Duration) (string, error)
	// Origin is the origin of such URLs, for the content security policy of pages; "": none.
	Origin() string
}
