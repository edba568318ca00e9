package audit

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Segment is a part of a trail as it is stored: some records that follow each other,
// with the checkpoint that covers them.
type Segment struct {
	ID         string     `json:"id"` // sorts by organisation and number
	OrgID      tenant.ID  `json:"org_id"`
	Text       string     `json:"text,omitempty"`   // canonical texts, a line each, while records may be added
	Packed     []byte     `json:"packed,omitempty"` // the same, compressed, afterwards
	Checkpoint Checkpoint `json:"checkpoint"`
}

// Bounds of a segment to which records may be added.
const (
	maxRecords = 128
	maxSegment = 128 << 10
	maxPlain   = maxSegment + 1<<20 // of what a compressed segment may come to
)

// Head is what is known of a whole trail.
type Head struct {
	ID    string      `json:"id"`
	OrgID tenant.ID   `json:"org_id"`
	Last  Checkpoint  `json:"last"`
	Floor *Checkpoint `json:"floor,omitempty"` // of records that were forgotten
}

// SegmentID names the segment of a trail that begins with a record.
func SegmentID(org tenant.ID, first uint64) string { return fmt.Sprintf("%s-%016x", org, first) }

// Begin returns the empty segment that follows a checkpoint; the zero one begins a trail.
func Begin(org tenant.ID, after Checkpoint) Segment {
	before := after.Hash
	if after.Seq == 0 {
		before = Genesis
	}
	return Segment{ID: SegmentID(org, after.Seq+1), OrgID: org,
		Checkpoint: Checkpoint{Kind: Batch, OrgID: org, First: after.Seq + 1, Before: before, Seq: after.Seq, Hash: before}}
}

// Full reports whether no record may be added.
func (s Segment) Full() bool { return s.full(len(s.Text)) }

func (s Segment) full(size int) bool {
	return s.Packed != nil || size >= maxSegment || s.Checkpoint.Seq+1 >= s.Checkpoint.First+maxRecords
}

// Packer writes segments, one goroutine at once. It keeps what it needs for the next one.
type Packer struct {
	// Pack compresses a text to a gzip stream (RFC 1952); nil: as package gzip does.
	Pack func(text []byte) []byte
	text bytes.Buffer
}

// Add returns a segment with more records at its end, until it is full, and those that are
// left. A full one is compressed, and so is the last one when last is set: no record can be
// added any more. The checkpoint has to be signed again.
func (p *Packer) Add(s Segment, records []Record, last bool) (_ Segment, left []Record) {
	p.text.Reset()
	p.text.WriteString(s.Text)
	for len(records) > 0 && !s.full(p.text.Len()) {
		r := records[0]
		r.link(&p.text, s.Checkpoint.Seq+1, s.Checkpoint.Hash)
		s.Checkpoint.Seq, s.Checkpoint.Hash, s.Checkpoint.Time = r.Seq, r.Hash, r.Timestamp
		records = records[1:]
	}
	if !last && !s.full(p.text.Len()) {
		s.Text = p.text.String()
		return s, records
	}
	s.Text = ""
	if p.Pack != nil {
		s.Packed = p.Pack(p.text.Bytes())
		return s, records
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(p.text.Bytes()) // writing to memory does not fail
	_ = z.Close()
	s.Packed = b.Bytes()
	return s, records
}

// ErrSegment means that a segment is not as it was stored.
var ErrSegment = errors.New("audit: a segment of the trail is damaged")

// Lines yields the canonical texts of the records.
func (s Segment) Lines() (iter.Seq[[]byte], error) {
	text := []byte(s.Text)
	if s.Packed != nil {
		z, err := gzip.NewReader(bytes.NewReader(s.Packed))
		if err != nil {
			return nil, ErrSegment
		}
		if text, err = io.ReadAll(io.LimitReader(z, maxPlain)); err != nil {
			return nil, ErrSegment
		}
	}
	return func(yield func([]byte) bool) {
		for l := range bytes.Lines(text) {
			if !yield(bytes.TrimSuffix(l, []byte("\n"))) {
				return
			}
		}
	}, nil
}

// Fits reports whether a segment is filed as the checkpoint says that covers it.
func (s Segment) Fits() bool {
	return s.ID == SegmentID(s.OrgID, s.Checkpoint.First) && s.OrgID == s.Checkpoint.OrgID && (s.Text == "" || s.Packed == nil)
}

// Weight is about how many bytes the segment takes where it is stored.
func (s Segment) Weight() int { return 512 + len(s.Text) + len(s.Packed)*4/3 }
