package sql

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// logCommit is a commit in the log. Its JSON names are short: one is stored for every
// write.
type logCommit struct {
	Rev     store.Revision    `json:"r"`
	At      int64             `json:"t"` // Unix nanoseconds
	By      store.Attribution `json:"by,omitzero"`
	Changes []logChange       `json:"c"` // last field, see commits
}

type logChange struct {
	Op   store.Op        `json:"op"`
	Org  tenant.ID       `json:"org"`
	Kind string          `json:"kind"`
	ID   string          `json:"id"`
	Prev store.Revision  `json:"p,omitempty"`
	Past store.Revision  `json:"g,omitempty"`
	Keys []store.Key     `json:"k,omitempty"`
	Refs []integrity.Ref `json:"f,omitempty"`
	None bool            `json:"n,omitempty"` // the references were removed, as opposed to unchanged
	// Serial of the record after the change; missing in old rows.
	Serial store.Serial `json:"s,omitempty"`
	Delta  logDelta     `json:"d"` // last field, see change
}

// logDelta is a difference, as a slice of the text that it is parsed from.
type logDelta []byte

// UnmarshalJSON keeps a slice of the text instead of a copy: it may have megabytes, and
// the text stays in memory.
func (d *logDelta) UnmarshalJSON(text []byte) error {
	*d = text
	return nil
}

// logWriter encodes a row of the log, in parts if it is long. It concatenates texts
// itself: encoding/json would parse the differences again, which may have megabytes,
// while the writer waits.
type logWriter struct {
	b   []byte
	add func(part []byte) error // receives the next part; nil: the text stays whole
}

// escapeStep is how many bytes of a long text are escaped at a time.
const escapeStep = 64 << 10

// commits encodes commits as a JSON array of logCommit.
func (w *logWriter) commits(commits []logged) error {
	size := 2
	for _, c := range commits {
		size += 512
		for _, ch := range c.Changes {
			size += textSize(ch)
		}
	}
	w.b = append(make([]byte, 0, min(size, longSize+2*escapeStep)), '[')
	for i, c := range commits {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if err := w.head(c); err != nil {
			return err
		}
		for j, ch := range c.Changes {
			if j > 0 {
				w.b = append(w.b, ',')
			}
			if j < len(c.texts) && c.texts[j] != nil { // it was encoded already
				w.b = append(w.b, c.texts[j]...)
			} else if err := w.change(ch); err != nil {
				return err
			}
			if err := w.spill(); err != nil {
				return err
			}
		}
		w.b = append(w.b, `]}`...)
	}
	w.b = append(w.b, ']')
	return w.spill()
}

// head encodes the beginning of a commit, up to its changes.
func (w *logWriter) head(c logged) error {
	head, err := json.Marshal(logCommit{Rev: c.Rev, At: c.At.UnixNano(), By: c.By})
	w.b = append(bytes.TrimSuffix(append(w.b, head...), []byte(`null}`)), '[')
	return err
}

// logTail is the end of a row with a single commit, after its changes.
const logTail = `]}]`

// spill passes full parts on when the text is long.
func (w *logWriter) spill() error {
	if w.add == nil || len(w.b) < longSize {
		return nil
	}
	return w.hand(partSize)
}

// hand passes parts on while there are at least that many bytes; with 1 it passes all.
func (w *logWriter) hand(least int) error {
	rest := w.b
	for len(rest) >= least {
		n := min(len(rest), partSize)
		if err := w.add(rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	w.b = w.b[:copy(w.b, rest)]
	return nil
}

// textSize returns the approximate number of bytes that change writes, so that they can
// be allocated at once.
func textSize(ch store.Change) int {
	size := 512
	for _, h := range ch.Delta {
		size += (len(h.Old) + len(h.New)) * 5 / 4 // quotes are escaped
	}
	return size
}

// change encodes a change as a logChange.
func (w *logWriter) change(ch store.Change) error {
	head, err := json.Marshal(logChange{Op: ch.Op, Org: ch.Org, Kind: ch.Kind, ID: ch.ID, Prev: ch.Prev, Past: ch.Past,
		Keys: ch.Keys, Refs: ch.Refs, None: ch.Refs != nil && len(ch.Refs) == 0, Serial: ch.Serial})
	if err != nil {
		return err
	}
	w.b = append(bytes.TrimSuffix(append(w.b, head...), []byte(`null}`)), '[')
	for i, h := range ch.Delta {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		if len(h.Old)+len(h.New) <= escapeStep {
			w.b, err = h.AppendJSON(w.b)
			if err := errors.Join(err, w.spill()); err != nil {
				return err
			}
			continue
		}
		w.b = append(strconv.AppendInt(append(w.b, '['), int64(h.At), 10), ',') // like encoding/json, but in steps
		if err := w.text(h.Old); err != nil {
			return err
		}
		w.b = append(w.b, ',')
		if err := w.text(h.New); err != nil {
			return err
		}
		w.b = append(w.b, ']')
	}
	w.b = append(w.b, `]}`...)
	return nil
}

// text encodes a JSON string, in steps.
func (w *logWriter) text(s []byte) error {
	w.b = append(w.b, '"')
	for len(s) > 0 {
		n := min(len(s), escapeStep)
		for back := 0; n < len(s) && back < utf8.UTFMax && !utf8.RuneStart(s[n]); back++ {
			n--
		}
		w.b, s = doc.AppendEscaped(w.b, s[:n]), s[n:]
		if err := w.spill(); err != nil {
			return err
		}
	}
	w.b = append(w.b, '"')
	return nil
}

// parseLog decodes one row of the log; it may overwrite text.
func parseLog(text []byte) ([]store.Commit, error) {
	var rows []logCommit
	if err := json.Unmarshal(text, &rows); err != nil {
		return nil, fmt.Errorf("%w: a row of the change log: %w", store.ErrDamaged, err)
	}
	out := make([]store.Commit, len(rows))
	for i, r := range rows {
		out[i] = store.Commit{Rev: r.Rev, At: time.Unix(0, r.At).UTC(), By: r.By, Changes: make([]store.Change, len(r.Changes))}
		for j, ch := range r.Changes {
			if ch.None {
				ch.Refs = []integrity.Ref{}
			}
			var delta doc.Delta
			var err error
			switch { // the difference of a long text shares its memory; a short one is copied, since it would keep the large text in memory
			case len(ch.Delta) == 0:
			case len(text) > longSize:
				delta, err = doc.AdoptDelta(ch.Delta)
			default:
				err = json.Unmarshal(ch.Delta, &delta)
			}
			if err != nil {
				return nil, fmt.Errorf("%w: a row of the change log: %w", store.ErrDamaged, err)
			}
			out[i].Changes[j] = store.Change{Op: ch.Op, Org: ch.Org, Kind: ch.Kind, ID: ch.ID, Prev: ch.Prev, Past: ch.Past,
				Keys: ch.Keys, Refs: ch.Refs, Delta: delta, Serial: ch.Serial}
		}
	}
	return out, nil
}

// logRow is a row of the log table.
type logRow struct {
	first, last store.Revision
	body        []byte
}

// logBytes is about how many bytes of the log are read at once: a single row may be
// large.
const logBytes = 8 << 20

// logRows reads rows of the log that a query selects (first, last, body): at least one
// if there is any, then up to logBytes.
func (s *Store) logRows(ctx context.Context, q querier, text string, args ...any) (out []logRow, err error) {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for size := 0; size < logBytes && rows.Next(); {
		var r logRow
		if err := rows.Scan(&r.first, &r.last, &r.body); err != nil {
			return nil, err
		}
		size += len(r.body)
		out = append(out, r)
	}
	return out, rows.Err()
}

// commitsIn decodes the commits of a row, and returns their size in bytes. A row that
// has been pruned in the meantime has none.
func (s *Store) commitsIn(ctx context.Context, q querier, r logRow) (commits []store.Commit, size int, err error) {
	t, err := s.whole(ctx, q, r.body, logSpot(r.first, r.last))
	if err != nil {
		return nil, 0, err
	}
	if errors.Is(t.wrong, errParts) {
		if there, err := number(ctx, q, `select count(*) from change_log where last = $1`, int64(r.last)); err != nil || there == 0 {
			return nil, 0, err
		}
	}
	if t.wrong != nil {
		return nil, 0, fmt.Errorf("%w: a row of the change log: %w", store.ErrDamaged, t.wrong)
	}
	commits, err = parseLog(t.plain)
	return commits, len(t.plain), err
}

// readLog decodes commits in the rows of the log that a query selects (first, last,
// body), at least those of the first row. If the log is damaged, it also returns the
// commits before the damage.
func (s *Store) readLog(ctx context.Context, q querier, text string, args ...any) (out []store.Commit, err error) {
	rows, err := s.logRows(ctx, q, text, args...)
	for size := 0; len(rows) > 0 && size < logBytes; rows = rows[1:] {
		commits, n, err := s.commitsIn(ctx, q, rows[0])
		if err != nil {
			return out, err
		}
		if n == 0 && len(out) > 0 {
			break // later commits do not continue the earlier ones
		}
		out, size = append(out, commits...), size+n
	}
	return out, err
}
