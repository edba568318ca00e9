// Package record stores contents inside the records that they belong to, and so in the
// database with everything else.
package record

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/ports/files"
)

// Storage leaves contents in their records.
type Storage struct{}

// Apart implements files.Storage.
func (Storage) Apart() bool { return false }

// Keep implements files.Storage.
func (Storage) Keep(_ context.Context, _ string, content []byte) (file.Content, error) {
	return file.Content{Data: content}, nil
}

// Open implements files.Storage.
func (Storage) Open(_ context.Context, c file.Content) ([]byte, error) {
	if c.Place.Name != "" {
		return nil, files.ErrAbsent // the content is in another storage that was used before
	}
	return c.Data, nil
}

// Drop implements files.Storage: contents go with their records.
func (Storage) Drop(context.Context, string) error { return nil }
