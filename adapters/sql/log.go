package sql

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// logCommit is a commit as the log keeps it. Names are short: there is one of
// these for every write there ever was.
type logCommit struct {
	Rev     store.Revision    `json:"r"`
	At      int64             `json:"t"` // Unix nanoseconds
	By      store.Attribution `json:"by,omitzero"`
	Changes []logChange       `json:"c"` // the last, see logText
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
	None bool            `json:"n,omitempty"` // references: none any more, as opposed to as before
	// Serial of the record after the change; missing in old rows.
	Serial store.Serial `json:"s,omitempty"`
	Delta  doc.Delta    `json:"d"` // the last, see appendChange
}

// logText returns commits as the log keeps them, as a JSON array of logCommit. It
// joins texts itself: encoding/json would read the differences, which may be megabytes,
// once more, and the writer waits.
func logText(commits []logged) ([]byte, error) {
	size := 2
	for _, c := range commits {
		size += 512
		for _, ch := range c.Changes {
			size += textSize(ch)
		}
	}
	b := append(make([]byte, 0, size), '[')
	for i, c := range commits {
		if i > 0 {
			b = append(b, ',')
		}
		head, err := json.Marshal(logCommit{Rev: c.Rev, At: c.At.UnixNano(), By: c.By})
		if err != nil {
			return nil, err
		}
		b = append(bytes.TrimSuffix(append(b, head...), []byte(`null}`)), '[')
		for j, ch := range c.Changes {
			if j > 0 {
				b = append(b, ',')
			}
			if c.texts != nil {
				b = append(b, c.texts[j]...)
			} else if b, err = appendChange(b, ch); err != nil {
				return nil, err
			}
		}
		b = append(b, `]}`...)
	}
	return append(b, ']'), nil
}

// textSize is about how many bytes appendChange appends, so that room can be made at once.
func textSize(ch store.Change) int {
	size := 512
	for _, h := range ch.Delta {
		size += (len(h.Old) + len(h.New)) * 5 / 4 // quotes need escapes
	}
	return size
}

// appendChange appends a logChange.
func appendChange(b []byte, ch store.Change) ([]byte, error) {
	head, err := json.Marshal(logChange{Op: ch.Op, Org: ch.Org, Kind: ch.Kind, ID: ch.ID, Prev: ch.Prev, Past: ch.Past,
		Keys: ch.Keys, Refs: ch.Refs, None: ch.Refs != nil && len(ch.Refs) == 0, Serial: ch.Serial})
	if err != nil {
		return nil, err
	}
	b = append(bytes.TrimSuffix(append(b, head...), []byte(`null}`)), '[')
	for i, h := range ch.Delta {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = h.AppendJSON(b); err != nil {
			return nil, err
		}
	}
	return append(b, `]}`...), nil
}

// parseLog reads one row of the log.
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
			out[i].Changes[j] = store.Change{Op: ch.Op, Org: ch.Org, Kind: ch.Kind, ID: ch.ID, Prev: ch.Prev, Past: ch.Past,
				Keys: ch.Keys, Refs: ch.Refs, Delta: ch.Delta, Serial: ch.Serial}
		}
	}
	return out, nil
}

// logRow reads a row of the log as it is stored.
func (s *Store) logRow(first, last store.Revision, body []byte) ([]store.Commit, error) {
	text, _, err := s.unpack(body, logPlace(first, last))
	if err != nil {
		return nil, fmt.Errorf("%w: a row of the change log: %w", store.ErrDamaged, err)
	}
	return parseLog(text)
}

// scanLog reads rows of the log (first, last, body) and closes them. Of a log that is damaged it
// returns what comes before the damage as well.
func (s *Store) scanLog(rows *sql.Rows) ([]store.Commit, error) {
	defer func() { _ = rows.Close() }()
	var out []store.Commit
	for rows.Next() {
		var first, last store.Revision
		var body sql.RawBytes // a row may be megabytes, and is read before the next one
		if err := rows.Scan(&first, &last, &body); err != nil {
			return nil, err
		}
		commits, err := s.logRow(first, last, body)
		if err != nil {
			return out, err
		}
		out = append(out, commits...)
	}
	return out, rows.Err()
}
