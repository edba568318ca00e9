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

// longSize is the most bytes of a text that its own row takes, about. A longer text is
// written and read in parts of partSize: drivers and databases copy each value several
// times, and a part has a transaction of its own, for which others wait.
const (
	longSize = 1 << 20
	partSize = 256 << 10
)

// The tables of texts in parts: those of today, and those of older programs, which named
// a text by the row that it belongs to. The columns of parts take bytes in every dialect.
const (
	longTexts   = "long_text"
	longParts   = "long_part"
	recordParts = "record_part"
	logParts    = "log_part"
)

// contents is what a row holds in place of a text that is in parts. It is sealed with
// the place of the row, which holds the revision, and parts are sealed for its name and
// their number, so that no part can be left out, put elsewhere, or come from an earlier
// revision. The name is known before the revision is.
type contents struct {
	parts int
	size  int    // bytes of all parts
	name  string // drawn for this text; "": of an older program, whose parts are sealed for the place of the row
	older bool   // the parts are in a table of an older program
}

// named returns the contents of a new text.
func named() contents { return contents{name: rand.Text()} }

// The first byte of contents, and of no JSON text: of today, and of older programs.
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

// contentsOf reads what contents.text returned.
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

// mostContents is the longest that a column is which holds contents, sealed or not. A
// longer one is not opened to see whether it does.
const mostContents = 128

// spot is where a text is kept: a row, and the parts that belong to it.
type spot struct {
	place []byte // that the row's own text is sealed for
	table string
	names []string // of the columns that name the row
	keys  []any    // and their values
}

func recordSpot(kind, org, id string, rev store.Revision) spot {
	return spot{placeOf(kind, org, id, rev), recordParts, []string{"kind", "org", "id"}, []any{kind, org, id}}
}

func logSpot(first, last store.Revision) spot {
	return spot{logPlace(first, last), logParts, []string{"last"}, []any{int64(last)}}
}

// holding is where the parts of a text are kept that the row holds.
func (p spot) holding(c contents) spot {
	if !c.older {
		p.table, p.names, p.keys = longParts, []string{"name"}, []any{c.name}
	}
	return p
}

// part is the place that part n of a text is sealed for.
func (p spot) part(c contents, n int) []byte {
	if c.name != "" {
		return partPlace(c.name, n)
	}
	return binary.AppendUvarint(append([]byte{'p'}, p.place...), uint64(n))
}

// partPlace is the place that part n of a text with a name is sealed for.
func partPlace(name string, n int) []byte {
	return binary.AppendUvarint(append([]byte{'t'}, name...), uint64(n))
}

// where is a condition for all parts of the row; its arguments are keys.
func (p spot) where() string {
	var conditions []string
	for i, name := range p.names {
		conditions = append(conditions, fmt.Sprintf("%s = $%d", name, i+1))
	}
	return strings.Join(conditions, " and ")
}

// packPart returns a part as its column takes it, in room if it is sealed.
func (s *Store) packPart(room, plain, place []byte) ([]byte, error) {
	if !s.sealing() {
		return plain, nil
	}
	return s.Sealing.Documents.Seal(room, plain, place)
}

// sealedPart reports whether a part is sealed: a clear one has no control character
// behind a mark, because no JSON text has.
func sealedPart(body []byte) bool {
	return len(body) > 1 && body[0] == secret.Mark && body[1] < ' '
}

// openPart appends a part as it was written to dst.
func (s *Store) openPart(dst, body, place []byte) ([]byte, error) {
	switch {
	case !sealedPart(body):
		return append(dst, body...), nil
	case s.Sealing.Documents == nil:
		return dst, secret.ErrUnknown
	}
	return s.Sealing.Documents.Open(dst, body, place)
}

// errParts means that a text is not complete.
var errParts = errors.New("parts of the text are missing")

// written is a text as it was written.
type written struct {
	plain  []byte
	sealed bool  // all of it: then it is what was written
	wrong  error // why there is no text
}

// whole returns the text that a column holds, joined if it is in parts. What is wrong
// with the text is no error.
func (s *Store) whole(ctx context.Context, q querier, stored []byte, at spot) (t written, err error) {
	t.plain, t.sealed, t.wrong = s.unpack(stored, at.place)
	c, ok := contentsOf(t.plain)
	if !ok || t.wrong != nil {
		return t, nil
	}
	if text := s.youngest.plain(c.name); text != nil && !c.older {
		return written{plain: text, sealed: true}, nil // it is what was written
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

// mostJoined is how much room is made at once for a text, whatever its row says.
const mostJoined = 256 << 20

// repart brings the parts of a row into the current form, one after the other. A part
// that is damaged stays as it is.
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
