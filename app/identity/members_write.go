package identity

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// NewUser is the body of a request for a new user.
type NewUser struct {
	identity.UserChange `needs:"first_name,last_name,email_address"`

	Password string `json:"password,omitempty" doc:"When absent, the user can set a first password without a current one."`
}

type addIn struct {
	caller
	User NewUser `body:""`
}

// Create creates a user of the caller's organisation, with an access key of its own.
func (s Users) Create(ctx context.Context, in addIn) (operation.Receipt, error) {
	u, err := identity.NewMember(s.NewID(), in.Scope.Org(), s.Now(), in.User.UserChange)
	if err != nil {
		return operation.Receipt{}, err
	}
	if u, err = s.equip(u, s.Keys.NewKey(), in.User.Password); err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.add(ctx, u, func(w store.Writer) error { return s.grant(ctx, w, in.Who, identity.User{Grouped: true}, u) })
	return operation.Receipt{Message: "User and session have been created", Meta: u.ID, Tag: operation.Tag(at)}, err
}

// grant refuses permissions that the caller cannot give: those that the user, its
// groups included, has after a write and did not have before. Inactive groups count as
// active, because they may be activated later.
func (s Users) grant(ctx context.Context, r store.Reader, who operation.Principal, before, after identity.User) error {
	had, err := potential(ctx, r, before)
	if err != nil {
		return err
	}
	has, err := potential(ctx, r, after)
	if err != nil {
		return err
	}
	if err := granting(who, revived(before.Active, after.Active, had), has); err != nil {
		return err
	}
	if err := s.reaching(ctx, r, who, operation.Principal{ID: before.ID, Groups: before.Groups()}, operation.Principal{ID: after.ID, Groups: after.Groups()}); err != nil {
		return err
	}
	// The user's own map decides as soon as the groups are gone.
	return granting(who, revived(before.Active, after.Active, before.Permissions), after.Permissions)
}

// reaching refuses a write after which the principal after owns APIs that the caller
// does not see and that the principal before did not own.
func (s *Service) reaching(ctx context.Context, r store.Reader, who, before, after operation.Principal) error {
	if s.Gains == nil || before.ID == after.ID && !slices.ContainsFunc(after.Groups, func(id string) bool { return !slices.Contains(before.Groups, id) }) {
		return nil
	}
	gains, err := s.Gains(ctx, r, who, before, after)
	if err == nil && gains {
		err = fault.New(fault.Denied, codeGrant, "access denied: this opens APIs of other owners, which you do not see: an admin can do it")
	}
	return err
}

// potential returns the permissions of a user when all its groups are active.
func potential(ctx context.Context, r store.Reader, u identity.User) (access.Map, error) {
	list, err := groupsOf(ctx, r, u)
	for i := range list {
		list[i].Active = true
	}
	return u.Effective(list...), err
}

type writeIn struct {
	memberIn
	Match operation.Match
}

type changeIn struct {
	writeIn
	Change identity.UserChange `body:""`
}

// Update changes the fields that a request has, and keeps the rest.
func (s Users) Update(ctx context.Context, in changeIn) (operation.Receipt, error) {
	at, err := s.edit(ctx, in.writeIn, in.Change.Email != nil, func(w store.Writer, u identity.User) (identity.User, error) {
		v, err := u.Apply(in.Change)
		if err != nil {
			return v, err
		}
		if v.Email != u.Email {
			// Passwords are mailed to the address: its new owner gets what the user may
			// do.
			if s.grant(ctx, w, in.Who, identity.User{Grouped: true}, u) != nil {
				return v, fault.New(fault.Denied, codeGrant, "access denied: you cannot change the address of a user who has permissions that you do not have").At("email_address")
			}
			if err := s.free(ctx, w, v); err != nil {
				return v, err
			}
		}
		if err := s.grouped(ctx, w, u, v); err != nil {
			return v, err
		}
		return v, s.grant(ctx, w, in.Who, u, v)
	})
	return operation.Receipt{Message: "User updated", Tag: operation.Tag(at)}, err
}

// Revoke deactivates a user: its access key is refused and its sessions end.
func (s Users) Revoke(ctx context.Context, in writeIn) (operation.Receipt, error) {
	at, err := s.edit(ctx, in, false, func(_ store.Writer, u identity.User) (identity.User, error) {
		u.Active = false
		return u, nil
	})
	return operation.Receipt{Message: "User revoked", Tag: operation.Tag(at)}, err
}

// ResetKey gives a user a new access key. Only the user can read it, and no response of
// ResetKey shows it.
func (s Users) ResetKey(ctx context.Context, in writeIn) (operation.Receipt, error) {
	if s.KeepKeys && in.Who.ID != in.ID {
		return operation.Receipt{}, fault.New(fault.Denied, codeKept, "access denied: access keys of other users cannot be reset here; each user resets its own")
	}
	key := s.Keys.NewKey()
	at, err := s.edit(ctx, in, false, func(w store.Writer, u identity.User) (identity.User, error) {
		// Clients that use the old key are told which key replaces it. A key that
		// cannot be decrypted is not announced, because its clients would not recognise
		// it.
		if old, _, err := s.Keys.Open(u.Credentials.KeySealed); err == nil {
			if err := notify.PostSealed(ctx, w, s.Keys.Seal, u.ID, signal.KeyReset(old, key)); err != nil {
				return u, err
			}
		}
		return s.sealed(u, key)
	})
	return operation.Receipt{Message: "User session renewed", Tag: operation.Tag(at)}, err
}

// codeKept is the code of the fault for the access key of another user.
const codeKept = identity.UserKind + ".key_kept"

// edit changes a user of the caller's organisation. wide is set by writes that must
// also read other organisations.
func (s Users) edit(ctx context.Context, in writeIn, wide bool, fn func(store.Writer, identity.User) (identity.User, error)) (store.Serial, error) {
	scope := in.Scope
	if wide && !s.MultiOrg {
		scope = tenant.Everyone("change the address of a user")
	}
	return store.Write(ctx, s.Store, scope, func(w store.Writer) (store.Serial, error) {
		old, err := users.Get(ctx, w, in.ID)
		if err == nil && !in.Scope.Admits(old.Value.OrgID) {
			err = users.Absent()
		}
		if err != nil {
			return 0, err
		}
		v, err := users.Revise(ctx, w, in.ID, in.Match.Check, func(u identity.User) (identity.User, error) { return fn(w, u) })
		if err != nil {
			return 0, err
		}
		return v.Serial, s.left(ctx, w, old.Value, v.Value)
	})
}

// Delete deletes a user, and removes it as an owner.
func (s Users) Delete(ctx context.Context, in writeIn) (operation.Receipt, error) {
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		old, err := users.Delete(ctx, w, in.ID, in.Match.Check)
		if err != nil {
			return err
		}
		// An API without an owner is open to every user of the organisation.
		if err := s.reaching(ctx, w, in.Who, operation.Principal{}, operation.Principal{ID: in.ID}); err != nil {
			return err
		}
		if s.Disown != nil {
			if err := s.Disown(ctx, w, in.ID); err != nil {
				return err
			}
		}
		return s.left(ctx, w, old, identity.User{Grouped: true})
	})
	return operation.Receipt{Message: "User deleted"}, err
}

// left applies the consequences of a write that reduces what a user may do: the
// organisation must keep an admin, and a deactivated user loses its sessions.
func (s Users) left(ctx context.Context, w store.Writer, before, after identity.User) error {
	if !before.Active {
		return nil
	}
	if !after.Active && s.EndSessions != nil {
		if err := s.EndSessions(ctx, w, before.ID); err != nil {
			return err
		}
	}
	had, err := groupsOf(ctx, w, before)
	if err != nil || !before.Effective(had...).Admin() {
		return err
	}
	has, err := groupsOf(ctx, w, after)
	if err != nil || after.Active && after.Effective(has...).Admin() {
		return err
	}
	return s.keepAdmin(ctx, w, before.OrgID)
}
