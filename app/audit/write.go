package audit

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Operation is the attribution of the commits that write trails. Trails leave these
// commits out.
const Operation = "audit"

// grown is a trail after an append: its head and its new or changed segments. The first
// segment may exist already.
type grown struct {
	head     audit.Head
	segments []audit.Segment
}

// write appends records to trails and moves the cursor, in one unit of work. It
// computes everything before, so that it holds the writer only to store. It writes the
// file first: if the process dies in between, the file has these records twice, but it
// never lacks them.
func (s *Service) write(ctx context.Context, at cursor, known bool, through store.Revision, records map[tenant.ID][]audit.Record) error {
	ctx = store.Attribute(ctx, store.Attribution{Actor: Operation, Operation: Operation})
	var out []grown
	if s.Signer != nil {
		for _, org := range slices.Sorted(maps.Keys(records)) {
			g, err := s.grow(ctx, org, records[org])
			if err != nil {
				return err
			}
			out = append(out, g)
		}
	}
	undo, err := s.file(records)
	if err != nil {
		return err
	}
	_, err = s.store.Update(ctx, tenant.Everyone("audit"), func(w store.Writer) error {
		if err := s.take(ctx, w, at, known, through); err != nil {
			return err
		}
		for _, g := range out {
			if err := put(ctx, w, heads, g.head, func(old audit.Head) audit.Head {
				g.head.Floor = old.Floor // another process may have moved the floor
				return g.head
			}); err != nil {
				return err
			}
			for _, seg := range g.segments {
				if err := put(ctx, w, segments, seg, func(audit.Segment) audit.Segment { return seg }); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return errors.Join(err, undo())
	}
	return nil
}

// file appends records to the file, if there is one, in the order of time. undo removes
// them again.
func (s *Service) file(records map[tenant.ID][]audit.Record) (undo func() error, err error) {
	if s.File == nil {
		return func() error { return nil }, nil
	}
	var all []audit.Record
	for _, org := range slices.Sorted(maps.Keys(records)) {
		all = append(all, records[org]...)
	}
	slices.SortStableFunc(all, func(a, b audit.Record) int { return a.Time().Compare(b.Time()) })
	var text []byte
	for _, r := range all {
		if s.JSON {
			text = append(text, r.JSON()...)
		} else {
			text = append(text, r.Text()...)
		}
	}
	return s.File.Append(text)
}

// take moves the cursor, unless another process has moved it since it was read.
func (s *Service) take(ctx context.Context, w store.Writer, at cursor, known bool, through store.Revision) error {
	next := cursor{ID: cursorID, Through: through, Turn: at.Turn + 1}
	if !known {
		err := cursors.Insert(ctx, w, next)
		if err != nil {
			return errors.Join(errTurn, err)
		}
		return nil
	}
	_, err := cursors.Edit(ctx, w, cursorID, nil, func(now cursor) (cursor, error) {
		if now.Turn != at.Turn {
			return now, errTurn
		}
		return next, nil
	})
	return err
}

// put creates a value, or replaces the stored one.
func put[T any](ctx context.Context, w store.Writer, k *store.Kind[T], v T, over func(T) T) error {
	for old, err := range w.Scan(ctx, store.Query{Kind: k.Name, ID: k.ID(v)}) {
		if err != nil {
			return err
		}
		if old.Org == k.Org(v) {
			_, err := k.Edit(ctx, w, k.ID(v), nil, func(old T) (T, error) { return over(old), nil })
			return err
		}
	}
	return k.Insert(ctx, w, v)
}

// closing is the number of records in one fold from which the last segment is closed
// although it is not full: writing it again with each fold would cost more than a
// smaller segment.
const closing = 32

// headID returns the ID of the head of the trail of an organisation.
func headID(org tenant.ID) string { return "head-" + string(org) }

// grow returns the trail of an organisation with more records at its end.
func (s *Service) grow(ctx context.Context, org tenant.ID, records []audit.Record) (g grown, err error) {
	var seg audit.Segment
	err = s.store.View(ctx, tenant.Everyone("audit"), func(r store.Reader) (err error) {
		g.head, seg, err = end(ctx, r, org)
		return err
	})
	if err != nil {
		return g, err
	}
	busy := len(records) >= closing
	for len(records) > 0 {
		seg, records = s.packer.Add(seg, records, busy)
		seg.Checkpoint = seg.Checkpoint.Sign(s.Signer.SigningKey(), s.Signer.Sign)
		g.segments, g.head.Last = append(g.segments, seg), seg.Checkpoint
		seg = audit.Begin(org, seg.Checkpoint)
	}
	return g, nil
}

// end returns the head of a trail and the segment to which the next record is added.
func end(ctx context.Context, r store.Reader, org tenant.ID) (head audit.Head, seg audit.Segment, err error) {
	head = audit.Head{ID: headID(org), OrgID: org}
	for v, err := range heads.Find(ctx, r, store.Query{ID: head.ID}) {
		if err != nil {
			return head, seg, err
		}
		head = v.Value
	}
	last := head.Last
	if last.Seq == 0 {
		return head, audit.Begin(org, audit.Checkpoint{}), nil
	}
	for v, err := range segments.Find(ctx, r, store.Query{ID: audit.SegmentID(org, last.First)}) {
		if err != nil {
			return head, seg, err
		}
		if !v.Value.Full() {
			return head, v.Value, nil
		}
	}
	return head, audit.Begin(org, last), nil
}
