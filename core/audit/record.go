// Package audit implements the audit trail: the contents of records, the hash chain that
// reveals changes, and the verification of a trail.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Record is one entry of the trail of an organisation (docs/wire/audit.md#records). The
// members have the order in which they are hashed.
type Record struct {
	ID           string       `json:"_id"` // Seq in hex
	Seq          uint64       `json:"seq"` // 1, 2, 3 … in the trail of the organisation
	ReqID        string       `json:"req_id"`
	OrgID        tenant.ID    `json:"org_id"` // or Installation
	Date         string       `json:"date"`   // RFC 1123
	Timestamp    int64        `json:"timestamp"`
	IP           string       `json:"ip"`
	User         string       `json:"user"`   // e-mail address of the user, if a user called
	Action       string       `json:"action"` // summary of the operation
	Method       string       `json:"method"`
	URL          string       `json:"url"` // with its query, credentials masked
	Status       int          `json:"status"`
	Diff         []Difference `json:"diff,omitempty"`
	RequestDump  string       `json:"request_dump,omitempty"`  // see DumpRequest; only with detailed recording
	ResponseDump string       `json:"response_dump,omitempty"` // see DumpResponse
	Actor        string       `json:"actor"`                   // user ID, "admin", "node", or the task of the program itself
	Behalf       string       `json:"on_behalf_of"`            // reason for the access, if the caller is not a member of the organisation
	Operation    string       `json:"operation"`               // operation ID
	Subjects     []Subject    `json:"subjects,omitempty"`      // the written records
	More         int          `json:"more,omitempty"`          // number of subjects and differences that are left out
	Verdict      string       `json:"verdict"`                 // Allowed, or the code of the refusal
	Count        int          `json:"count,omitempty"`         // number of equal calls that the record stands for, if several
	Prev         string       `json:"prev"`                    // hash of the record before, or Genesis
	Hash         string       `json:"hash"`                    // of all members above

	at time.Time // Timestamp with fractions of a second, until the record is stored
}

// Allowed is the verdict of a call that was carried out.
const Allowed = "allowed"

// Installation is the organisation of records that belong to none: calls of unknown callers,
// users without an organisation. No organisation can have this identifier.
const Installation tenant.ID = "*"

// Subject is one record that a commit wrote.
type Subject struct {
	Op   string `json:"op"` // created, updated or deleted
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// Limits of the texts of a record: clients choose some of them.
const (
	maxText     = 512
	maxURL      = 1024
	MaxSubjects = 50 // subjects in one record
)

// Genesis is the previous hash of the first record of a trail.
const Genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// Identifier returns the identifier of the record with a number.
func Identifier(seq uint64) string { return fmt.Sprintf("%024x", seq) }

// At returns r with its time.
func (r Record) At(t time.Time) Record {
	r.Timestamp, r.Date, r.at = t.Unix(), t.UTC().Format(time.RFC1123), t
	return r
}

// Time returns the time of a record that is not stored yet.
func (r *Record) Time() time.Time { return r.at }

// Link returns r as the next record after another one: with limited texts, its number and its
// hash.
func (r Record) Link(seq uint64, prev string) Record {
	r.link(new(bytes.Buffer), seq, prev)
	return r
}

// end is the end of a canonical text without a hash: the hash is the last member.
const end = "\"}\n"

// link does Link in place, and appends the canonical text to b as a line.
func (r *Record) link(b *bytes.Buffer, seq uint64, prev string) {
	r.bound()
	r.Seq, r.ID, r.Prev, r.Hash = seq, Identifier(seq), prev, ""
	begin := b.Len()
	r.encode(b)
	sum := sha256.Sum256(bytes.TrimSuffix(b.Bytes()[begin:], []byte("\n")))
	r.Hash = hex.EncodeToString(sum[:])
	if b.Len() > begin {
		b.Truncate(b.Len() - len(end))
		b.WriteString(r.Hash)
		b.WriteString(end)
	}
}

// bound shortens the texts that clients choose.
func (r *Record) bound() {
	for _, text := range [...]*string{&r.ReqID, &r.IP, &r.User, &r.Action, &r.Method, &r.Actor, &r.Behalf, &r.Operation, &r.Verdict} {
		*text = Bounded(*text, maxText)
	}
	r.URL, r.RequestDump, r.ResponseDump = Bounded(r.URL, maxURL), Bounded(r.RequestDump, maxRequestDump), Bounded(r.ResponseDump, maxResponseDump)
	if n := len(r.Subjects) - MaxSubjects; n > 0 {
		r.Subjects, r.More = r.Subjects[:MaxSubjects], r.More+n
	}
	for i, s := range r.Subjects {
		r.Subjects[i] = Subject{Bounded(s.Op, maxText), Bounded(s.Kind, maxText), Bounded(s.ID, maxText)}
	}
}

// Bounded returns a valid text of at most n bytes, which JSON can represent unchanged.
func Bounded(text string, n int) string {
	if len(text) > n {
		text = text[:n]
	}
	if utf8.ValidString(text) { // a fast path: ASCII is checked eight bytes at a time
		return text
	}
	return strings.ToValidUTF8(text, "?")
}

// Canonical returns the canonical text of a record.
func (r Record) Canonical() []byte {
	var b bytes.Buffer
	r.encode(&b)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// encode appends the canonical text as a line: the same as encoding/json without HTML escapes,
// but faster, because busy services write thousands of records a second. It appends nothing
// when a difference is not JSON.
func (r *Record) encode(line *bytes.Buffer) {
	w := writer{line.AvailableBuffer(), true}
	w.text(`{"_id":`, r.ID)
	w.number(`,"seq":`, int64(r.Seq))
	w.text(`,"req_id":`, r.ReqID)
	w.text(`,"org_id":`, string(r.OrgID))
	w.text(`,"date":`, r.Date)
	w.number(`,"timestamp":`, r.Timestamp)
	w.text(`,"ip":`, r.IP)
	w.text(`,"user":`, r.User)
	w.text(`,"action":`, r.Action)
	w.text(`,"method":`, r.Method)
	w.text(`,"url":`, r.URL)
	w.number(`,"status":`, int64(r.Status))
	for i, d := range r.Diff {
		w.item(`,"diff":[`, i)
		w.text(`{"subject":`, d.Subject)
		w.text(`,"path":`, d.Path)
		w.value(`,"from":`, d.From)
		w.value(`,"to":`, d.To)
		w.b = append(w.b, '}')
	}
	w.end(len(r.Diff))
	w.someText(`,"request_dump":`, r.RequestDump)
	w.someText(`,"response_dump":`, r.ResponseDump)
	w.text(`,"actor":`, r.Actor)
	w.text(`,"on_behalf_of":`, r.Behalf)
	w.text(`,"operation":`, r.Operation)
	for i, s := range r.Subjects {
		w.item(`,"subjects":[`, i)
		w.text(`{"op":`, s.Op)
		w.text(`,"kind":`, s.Kind)
		w.text(`,"id":`, s.ID)
		w.b = append(w.b, '}')
	}
	w.end(len(r.Subjects))
	w.some(`,"more":`, r.More)
	w.text(`,"verdict":`, r.Verdict)
	w.some(`,"count":`, r.Count)
	w.text(`,"prev":`, r.Prev)
	w.text(`,"hash":`, r.Hash)
	if w.ok {
		line.Write(append(w.b, "}\n"...))
	}
}

// Digest returns the hash of a record: SHA-256 of its canonical text without the hash.
func (r Record) Digest() string {
	r.Hash = ""
	sum := sha256.Sum256(r.Canonical())
	return hex.EncodeToString(sum[:])
}
