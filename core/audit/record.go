// Package audit holds the rules of the audit trail: what a record says, how records
// are chained so that no change of them goes unseen, and how a trail is verified.
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

// Record is one entry of the trail of an organisation (docs/wire/audit.md#records).
// The members stand in the order in which they are hashed.
type Record struct {
	ID           string       `json:"_id"` // Seq in hex
	Seq          uint64       `json:"seq"` // 1, 2, 3 … in the trail of the organisation
	ReqID        string       `json:"req_id"`
	OrgID        tenant.ID    `json:"org_id"` // or Installation
	Date         string       `json:"date"`   // RFC 1123
	Timestamp    int64        `json:"timestamp"`
	IP           string       `json:"ip"`
	User         string       `json:"user"`   // address of the user, if one called
	Action       string       `json:"action"` // summary of the operation
	Method       string       `json:"method"`
	URL          string       `json:"url"` // with its query, credentials masked
	Status       int          `json:"status"`
	Diff         []Difference `json:"diff,omitempty"`
	RequestDump  string       `json:"request_dump,omitempty"`  // see DumpRequest; only with detailed recording
	ResponseDump string       `json:"response_dump,omitempty"` // see DumpResponse
	Actor        string       `json:"actor"`                   // user ID, "admin", "node", or what the program does by itself
	Behalf       string       `json:"on_behalf_of"`            // whose data it was when the caller is not a member: why
	Operation    string       `json:"operation"`               // operation ID
	Subjects     []Subject    `json:"subjects,omitempty"`      // what was written
	More         int          `json:"more,omitempty"`          // subjects and differences that are left out
	Verdict      string       `json:"verdict"`                 // Allowed, or the code of the refusal
	Count        int          `json:"count,omitempty"`         // how many equal calls the record stands for, when several
	Prev         string       `json:"prev"`                    // hash of the record before, or Genesis
	Hash         string       `json:"hash"`                    // of all members above

	at time.Time // Timestamp with its fractions, until the record is stored
}

// Allowed is the verdict on what was carried out.
const Allowed = "allowed"

// Installation is the organisation of what belongs to none: calls of strangers, users
// without an organisation. No organisation can have this identifier.
const Installation tenant.ID = "*"

// Subject is one record that a commit wrote.
type Subject struct {
	Op   string `json:"op"` // created, updated or deleted
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// Bounds of the texts of a record: clients choose some of them.
const (
	maxText     = 512
	maxURL      = 1024
	MaxSubjects = 50 // that a record names
)

// Genesis is the hash before the first record of a trail.
const Genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// Identifier returns the identifier of a record by its number.
func Identifier(seq uint64) string { return fmt.Sprintf("%024x", seq) }

// At returns r with its time.
func (r Record) At(t time.Time) Record {
	r.Timestamp, r.Date, r.at = t.Unix(), t.UTC().Format(time.RFC1123), t
	return r
}

// Time returns the time of a record that is not stored yet.
func (r *Record) Time() time.Time { return r.at }

// Link returns r as the record after another one: bounded, numbered and hashed.
func (r Record) Link(seq uint64, prev string) Record {
	r.link(new(bytes.Buffer), seq, prev)
	return r
}

// end is how a canonical text without a hash ends: the hash is the last member.
const end = "\"}\n"

// link is Link of r itself; it appends the canonical text as a line as well.
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

// bound cuts what clients choose.
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

// Bounded returns a text of at most n bytes that JSON can hold as it is.
func Bounded(text string, n int) string {
	if len(text) > n {
		text = text[:n]
	}
	if utf8.ValidString(text) { // ASCII passes eight bytes at a time
		return text
	}
	return strings.ToValidUTF8(text, "?")
}

// Canonical returns the one text of a record.
func (r Record) Canonical() []byte {
	var b bytes.Buffer
	r.encode(&b)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// encode appends the canonical text as a line, the one that encoding/json would write
// without escapes for HTML: trails of busy services have thousands of records a second.
// It appends nothing when a difference is no JSON: no record has this text.
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
