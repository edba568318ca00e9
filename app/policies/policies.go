package policies

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Settings are the switches that concern policies.
type Settings struct {
	Ownership bool // enable_ownership
	UnsafeIDs bool // allow_unsafe_policy_ids
}

// Service keeps the policies.
type Service struct {
	Store    store.Store
	APIs     *store.Kind[apidef.API] // its alias is the API ID
	NewID    system.NewID
	Now      system.Clock
	PageSize int
	Settings Settings
	// References knows who names a policy; nil: only what the store indexes.
	References *crud.References
}

func (s *Service) definitions() *definitions {
	return &definitions{kind: s.APIs, known: map[string]*apidef.API{}}
}

// viewer is who asks, as far as ownership is concerned.
func (s *Service) viewer(p operation.Principal) apidef.Viewer {
	return apiViewer(p, s.Settings.Ownership)
}

// apiViewer is who looks at policies through the APIs of these, of whatever family.
func apiViewer(p operation.Principal, ownership bool) apidef.Viewer {
	return crud.Viewer{Who: p, Door: access.Policies}.Of(ownership, access.Read)
}

// Codes of faults.
const (
	codeMissing   = policy.Kind + ".not_found"
	codeTaken     = policy.Kind + ".taken"
	codePathID    = policy.Kind + ".path_id"
	codeSearchID  = policy.Kind + ".policy_ids"
	codeNameTaken = policy.Kind + ".name_taken"
	codeIDTaken   = policy.Kind + ".id_taken"
	codeNotOwned  = policy.Kind + ".not_owned"
)

func notOwned() error { return fault.New(fault.Unauthenticated, codeNotOwned, "Not authorised") }

// checkPath refuses an identifier in a path that no policy could have. A policy
// that merely does not exist is not found: upsert tools tell the two apart.
func (s *Service) checkPath(id string) error {
	if policy.ValidID(id, s.Settings.UnsafeIDs) {
		return nil
	}
	return fault.New(fault.Invalid, codePathID, "Invalid policy ID.").At("id")
}

// taken says which unique value of a policy is in use.
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
	ID    string `path:"id" doc:"id, or else _id, of the policy."`
}

type writeByID struct {
	byID
	Match operation.Match
}

// get returns a policy that the caller may see.
func (s *Service) get(ctx context.Context, r store.Reader, in byID, d *definitions) (store.Stored[policy.Policy], error) {
	p, err := Kind.Get(ctx, r, in.ID)
	if err == nil {
		err = s.admit(ctx, r, p.Value, in, d)
	}
	return p, err
}

func (s *Service) admit(ctx context.Context, r store.Reader, p policy.Policy, in byID, d *definitions) error {
	ok, err := d.visible(ctx, r, p, s.viewer(in.Who))
	if err == nil && !ok {
		err = notOwned()
	}
	return err
}

// Get returns one policy.
func (s *Service) Get(ctx context.Context, in byID) (operation.Entity[policy.View], error) {
	var p store.Stored[policy.Policy]
	err := s.checkPath(in.ID)
	if err == nil {
		err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
			p, err = s.get(ctx, r, in, s.definitions())
			return err
		})
	}
	if err != nil {
		return operation.Entity[policy.View]{}, err
	}
	return operation.Entity[policy.View]{Value: p.Value.View(), Tag: operation.Tag(p.Serial)}, nil
}

type createIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	Draft policy.Draft `body:""`
}

// Create stores a new policy. APIs are looked up before the unit of work that
// writes: they are many, and unknown ones are tolerated anyway.
func (s *Service) Create(ctx context.Context, in createIn) (operation.Receipt, error) {
	var p policy.Policy
	id, now, d := s.NewID(), s.Now(), s.definitions()
	err := s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		if err := d.load(ctx, r, in.Draft.APIs()); err != nil {
			return err
		}
		if err := s.mayAdd(ctx, r, in.Draft.APIs(), nil, in.Who, d); err != nil {
			return err
		}
		rules, failed := d.rules(ctx, r, s.Settings.UnsafeIDs)
		var err error
		p, err = policy.New(id, in.Scope.Org(), now, in.Draft, rules)
		return cmp.Or(*failed, err)
	})
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := store.Write(ctx, s.Store, in.Scope, func(w store.Writer) (store.Serial, error) { return Kind.Create(ctx, w, p) })
	if err != nil {
		return operation.Receipt{}, taken(err)
	}
	return operation.Receipt{Message: p.ID(), Tag: operation.Tag(at)}, nil
}

// mayAdd refuses to give access to APIs that exist and belong to others
// (docs/wire/ownership.md#rules).
func (s *Service) mayAdd(ctx context.Context, r store.Reader, ids, old []string, who operation.Principal, d *definitions) error {
	v := s.viewer(who)
	if v.All {
		return nil
	}
	had := make(map[string]bool, len(old))
	for _, id := range old {
		had[id] = true
	}
	for _, id := range ids {
		if had[id] {
			continue
		}
		a, ok, err := d.find(ctx, r, id)
		if err != nil {
			return err
		}
		if ok && !a.VisibleTo(v) {
			return notOwned()
		}
	}
	return nil
}

type replaceIn struct {
	writeByID
	Draft policy.Draft `body:""`
}

// Replace replaces the document of a policy.
func (s *Service) Replace(ctx context.Context, in replaceIn) (operation.Receipt, error) {
	return s.rewrite(ctx, in.writeByID, func(policy.Policy) (policy.Draft, error) { return in.Draft, nil })
}

// rewrite replaces the document of a policy by what draft makes of it. The APIs
// are looked up beforehand, as on creation; one that draft names only inside the
// unit of work is looked up there.
func (s *Service) rewrite(ctx context.Context, in writeByID, draft func(policy.Policy) (policy.Draft, error)) (operation.Receipt, error) {
	if err := s.checkPath(in.ID); err != nil {
		return operation.Receipt{}, err
	}
	now, d := s.Now(), s.definitions()
	ahead, err := s.prepare(ctx, in.byID, draft, now, d)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := store.Write(ctx, s.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		p, err := Kind.Revise(ctx, w, in.ID, in.Match.Check, func(p policy.Policy) (policy.Policy, error) {
			if next, err, ok := ahead.replaces(p); ok {
				return next, err
			}
			return s.replacement(ctx, w, p, in.byID, draft, now, d)
		})
		return p.Serial, err
	})
	if err != nil {
		return operation.Receipt{}, taken(err)
	}
	return operation.Receipt{Message: "Data updated", Tag: operation.Tag(at)}, nil
}

// plan is what a rewrite is going to store, made before it has the writer: making a
// large policy takes longer than storing it.
type plan struct {
	of   []byte // the policy that it replaces, as stored
	next policy.Policy
	err  error
}

// replaces returns what the plan came to, if it was made of this policy.
func (p plan) replaces(old policy.Policy) (policy.Policy, error, bool) {
	text, err := old.MarshalJSON()
	return p.next, p.err, err == nil && p.of != nil && bytes.Equal(text, p.of)
}

// prepare looks up the APIs that a rewrite is going to ask about, and makes what it is
// going to store. Trouble is for the unit of work to tell.
func (s *Service) prepare(ctx context.Context, in byID, draft func(policy.Policy) (policy.Draft, error), now time.Time, d *definitions) (out plan, err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		p, err := Kind.Get(ctx, r, in.ID)
		if err != nil {
			return err
		}
		var ids []string
		if next, err := draft(p.Value); err == nil { // if not, the unit of work says so
			ids = next.APIs()
		}
		if !s.viewer(in.Who).All {
			ids = slices.Concat(ids, p.Value.APIs())
		}
		if err := d.load(ctx, r, ids); err != nil {
			return err
		}
		if out.of, err = p.Value.MarshalJSON(); err == nil {
			out.next, out.err = s.replacement(ctx, r, p.Value, in, draft, now, d)
		}
		return err
	})
	return out, err
}

func (s *Service) replacement(ctx context.Context, r store.Reader, p policy.Policy, in byID,
	draft func(policy.Policy) (policy.Draft, error), now time.Time, d *definitions) (policy.Policy, error) {
	if err := s.admit(ctx, r, p, in, d); err != nil {
		return p, err
	}
	next, err := draft(p)
	if err != nil {
		return p, err
	}
	if err := s.mayAdd(ctx, r, next.APIs(), p.APIs(), in.Who, d); err != nil {
		return p, err
	}
	rules, failed := d.rules(ctx, r, s.Settings.UnsafeIDs)
	q, err := p.Replace(next, now, rules)
	return q, cmp.Or(*failed, err)
}

// Delete removes a policy. Keys that carry it stay, and stop working
// (docs/wire/policies.md#reads-and-writes).
func (s *Service) Delete(ctx context.Context, in writeByID) (operation.Receipt, error) {
	if err := s.checkPath(in.ID); err != nil {
		return operation.Receipt{}, err
	}
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		_, err := s.get(ctx, w, in.byID, s.definitions())
		if errors.Is(err, store.ErrDamaged) && !s.viewer(in.Who).All { // nobody can tell whose it is
			err = notOwned()
		}
		if err != nil && !errors.Is(err, store.ErrDamaged) {
			return err
		}
		_, err = Kind.Delete(ctx, w, in.ID, in.Match.Check)
		return err
	})
	return operation.Receipt{Message: "Data deleted"}, err
}

// Forget removes an API that is about to be deleted from the policies that give
// access to it, inside the unit of work that deletes it; a policy keeps its last
// API (docs/wire/policies.md#reads-and-writes).
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
