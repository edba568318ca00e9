package audit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Export writes trails as JSON lines: records, each batch followed by its checkpoint.
// It reads one consistent snapshot and does not block writers. only is the one
// organisation to export; nil: all.
func (s *Service) Export(ctx context.Context, out io.Writer, only *tenant.ID) error {
	return s.read(ctx, func(r store.Reader) error {
		return lines(ctx, r, only, func(line []byte) error {
			_, err := fmt.Fprintf(out, "%s\n", line)
			return err
		})
	})
}

// Verify verifies all trails. anchors are checkpoints that were kept elsewhere.
func (s *Service) Verify(ctx context.Context, anchors ...audit.Checkpoint) (*audit.Verifier, error) {
	v := &audit.Verifier{Anchors: anchors}
	if s.Signer != nil {
		v.Keys = s.Signer.PublicKey
	}
	err := s.read(ctx, func(r store.Reader) error {
		last, err := ends(ctx, r)
		if err != nil {
			return err
		}
		v.Anchors = append(v.Anchors, last...)
		return lines(ctx, r, nil, func(line []byte) error {
			v.Line(line)
			return nil
		})
	})
	v.End()
	return v, err
}

// Checkpoints writes the last checkpoint of each trail as JSON lines. Kept elsewhere,
// they show later whether a trail was truncated.
func (s *Service) Checkpoints(ctx context.Context, out io.Writer) error {
	return s.read(ctx, func(r store.Reader) error {
		list, err := ends(ctx, r)
		for _, c := range list {
			if _, err := fmt.Fprintf(out, "%s\n", c.Line()); err != nil {
				return err
			}
		}
		return err
	})
}

// errOff is the error of all reads when no trail is kept in the store.
var errOff = errors.New("no audit trail is kept in the store: set audit.enabled and audit.store_type to db")

func (s *Service) read(ctx context.Context, fn func(store.Reader) error) error {
	if s.Signer == nil {
		return errOff
	}
	return s.store.View(ctx, tenant.Everyone("audit"), fn)
}

// ends returns the last checkpoint of each trail.
func ends(ctx context.Context, r store.Reader) (out []audit.Checkpoint, err error) {
	for h, err := range heads.Find(ctx, r, store.Query{}) {
		if err != nil {
			return nil, err
		}
		out = append(out, h.Value.Last)
	}
	return out, nil
}

// lines calls yield with the lines of the trails, those of each organisation in order.
// A damaged record becomes a line that is no record, so that verification finds it.
func lines(ctx context.Context, r store.Reader, only *tenant.ID, yield func([]byte) error) error {
	headed := map[tenant.ID]bool{}
	wrong := func(what string) error { return yield([]byte(what + " is missing or damaged")) }
	err := each(ctx, r, heads, only, wrong, func(h audit.Head) error {
		headed[h.OrgID] = h.ID == headID(h.OrgID) && h.Last.OrgID == h.OrgID
		if h.Floor == nil {
			return nil
		}
		return yield(h.Floor.Line())
	})
	if err != nil {
		return err
	}
	return each(ctx, r, segments, only, wrong, func(seg audit.Segment) error {
		if !headed[seg.OrgID] {
			headed[seg.OrgID] = true // reported once
			if err := wrong("the head of the trail of " + string(seg.OrgID)); err != nil {
				return err
			}
		}
		all, err := seg.Lines()
		if err != nil || !seg.Fits() {
			return yield([]byte("the segment " + seg.ID + " is damaged"))
		}
		for l := range all {
			if err := yield(l); err != nil {
				return err
			}
		}
		return yield(seg.Checkpoint.Line())
	})
}

// each calls fn with the stored values of a kind. For a record that cannot be decoded,
// or that is stored under another ID or organisation than its own, it calls wrong with
// the ID.
func each[T any](ctx context.Context, r store.Reader, k *store.Kind[T], only *tenant.ID, wrong func(string) error, fn func(T) error) error {
	for rec, err := range r.Scan(ctx, store.Query{Kind: k.Name}) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if only != nil && rec.Org != *only {
			continue
		}
		if v, damage := k.Decode(rec); damage != nil || k.ID(v) != rec.ID || k.Org(v) != rec.Org {
			err = wrong(rec.ID)
		} else {
			err = fn(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
