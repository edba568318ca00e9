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

// Segment is a stored part of a trail: consecutive records, with the checkpoint that covers
// them.
type Segment struct {
	ID         string     `json:"id"` // sorts by organisation and number
	OrgID      tenant.ID  `json:"org_id"`
	Text       string     `json:"text,omitempty"`   // canonical texts, one per line, while records may be added
	Packed     []byte     `json:"packed,omitempty"` // the same text, compressed, when the segment is full
	Checkpoint Checkpoint `json:"checkpoint"`
}

// Limits of a segment to which records may be added.
const (
	maxRecords = 128
	maxSegment = 128 << 10
	maxPlain   = maxSegment + 1<<20 // of an uncompressed segment
)

// Head is the state of a whole trail.
type Head struct {
	ID    string      `json:"id"`
	OrgID tenant.ID   `json:"org_id"`
	Last  Checkpoint  `json:"last"`
	Floor *Checkpoint `json:"floor,omitempty"` // of deleted records
}

// SegmentID returns the ID of the segment that begins with a record.
func SegmentID(org tenant.ID, first uint64) string { return fmt.Sprintf("%s-%016x", org, first) }

// Begin returns the empty segment after a checkpoint; after the zero Checkpoint, the first one
// of a trail.
func Begin(org tenant.ID, after Checkpoint) Segment {
	before := after.Hash
	if after.Seq == 0 {
		before = Genesis
	}
	return Segment{ID: SegmentID(org, after.Seq+1), OrgID: org,
		Checkpoint: Checkpoint{Kind: Batch, OrgID: org, First: after.Seq + 1, Before: before, Seq: after.Seq, Hash: before}}
}

// Full reports whether no more records may be added.
func (s Segment) Full() bool { return s.full(len(s.Text)) }

func (s Segment) full(size int) bool {
	return s.Packed != nil || size >= maxSegment || s.Checkpoint.Seq+1 >= s.Checkpoint.First+maxRecords
}

// Packer writes segments. It reuses buffers and is not safe for concurrent use.
type Packer struct {
	// Pack compresses a text to a gzip stream (RFC 1952); nil: use package gzip.
	Pack func(text []byte) []byte
	text bytes.Buffer
}

// Add appends records to a segment until it is full, and returns it with the remaining
// records. A full segment is compressed, and with last also the last one: then no more records
// can be added. The caller must sign the checkpoint again.
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

// ErrSegment means that a segment differs from what was stored.
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

// Fits reports whether the identifiers of a segment match its checkpoint.
func (s Segment) Fits() bool {
	return s.ID == SegmentID(s.OrgID, s.Checkpoint.First) && s.OrgID == s.Checkpoint.OrgID && (s.Text == "" || s.Packed == nil)
}

// Weight returns the approximate size of the stored segment in bytes.
func (s Segment) Weight() int { return 512 + len(s.Text) + len(s.Packed)*4/3 }
