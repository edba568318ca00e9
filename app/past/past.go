// Package past returns the changes of a record and its older versions, from the change
// log of the store, as far as the log goes back, without secrets
// (docs/wire/history.md).
package past

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/audit"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of faults.
const (
	CodeKind     = "history.kind"
	CodeMissing  = "history.not_found"
	CodeRevision = "history.revision"
	CodeOrg      = "history.organisation"
)

// Bounds of one response.
const (
	maxChanges = 200     // of a record; older ones are left out
	maxCompare = 1 << 20 // bytes of a document; larger ones are not compared
	maxTold    = 8 << 20 // bytes of documents that are compared for one response; older ones are not compared
	maxDiffs   = 50      // of one change
	maxName    = 256     // bytes of an ID in the path
)

// Store is what history needs of a store.
type Store interface {
	store.Store
	store.Historian
}

// Service returns the history of records. Make one with New.
type Service struct {
	store      Store // nil: the store has no history
	kinds      map[string]crud.Registration
	names      []string // of the kinds
	operations func() []operation.Operation
	pageSize   int
}

// New returns the service for the kinds whose registration has Past. operations returns
// all operations; it is called with each request.
func New(t crud.Tools, ks crud.Kinds, operations func() []operation.Operation) *Service {
	s := &Service{kinds: map[string]crud.Registration{}, operations: operations, pageSize: t.PageSize}
	s.store, _ = t.Store.(Store)
	for _, r := range ks {
		if r.Past != nil {
			s.kinds[r.Kind] = r
			s.names = append(s.names, r.Kind)
		}
	}
	return s
}

// Record is the record that a path names.
type Record struct {
	Scope tenant.Scope
	Kind  string `path:"kind" doc:"Kind of the record: api, policy, webhook, asset or clientidp."`
	ID    string `path:"id" doc:"Identifier of the record. For a deleted record: its database ID."`
}

// Change is one change of a record.
type Change struct {
	Revision  store.Revision     `json:"revision" doc:"Revision of the store after the change; later changes have greater numbers."`
	Date      time.Time          `json:"date"`
	Op        string             `json:"op" doc:"created, updated or deleted."`
	Action    string             `json:"action" doc:"Summary of the operation."`
	Operation string             `json:"operation" doc:"ID of the operation."`
	User      string             `json:"user" doc:"E-mail address of the user, if a user made the change."`
	Actor     string             `json:"actor" doc:"ID of the user, admin, or the name of a task of the program itself."`
	Request   string             `json:"req_id" doc:"ID of the request."`
	Diff      []audit.Difference `json:"diff" doc:"Places in which the record changed. Secrets are ***."`
	More      int                `json:"more,omitempty" doc:"Number of places that are left out."`
}

// ListIn is the input of List.
type ListIn struct {
	Record
	operation.Paging
}

// List returns the changes of a record, the newest first.
func (s *Service) List(ctx context.Context, in ListIn) (out operation.Page[Change], err error) {
	out = operation.Page[Change]{Items: []Change{}, Pages: 1}
	from, to, err := in.Bounds(s.pageSize)
	if err != nil {
		return out, err
	}
	now, err := s.find(ctx, in.Record)
	if err != nil {
		return out, err
	}
	secrets, actions := s.rows()
	total, after, left := 0, now.Doc, maxTold
	for c, err := range s.store.History(ctx, in.Scope, in.Kind, now.ID) {
		if err != nil {
			return out, err
		}
		if now.Rev > 0 && c.Rev > now.Rev { // a change after the record was read
			continue
		}
		ch := c.Changes[0]
		before, err := ch.Before(after)
		if err != nil {
			return out, err
		}
		if total >= from && total < to {
			compare := len(before) <= maxCompare && len(after) <= maxCompare
			if compare {
				left -= len(before) + len(after)
			}
			out.Items = append(out.Items, told(c, actions, before, after, secrets, compare && left >= 0))
		}
		after = before
		if total++; total == maxChanges {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if total == 0 {
		return out, missing(in.Record)
	}
	if to != operation.AllItems {
		out.Pages = max(1, (total+s.pageSize-1)/s.pageSize)
	}
	return out, nil
}

// told returns one change. With compare it has the places in which the documents
// differ.
func told(c store.Commit, actions map[string]string, before, after []byte, secrets []string, compare bool) Change {
	ch := c.Changes[0]
	out := Change{Revision: c.Rev, Date: c.At.UTC(), Op: string(ch.Op), Action: actions[c.By.Operation], Operation: c.By.Operation, User: c.By.User, Actor: c.By.Actor, Request: c.By.Request}
	switch {
	case ch.Op != store.Updated: // the whole document is new or deleted
	case !compare:
		out.More = 1
	default:
		out.Diff, out.More = audit.NewComparer(secrets).Differences(ch.Kind+" "+ch.ID, before, after, maxDiffs)
	}
	if out.Diff == nil {
		out.Diff = []audit.Difference{}
	}
	return out
}

// GetIn is the input of Get.
type GetIn struct {
	Record
	Revision string `path:"revision" doc:"Revision of a change of the record."`
}

// Past is the version of a record after a change.
type Past struct {
	Kind     string          `json:"kind"`
	ID       string          `json:"id" doc:"Database ID of the record."`
	Revision store.Revision  `json:"revision"`
	Document json.RawMessage `json:"document" doc:"The record in the format that writes take. Secrets are ***."`
	Hidden   []string        `json:"hidden" doc:"JSON pointers to the hidden secrets."`
}

// Get returns the version of a record after one of its changes.
func (s *Service) Get(ctx context.Context, in GetIn) (out Past, err error) {
	n, err := strconv.ParseUint(in.Revision, 10, 63)
	if err != nil || n == 0 {
		return out, fault.New(fault.Invalid, CodeRevision, "the revision of a change is a whole number, 1 or more").At("revision")
	}
	now, err := s.find(ctx, in.Record)
	if err != nil {
		return out, err
	}
	rev := store.Revision(n)
	text, err := store.At(ctx, s.store, in.Scope, in.Kind, now.ID, rev)
	switch {
	case errors.Is(err, store.ErrExpired):
		return out, fault.New(fault.NotFound, CodeMissing, "history does not go back to revision %d any more", n).At("revision")
	case errors.Is(err, store.ErrNotFound):
		return out, fault.New(fault.NotFound, CodeMissing, "there was no such record at revision %d", n).At("revision")
	case err != nil:
		return out, err
	}
	body, err := s.kinds[in.Kind].Past(store.Record{Org: in.Scope.Org(), Kind: in.Kind, ID: now.ID, Doc: text})
	if err != nil {
		return out, err
	}
	secrets, _ := s.rows()
	out = Past{Kind: in.Kind, ID: now.ID, Revision: rev}
	out.Document, out.Hidden, err = audit.Mask(body, secrets)
	if out.Hidden == nil {
		out.Hidden = []string{}
	}
	return out, err
}

// find returns the record that a path names in its current version. If the record does
// not exist any more, the result has only the ID.
func (s *Service) find(ctx context.Context, in Record) (rec store.Record, err error) {
	r, known := s.kinds[in.Kind]
	switch {
	case in.Scope.Org() == "": // IDs are unique only within an organisation
		return rec, fault.New(fault.Invalid, CodeOrg, "the history belongs to an organisation: send the request as one of its users")
	case s.store == nil:
		return rec, missing(in)
	case !known || len(in.ID) > maxName:
		return rec, fault.New(fault.NotFound, CodeKind, "there is no history of this kind of records").At("kind")
	}
	err = s.store.View(ctx, in.Scope, func(reader store.Reader) error {
		v, err := r.Untyped.Get(ctx, reader, in.ID)
		if fault.KindOf(err) == fault.NotFound || errors.Is(err, store.ErrNotFound) {
			rec = store.Record{ID: in.ID}
			return nil
		}
		if err != nil {
			return err
		}
		rec, err = reader.Get(ctx, in.Kind, r.Untyped.ID(v.Value))
		rec.Doc = slices.Clone(rec.Doc)
		return err
	})
	return rec, err
}

func missing(in Record) error {
	return fault.New(fault.NotFound, CodeMissing, "there is no record '%s' of this kind, or its history has been deleted", audit.Bounded(in.ID, maxName)).At("id")
}

// rows returns the names of the members that the rows of the table redact, and the
// summaries of the operations by ID.
func (s *Service) rows() (secrets []string, actions map[string]string) {
	actions = map[string]string{}
	for _, o := range s.operations() {
		actions[o.ID] = o.Summary
		if o.Surface == operation.Management {
			for _, name := range o.Redact {
				if !slices.Contains(open, name) {
					secrets = append(secrets, name)
				}
			}
		}
	}
	slices.Sort(secrets)
	return slices.Compact(secrets), actions
}

// open are names of members that rows redact in their own bodies, and that documents
// use for other things.
var open = []string{"body", "spec", "oas", "request", "q", "username", "rules", "code", "EmailAddress", "DisplayName"}
