// Package file models contents that may be kept outside of the records that they belong
// to: pictures, archives of themes, documents (docs/wire/portal-content.md#files).
package file

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the name in storage of what there is to know about a file.
const Kind = "portal-file"

// Place says where a content is, when it is not in its record.
type Place struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Content is a content, or the place where it is.
type Content struct {
	Place Place
	Data  []byte // nil: it is at Place
}

// Kept is what a portal remembers about a file: it outlives the record that names the
// file, so that no file is left behind.
type Kept struct {
	ID     string    `json:"id"`
	Portal tenant.ID `json:"org_id"`
	Name   string    `json:"name"`
	At     time.Time `json:"at"`
}

// Name makes the name of a file: a folder for each portal, one for each sort of contents.
// Identifiers of portals that no folder could have as a name are hashed.
func Name(portal tenant.ID, sort, id, extension string) string {
	_, folder, _ := strings.Cut(string(portal), ":")
	if !segment(folder) {
		sum := sha256.Sum256([]byte(portal))
		folder = hex.EncodeToString(sum[:16])
	}
	return folder + "/" + sort + "/" + id + "." + extension
}

// Bounds of names.
const (
	maxName     = 512
	maxSegment  = 128
	maxSegments = 8
)

// Valid reports whether a name can be that of a file in every storage, and of none outside
// of its folder: letters, digits, '-', '_' and dots, which begin no part of it.
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
