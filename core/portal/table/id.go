package table

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// ID is the number of a record of one table, beginning with 1.
type ID int64

// digits is the length of an ID in storage, so that records are sorted by it.
const digits = 12

// Key returns the ID in its form for storage.
func (id ID) Key() string { return fmt.Sprintf("%0*d", digits, int64(id)) }

// String returns the ID in its form for clients.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// ParseID parses the ID of a record.
func ParseID(text string) (ID, bool) {
	if len(text) == 0 || len(text) > digits {
		return 0, false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return ID(n), err == nil && n > 0
}

// Parts of a CID: the time, in seconds since an epoch of its own, and a random part.
const (
	cidLength = 27
	cidEpoch  = 1_400_000_000
	alphabet  = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	lastCID   = "aWgEPTl1tmebfsQzFP4bxwgy80V" // 20 bytes of ones
)

// IsCID reports whether a text has the form of a CID.
func IsCID(text string) bool {
	if len(text) != cidLength || text > lastCID {
		return false
	}
	for i := range len(text) {
		if strings.IndexByte(alphabet, text[i]) < 0 {
			return false
		}
	}
	return true
}

// NewCID makes a CID from the time and a text that is unique for the record. CIDs sort by
// time.
func NewCID(at time.Time, unique string) string {
	var raw [20]byte
	binary.BigEndian.PutUint32(raw[:4], uint32(max(0, at.Unix()-cidEpoch))) //nolint:gosec // until 2150
	sum := sha256.Sum256([]byte(unique))
	copy(raw[4:], sum[:16])
	n, base, rest := new(big.Int).SetBytes(raw[:]), big.NewInt(int64(len(alphabet))), new(big.Int)
	out := make([]byte, cidLength)
	for i := cidLength - 1; i >= 0; i-- {
		n.DivMod(n, base, rest)
		out[i] = alphabet[rest.Int64()]
	}
	return string(out)
}
