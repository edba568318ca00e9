package policies

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Settings are the configuration settings for policies.
type Settings struct {
	Ownership bool // enable_ownership
	UnsafeIDs bool // allow_unsafe_policy_ids
	// SeparateGateways: no gateway loads APIs of two organisations, so an API ID of one
	// organisation has no meaning in another one.
	SeparateGateways bool
}

// Service manages the policies.
type Service struct {
	Store    store.Store
	APIs     *store.Kind[apidef.API] // its alias is the API ID
	NewID    system.NewID
	Now      system.Clock
	PageSize int
	Settings Settings
	// References finds the records that refer to a policy; nil: only those that the
	// store indexes.
	References *crud.References
	Room       doc.Room // in which a policy must fit that can be sent back
}

// viewer returns the caller as a viewer of APIs of every family, because the APIs of a
// policy decide who sees it.
func (s *Service) viewer(p operation.Principal) apidef.Viewer {
	return crud.Viewer{Who: p, Door: access.Policies}.Of(s.Settings.Ownership, access.Read)
}

// Codes of faults.
const (
	codeMissing   = policy.Kind + ".not_found"
	codeTaken     = policy.Kind + ".taken"
	codePathID    = policy.Kind + ".path_id"
	codeSearchID  = policy.Kind + ".policy_ids"
	codeNameTaken = policy.Kind + ".name_taken"
	codeIDTaken   = policy.Kind + ".id_taken"
	codeLarge     = policy.Kind + ".too_large"
)

// checkPath refuses an ID in a path that is not valid for a policy. A valid ID that
// does not exist leads to NotFound instead: upsert tools distinguish the two.
func (s *Service) checkPath(id string) error {
	if policy.ValidID(id, s.Settings.UnsafeIDs) {
		return nil
	}
	if policy.ValidLetters(id, s.Settings.UnsafeIDs) { // longer than the ID of any policy, so no store has to look it up
		return Kind.Absent()
	}
	return fault.New(fault.Invalid, codePathID, "Invalid policy ID.").At("id")
}

// taken returns the fault that says which unique field of a policy is in use.
func taken(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != codeTaken {
		return err
	}
	if f.Field == byName {
		return fault.New(fault.Invalid, codeNameTaken, "This policy name has already been used. Enter a unique policy name.").At(byName).Because(f.Err)
	}
	return fault.New(fault.Invalid, codeIDTaken, "This policy ID has already been used. Enter a unique policy ID.").At(byPolicyID).Because(f.Err)
}

type byID struct {
	Scope tenant.Scope
	Who   operation.Principal
	ID    string `path:"id" doc:"The id or the _id of the policy. An id takes precedence."`
}

type writeByID struct {
	byID
	Match operation.Match
}

// get returns a policy that the caller may see.
func (s *Service) get(ctx context.Context, r store.Reader, in byID) (store.Stored[policy.Policy], error) {
	p, err := Kind.Get(ctx, r, in.ID)
	if err == nil {
		err = s.admit(ctx, r, p.Value, s.lookup(in.Who))
	}
	return p, err
}

func (s *Service) lookup(who operation.Principal) *lookup { return newLookup(s.APIs, s.viewer(who)) }

// admit refuses a policy that the viewer may not see.
func (s *Service) admit(ctx context.Context, r store.Reader, p policy.Policy, l *lookup) error {
	if l.viewer.All {
		return nil
	}
	if err := l.fetch(ctx, r, p.APIs()); err != nil {
		return err
	}
	return l.known.Admit(p)
}

// Get returns one policy.
func (s *Service) Get(ctx context.Context, in byID) (operation.Entity[policy.View], error) {
	var p store.Stored[policy.Policy]
	err := s.checkPath(in.ID)
	if err == nil {
		err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
			p, err = s.get(ctx, r, in)
			return err
		})
	}
	if err != nil {
		return operation.Entity[policy.View]{}, err
	}
	return operation.EntityOf(p.Value.View(), p.Serial), nil
}

type createIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	Draft policy.Draft `body:""`
}

// Create stores a new policy. It reads the APIs before the unit of work that writes,
// because there may be many, and APIs that do not exist are accepted anyway.
func (s *Service) Create(ctx context.Context, in createIn) (operation.Receipt, error) {
	l := s.lookup(in.Who)
	err := s.Store.View(ctx, in.Scope, func(r store.Reader) error { return l.fetch(ctx, r, in.Draft.APIs()) })
	if err != nil {
		return operation.Receipt{}, err
	}
	if err := l.known.Allow(in.Draft.APIs(), nil); err != nil {
		return operation.Receipt{}, err
	}
	p, err := policy.New(s.NewID(), in.Scope.Org(), s.Now(), in.Draft, s.checks(l))
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := store.Write(ctx, s.Store, in.Scope, func(w store.Writer) (store.Serial, error) { return Kind.Create(ctx, w, p) })
	if err != nil {
		return operation.Receipt{}, taken(err)
	}
	return operation.Receipt{Message: p.ID(), Tag: operation.Tag(at)}, nil
}

func (s *Service) checks(l *lookup) policy.Checks {
	return policy.Checks{UnsafeIDs: s.Settings.UnsafeIDs, APIs: l.known}
}

type replaceIn struct {
	writeByID
	Draft policy.Draft `body:""`
}

// Replace replaces the document of a policy.
func (s *Service) Replace(ctx context.Context, in replaceIn) (operation.Receipt, error) {
	return s.rewrite(ctx, in.writeByID, func(policy.Policy) (policy.Draft, error) { return in.Draft, nil })
}

// rewrite replaces the document of a policy by the result of draft. It computes the new
// policy before the unit of work, because computing a large policy takes longer than
// storing it. The unit of work computes it again if the policy has changed meanwhile.
func (s *Service) rewrite(ctx context.Context, in writeByID, draft func(policy.Policy) (policy.Draft, error)) (operation.Receipt, error) {
	if err := s.checkPath(in.ID); err != nil {
		return operation.Receipt{}, err
	}
	now := s.Now()
	var old []byte // the policy that is replaced, as stored
	var next policy.Policy
	var verdict error
	err := s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		p, err := Kind.Get(ctx, r, in.ID)
		if err != nil {
			return err
		}
		if old, err = p.Value.MarshalJSON(); err == nil {
			next, verdict = s.replacement(ctx, r, p.Value, in.Who, draft, now)
		}
		return err
	})
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := store.Write(ctx, s.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		p, err := Kind.Revise(ctx, w, in.ID, in.Match.Check, func(p policy.Policy) (policy.Policy, error) {
			if text, err := p.MarshalJSON(); err == nil && bytes.Equal(text, old) {
				return next, verdict
			}
			return s.replacement(ctx, w, p, in.Who, draft, now)
		})
		return p.Serial, err
	})
	if err != nil {
		return operation.Receipt{}, taken(err)
	}
	return operation.Receipt{Message: "Data updated", Tag: operation.Tag(at)}, nil
}

// replacement reads the APIs of a policy and of its draft, checks the write, and
// returns the new policy.
func (s *Service) replacement(ctx context.Context, r store.Reader, p policy.Policy, who operation.Principal,
	draft func(policy.Policy) (policy.Draft, error), now time.Time) (policy.Policy, error) {
	l := s.lookup(who)
	if err := s.admit(ctx, r, p, l); err != nil {
		return p, err
	}
	next, err := draft(p)
	if err != nil {
		return p, err
	}
	if err := l.fetch(ctx, r, next.APIs()); err != nil {
		return p, err
	}
	if err := l.known.Allow(next.APIs(), p.APIs()); err != nil {
		return p, err
	}
	return p.Replace(next, now, s.checks(l))
}

// Delete deletes a policy. Keys that have the policy remain, and stop working
// (docs/wire/policies.md#reads-and-writes).
func (s *Service) Delete(ctx context.Context, in writeByID) (operation.Receipt, error) {
	if err := s.checkPath(in.ID); err != nil {
		return operation.Receipt{}, err
	}
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		_, err := s.get(ctx, w, in.byID)
		if errors.Is(err, store.ErrDamaged) && !s.viewer(in.Who).All { // its owners cannot be read
			err = policy.NotOwned()
		}
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			return err
		}
		_, err = Kind.Delete(ctx, w, in.ID, in.Match.Check)
		return err
	})
	return operation.Receipt{Message: "Data deleted"}, err
}

// Forget removes an API that is about to be deleted from the policies that give access
// to it, in the unit of work that deletes the API. A policy keeps its last API
// (docs/wire/policies.md#reads-and-writes).
func (s *Service) Forget(ctx context.Context, w store.Writer, apiID string) error {
	now := s.Now()
	var changed []string
	for p, err := range naming(ctx, w, apiID) {
		if err != nil {
			return err
		}
		if _, ok := p.Value.Without(apiID, now); ok {
			changed = append(changed, p.Value.PolicyID())
		}
	}
	for _, id := range changed {
		_, err := Kind.Edit(ctx, w, id, nil, func(p policy.Policy) (policy.Policy, error) {
			p, _ = p.Without(apiID, now)
			return p, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
