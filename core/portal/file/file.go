// Package file models contents that may be stored outside of their records: pictures, archives
// of themes, documents (docs/wire/portal-content.md#files).
package file

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the name of records about files in storage.
const Kind = "portal-file"

// Place is where a content is stored outside its record.
type Place struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Content is a content, or its place.
type Content struct {
	Place Place
	Data  []byte // nil: it is at Place
}

// Kept is the portal's record about a file. It outlives the record that refers to the file, so
// that no orphaned file is left behind.
type Kept struct {
	ID     string    `json:"id"`
	Portal tenant.ID `json:"org_id"`
	Name   string    `json:"name"`
	At     time.Time `json:"at"`
}

// Name returns the name of a file: in a folder per portal and per sort of content. The
// identifier of a portal is hashed if it cannot be the name of a folder.
func Name(portal tenant.ID, sort, id, extension string) string {
	_, folder, _ := strings.Cut(string(portal), ":")
	if !segment(folder) {
		sum := sha256.Sum256([]byte(portal))
		folder = hex.EncodeToString(sum[:16])
	}
	return folder + "/" + sort + "/" + id + "." + extension
}

// Limits of names.
const (
	maxName     = 512
	maxSegment  = 128
	maxSegments = 8
)

// Valid reports whether a name can be used in every storage, and cannot lead out of its
// folder: letters, digits, '-', '_' and dots, which must not begin a segment.
func Valid(name string) bool {
	parts := strings.Split(name, "/")
	if len(name) > maxName || len(parts) > maxSegments {
		return false
	}
	for _, p := range parts {
		if !segment(p) {
			return false
		}
	}
	return true
}

func segment(s string) bool {
	if s == "" || s[0] == '.' || len(s) > maxSegment {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}
