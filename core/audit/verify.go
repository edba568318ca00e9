package audit

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Finding is one error in a trail.
type Finding struct {
	OrgID  tenant.ID
	Seq    uint64 // of the record with the error; 0: of no single record
	Reason string
}

// String returns the finding as one line.
func (f Finding) String() string {
	return fmt.Sprintf("organisation %s, record %d: %s", f.OrgID, f.Seq, f.Reason)
}

// maxFindings is the maximum number of findings: further ones add little.
const maxFindings = 1000

// Verifier reads the lines of trails in order: records, each batch followed by its checkpoint.
// Where older records were deleted, a floor comes first.
type Verifier struct {
	Keys Keys
	// Anchors are checkpoints that were stored elsewhere: the trails must contain the same ones.
	Anchors  []Checkpoint
	Records  int
	Findings []Finding
	trails   map[tenant.ID]*trail
}

// trail is the position up to which the records of an organisation have been read.
type trail struct {
	seq       uint64 // of the last record
	hash      string
	confirmed uint64 // of the last record that a checkpoint covers
	before    string // hash of that record
	begun     bool
	floor     Checkpoint
}

func (v *Verifier) find(org tenant.ID, seq uint64, format string, args ...any) {
	if len(v.Findings) < maxFindings {
		v.Findings = append(v.Findings, Finding{org, seq, fmt.Sprintf(format, args...)})
	}
}

func (v *Verifier) trail(org tenant.ID) *trail {
	if v.trails == nil {
		v.trails = map[tenant.ID]*trail{}
	}
	t := v.trails[org]
	if t == nil {
		t = &trail{hash: Genesis, before: Genesis}
		v.trails[org] = t
	}
	return t
}

// Line reads one line of an exported file.
func (v *Verifier) Line(text []byte) {
	if bytes.HasPrefix(text, []byte(`{"checkpoint":`)) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil || l.Checkpoint == nil || !bytes.Equal(l.Checkpoint.Line(), text) {
			v.find("", 0, "a checkpoint is not as it was written: %.80q", text)
			return
		}
		v.Checkpoint(*l.Checkpoint)
		return
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		v.find("", 0, "a line is no record: %.80q", text)
		return
	}
	if !bytes.Equal(r.Canonical(), text) {
		v.find(r.OrgID, r.Seq, "the record was changed: its text is not as it was written")
	}

	v.Records++
	t := v.trail(r.OrgID)
	t.begun = true
	if r.Hash != r.Digest() {
		v.find(r.OrgID, r.Seq, "the record was changed: its hash is another one")
	}
	switch {
	case r.ID != Identifier(r.Seq):
		v.find(r.OrgID, r.Seq, "the record was changed: _id and seq differ")
	case r.Seq > t.seq+1:
		v.find(r.OrgID, t.seq+1, "records are missing: number %d follows number %d", r.Seq, t.seq)
	case r.Seq <= t.seq:
		v.find(r.OrgID, r.Seq, "the record was inserted or moved: it follows number %d", t.seq)
	case r.Prev != t.hash:
		v.find(r.OrgID, r.Seq, "the record does not follow the one before: one of them was replaced")
	}
	t.seq, t.hash = r.Seq, r.Hash
	for _, a := range v.Anchors {
		if a.OrgID == r.OrgID && a.Seq == r.Seq && a.Hash != r.Hash {
			v.find(r.OrgID, r.Seq, "the record is not the one that a checkpoint kept elsewhere names")
		}
	}
}

// Checkpoint reads a checkpoint.
func (v *Verifier) Checkpoint(c Checkpoint) {
	t := v.trail(c.OrgID)
	switch valid, known := c.Valid(v.Keys); {
	case !known:
		v.find(c.OrgID, c.Seq, "key %s, which signed the checkpoint, is not known: name it", Bounded(c.Key, 40))
	case !valid:
		v.find(c.OrgID, c.Seq, "the signature of the checkpoint is wrong: it was changed")
	}
	if c.Kind == Floor {
		if t.begun {
			v.find(c.OrgID, c.Seq, "a floor stands after records or after another floor")
		}
		t.begun, t.seq, t.hash, t.confirmed, t.before, t.floor = true, c.Seq, c.Hash, c.Seq, c.Hash, c
		return
	}
	if c.First != t.confirmed+1 || c.Before != t.before {
		v.find(c.OrgID, c.First, "a checkpoint does not follow the one before: a batch is missing, or was inserted or moved")
	}
	if c.Seq != t.seq || c.Hash != t.hash {
		v.find(c.OrgID, c.Seq, "the checkpoint names record %d, the records end with %d: records were removed, added or replaced", c.Seq, t.seq)
	}
	t.begun, t.confirmed, t.before = true, c.Seq, c.Hash
}

// End is called after the last line.
func (v *Verifier) End() {
	for org, t := range v.trails {
		if t.seq != t.confirmed {
			v.find(org, t.confirmed+1, "no checkpoint covers the records from here on: it was removed, or records were added")
		}
	}
	for _, a := range v.Anchors {
		if valid, _ := a.Valid(v.Keys); !valid {
			v.find(a.OrgID, a.Seq, "the checkpoint kept elsewhere is not signed by a known key")
		} else if t := v.trail(a.OrgID); t.seq < a.Seq {
			v.find(a.OrgID, t.seq+1, "the trail was cut: it ends with %d, a checkpoint kept elsewhere names %d", t.seq, a.Seq)
		}
	}
}
