package sql

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// longSize is about the maximum size in bytes of a text in its own row. A longer text is
// stored in parts of partSize: drivers and databases copy each value several times, and
// each part has its own transaction, which others wait for.
const (
	longSize = 1 << 20
	partSize = 256 << 10
)

// The tables of texts in parts: the current ones, and those of older programs, which
// identified a text by its row. The columns of parts accept bytes in every dialect.
const (
	longTexts   = "long_text"
	longParts   = "long_part"
	recordParts = "record_part"
	logParts    = "log_part"
)

// contents is what a row stores in place of a text in parts. It is sealed with the place
// of the row, which includes the revision. Parts are sealed with the text's name and
// their number, so that no part can be left out, moved elsewhere, or come from an earlier
// revision. The name is known before the revision is.
type contents struct {
	parts int
	size  int    // bytes of all parts
	name  string // random; "": written by an older program, whose parts are sealed with the place of the row
	older bool   // the parts are in a table of an older program
}

// named returns contents with a new name.
func named() contents { return contents{name: rand.Text()} }

// The first byte of contents, which no JSON text begins with: the current one, and that
// of older programs.
const (
	contentsMark = '*'
	olderMark    = '+'
)

func (c contents) text() []byte {
	mark := contentsMark
	if c.older {
		mark = olderMark
	}
	return fmt.Appendf(nil, "%c%d %d %s", mark, c.parts, c.size, c.name)
}

// contentsOf parses the result of contents.text.
func contentsOf(plain []byte) (c contents, ok bool) {
	if len(plain) == 0 || plain[0] != contentsMark && plain[0] != olderMark {
		return c, false
	}
	c.older = plain[0] == olderMark
	fields := strings.Fields(string(plain[1:min(len(plain), mostContents)]))
	if len(fields) != 2 && len(fields) != 3 {
		return c, false
	}
	c.name = strings.Join(fields[2:], "")
	parts, errParts := strconv.Atoi(fields[0])
	size, errSize := strconv.Atoi(fields[1])
	c.parts, c.size = parts, size
	return c, errParts == nil && errSize == nil && c.parts > 0 && c.size >= c.parts && (c.older || c.name != "")
}

// mostContents is the maximum length of a column with contents, sealed or not. A longer
// column is not opened to look for contents.
const mostContents = 128

// spot is where a text is stored: a row, and its parts.
type spot struct {
	place []byte // with which the row's own text is sealed
	table string
	names []string // the columns that identify the row
	keys  []any    // and their values
}

func recordSpot(kind, org, id string, rev store.Revision) spot {
	return spot{placeOf(kind, org, id, rev), recordParts, []string{"kind", "org", "id"}, []any{kind, org, id}}
}

func logSpot(first, last store.Revision) spot {
	return spot{logPlace(first, last), logParts, []string{"last"}, []any{int64(last)}}
}

// holding returns the spot for the parts of a text.
func (p spot) holding(c contents) spot {
	if !c.older {
		p.table, p.names, p.keys = longParts, []string{"name"}, []any{c.name}
	}
	return p
}

// part returns the place that part n of a text is sealed with.
func (p spot) part(c contents, n int) []byte {
	if c.name != "" {
		return partPlace(c.name, n)
	}
	return binary.AppendUvarint(append([]byte{'p'}, p.place...), uint64(n))
}

// partPlace returns the place that part n of a named text is sealed with.
func partPlace(name string, n int) []byte {
	return binary.AppendUvarint(append([]byte{'t'}, name...), uint64(n))
}

// where returns a condition for all parts of the row; its arguments are keys.
func (p spot) where() string {
	var conditions []string
	for i, name := range p.names {
		conditions = append(conditions, fmt.Sprintf("%s = $%d", name, i+1))
	}
	return strings.Join(conditions, " and ")
}

// packPart returns a part as stored in its column; a sealed part uses the memory of room.
func (s *Store) packPart(room, plain, place []byte) ([]byte, error) {
	if !s.sealing() {
		return plain, nil
	}
	return s.Sealing.Documents.Seal(room, plain, place)
}

// sealedPart reports whether a part is sealed: an unsealed part has no control character
// after a mark, because JSON texts have none.
func sealedPart(body []byte) bool {
	return len(body) > 1 && body[0] == secret.Mark && body[1] < ' '
}

// openPart appends the original bytes of a part to dst.
func (s *Store) openPart(dst, body, place []byte) ([]byte, error) {
	switch {
	case !sealedPart(body):
		return append(dst, body...), nil
	case s.Sealing.Documents == nil:
		return dst, secret.ErrUnknown
	}
	return s.Sealing.Documents.Open(dst, body, place)
}

// errParts means that parts of a text are missing.
var errParts = errors.New("parts of the text are missing")

// written is a text as it was originally written.
type written struct {
	plain  []byte
	sealed bool  // all of it was sealed, which proves that it is unchanged
	wrong  error // why the text cannot be read
}

// whole returns the text of a column, joined if it is in parts. A damaged text is not an
// error: see written.wrong.
func (s *Store) whole(ctx context.Context, q querier, stored []byte, at spot) (t written, err error) {
	t.plain, t.sealed, t.wrong = s.unpack(stored, at.place)
	c, ok := contentsOf(t.plain)
	if !ok || t.wrong != nil {
		return t, nil
	}
	if text := s.youngest.plain(c.name); text != nil && !c.older {
		return written{plain: text, sealed: true}, nil // sealed texts are known to be unchanged
	}
	at = at.holding(c)
	t.plain = make([]byte, 0, min(c.size, mostJoined))
	n := 0
	err = each(ctx, q, func(scan func(...any) error) error {
		var i int
		var body sql.RawBytes
		if err := scan(&i, &body); err != nil || t.wrong != nil {
			return err
		}
		if i != n {
			t.wrong = errParts
			return nil
		}
		n++
		t.sealed = t.sealed && sealedPart(body)
		t.plain, t.wrong = s.openPart(t.plain, body, at.part(c, i))
		return nil
	}, `select n, body from `+at.table+` where `+at.where()+` order by n`, at.keys...)
	if err == nil && t.wrong == nil && (n != c.parts || len(t.plain) != c.size) {
		t.wrong = errParts
	}
	return t, err
}

// mostJoined is the maximum size that is allocated at once for a text, whatever its row
// claims.
const mostJoined = 256 << 20

// repart converts the parts of a row to the current form, one after the other. A damaged
// part stays as it is.
func (s *Store) repart(ctx context.Context, ses *session, stored []byte, at spot) error {
	plain, _, err := s.unpack(stored, at.place)
	c, ok := contentsOf(plain)
	if err != nil || !ok {
		return nil //nolint:nilerr // there are none that could be found
	}
	at = at.holding(c)
	where, k := at.where(), len(at.keys)
	var room, opened []byte
	for n := range c.parts {
		var body []byte
		if err := each(ctx, ses, func(scan func(...any) error) error { return scan(&body) },
			fmt.Sprintf(`select body from %s where %s and n = $%d`, at.table, where, k+1), append(at.keys[:k:k], n)...); err != nil {
			return err
		}
		if body == nil {
			return nil
		}
		if sealedPart(body) && s.Sealing.Documents.Current(body) {
			continue
		}
		if opened, err = s.openPart(opened[:0], body, at.part(c, n)); err != nil {
			continue
		}
		if room, err = s.packPart(room[:0], opened, at.part(c, n)); err != nil {
			return err
		}
		if err := ses.exec(ctx, fmt.Sprintf(`update %s set body = $%d where %s and n = $%d`, at.table, k+2, where, k+1), append(at.keys[:k:k], n, room)...); err != nil {
			return err
		}
	}
	return nil
}
