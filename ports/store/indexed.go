package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// maxIndexed is the size in bytes up to which every back end can index a text.
const maxIndexed = 512

// Indexed returns a text that stands for s in an index and when looking for it:
// a digest where a back end could not keep s itself.
func Indexed(s string) string {
	if len(s) <= maxIndexed && utf8.ValidString(s) && !strings.ContainsRune(s, 0) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}
