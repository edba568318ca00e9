package audit_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// records returns samples that are not linked yet.
func records(org tenant.ID, n int) (out []audit.Record) {
	for i := range n {
		out = append(out, sample(org, i))
	}
	return out
}

// TestSegments: records that are added in any portions become the same trail: all of them, in
// order, linked across segments, each of which is covered by its checkpoint.
func TestSegments(t *testing.T) {
	const n = 300
	for _, portion := range []int{1, 7, 128, n} {
		var p audit.Packer
		s, lines, segments := audit.Begin("o", audit.Checkpoint{}), [][]byte{}, 0
		seal := func() {
			if !s.Fits() {
				t.Errorf("segment %s does not fit its checkpoint: %+v", s.ID, s.Checkpoint)
			}
			all, err := s.Lines()
			if err != nil {
				t.Fatal(err)
			}
			for l := range all {
				lines = append(lines, bytes.Clone(l))
			}
			lines = append(lines, sign(s.Checkpoint).Line())
			segments++
		}
		for left := records("o", n); len(left) > 0; {
			now, later := left[:min(portion, len(left))], left[min(portion, len(left)):]
			for len(now) > 0 {
				if s, now = p.Add(s, now, false); s.Full() != (s.Packed != nil) {
					t.Fatal("a full segment is not compressed, or another one is")
				}
				if s.Full() {
					if n := s.Checkpoint.Seq + 1 - s.Checkpoint.First; n != 128 {
						t.Errorf("a segment is full with %d records", n)
					}
					seal()
					s = audit.Begin("o", s.Checkpoint)
				}
			}
			left = later
		}
		if s.Text != "" {
			seal()
		}
		if found := verify(lines); len(found) > 0 || len(lines) != n+segments || segments != 3 {
			t.Errorf("by %d: %d lines, %d segments, %v", portion, len(lines), segments, found)
		}
	}
}

// TestLastSegment: the last segment of an export is compressed before it is full, by the
// packer that the caller brings.
func TestLastSegment(t *testing.T) {
	var p audit.Packer
	s, left := p.Add(audit.Begin("o", audit.Checkpoint{Seq: 41, Hash: "h"}), records("o", 2), true)
	if len(left) > 0 || !s.Full() || s.Text != "" || s.ID != audit.SegmentID("o", 42) || s.Checkpoint.Before != "h" || s.Checkpoint.Seq != 43 {
		t.Errorf("%+v", s)
	}
	lines, err := s.Lines()
	if err != nil {
		t.Fatal(err)
	}
	first := ""
	for l := range lines {
		first = string(l)
		break
	}
	if want := sample("o", 0).Link(42, "h"); first != string(want.Canonical()) {
		t.Errorf("%s, want %s", first, want.Canonical())
	}
	own := audit.Packer{Pack: func(text []byte) []byte { return append([]byte("packed "), text...) }}
	if s, _ = own.Add(audit.Begin("o", audit.Checkpoint{}), records("o", 1), true); string(s.Packed) != "packed "+string(sample("o", 0).Link(1, audit.Genesis).Canonical())+"\n" {
		t.Errorf("%q", s.Packed)
	}
	if s.Weight() != 512+len(s.Packed)*4/3 {
		t.Error(s.Weight())
	}
}

// TestDamagedSegments: a segment that differs from what was stored is recognised.
func TestDamagedSegments(t *testing.T) {
	var p audit.Packer
	whole, _ := p.Add(audit.Begin("o", audit.Checkpoint{}), records("o", 2), true)
	for name, packed := range map[string][]byte{"no compressed text": []byte("x"), "cut": whole.Packed[:len(whole.Packed)/2], "changed": append(slices.Clone(whole.Packed[:len(whole.Packed)-8]), make([]byte, 8)...)} {
		damaged := whole
		damaged.Packed = packed
		if _, err := damaged.Lines(); !errors.Is(err, audit.ErrSegment) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string]func(*audit.Segment){
		"another organisation": func(s *audit.Segment) { s.ID, s.OrgID = audit.SegmentID("p", 1), "p" }, "another identifier": func(s *audit.Segment) { s.ID = audit.SegmentID("p", 1) }, "another number": func(s *audit.Segment) { s.Checkpoint.First++ }, "two texts": func(s *audit.Segment) { s.Text = "x" },
	} {
		damaged := whole
		change(&damaged)
		if damaged.Fits() {
			t.Errorf("%s fits", name)
		}
	}
}
