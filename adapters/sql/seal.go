package sql

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Sealing says how documents and the change log are encrypted.
type Sealing struct {
	Documents secret.Documents // nil: as they are
	// Clear writes without encryption; sealed texts can still be opened.
	Clear bool
}

// ErrSealed means that records are encrypted with a key that is not configured.
var ErrSealed = errors.New("the stored records are encrypted with another key")

// place returns the additional data for sealing a text: where it is stored. Its fields
// cannot run into each other.
func place(table byte, revs [2]store.Revision, parts ...string) []byte {
	b := append(make([]byte, 0, 96), table)
	for _, r := range revs {
		b = binary.AppendUvarint(b, uint64(r))
	}
	for _, p := range parts {
		b = append(binary.AppendUvarint(b, uint64(len(p))), p...)
	}
	return b
}

// placeOf returns the place of the document of a revision of a record.
func placeOf(kind, org, id string, rev store.Revision) []byte {
	return place('r', [2]store.Revision{rev}, kind, org, id)
}

// logPlace returns the place of a row of the change log.
func logPlace(first, last store.Revision) []byte { return place('l', [2]store.Revision{first, last}) }

// sealing reports whether new texts are sealed.
func (s *Store) sealing() bool { return s.Sealing.Documents != nil && !s.Sealing.Clear }

// pack returns a text as stored in its column.
func (s *Store) pack(plain, place []byte) (any, error) {
	if !s.sealing() {
		return string(plain), nil
	}
	sealed, err := s.Sealing.Documents.Seal(nil, plain, place)
	if err != nil || !s.Dialect.Text {
		return sealed, err
	}
	return asText(sealed), nil
}

// asText encodes a sealed text for a column that accepts no bytes. It keeps the mark,
// so that the text is recognised.
func asText(sealed []byte) string {
	return string(sealed[:1]) + base64.RawStdEncoding.EncodeToString(sealed[1:])
}

// sealedBytes returns the bytes of a sealed text in either encoding; nil: the text is
// not sealed.
func sealedBytes(stored []byte) []byte {
	if len(stored) < 2 || stored[0] != secret.Mark {
		return nil
	}
	if stored[1] < ' ' { // the layout version, so these are bytes
		return stored
	}
	sealed := append(make([]byte, 0, len(stored)), secret.Mark)
	sealed, err := base64.RawStdEncoding.AppendDecode(sealed, stored[1:])
	if err != nil {
		return stored
	}
	return sealed
}

// unpack returns the original text of a column; it may share the driver's memory.
// wasSealed means that the text is known to be unchanged.
func (s *Store) unpack(stored, place []byte) (plain []byte, wasSealed bool, err error) {
	sealed := sealedBytes(stored)
	switch {
	case sealed == nil:
		return bytes.Clone(stored), false, nil
	case s.Sealing.Documents == nil:
		return nil, true, secret.ErrUnknown
	}
	plain, err = s.Sealing.Documents.Open(nil, sealed, place)
	return plain, true, err
}

// Fits returns ErrSealed when the first record or the last row of the log cannot be
// opened with the configured keys: then nothing can be opened.
func (s *Store) Fits(ctx context.Context) error {
	var kind, org, id string
	var rev, first, last store.Revision
	var doc, body []byte
	for _, look := range []struct {
		text  string
		into  []any
		found func() ([]byte, []byte)
	}{
		{`select kind, org, id, rev, doc from record order by kind, org, id limit 1`, []any{&kind, &org, &id, &rev, &doc},
			func() ([]byte, []byte) { return doc, placeOf(kind, org, id, rev) }},
		{`select first, last, body from change_log order by last desc limit 1`, []any{&first, &last, &body},
			func() ([]byte, []byte) { return body, logPlace(first, last) }},
	} {
		var unknown error
		if err := each(ctx, s.Readers, func(scan func(...any) error) error {
			if scan(look.into...) == nil { // a row that cannot be scanned is damaged, which other code reports
				_, _, unknown = s.unpack(look.found())
			}
			return nil
		}, look.text); err != nil {
			return s.explain(err)
		}
		if errors.Is(unknown, secret.ErrUnknown) {
			return fmt.Errorf("%w: %w", ErrSealed, unknown)
		}
	}
	return nil
}
