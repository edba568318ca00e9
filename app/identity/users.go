package identity

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// exampleOrg is the ID of the organisation in examples.
const exampleOrg = "5f1a0c5d8e3b2a1f00000001"

var exampleUser = View{
	ID: "5f1a0c5d8e3b2a1f00000002", OrgID: exampleOrg, FirstName: "Ada", LastName: "Example", Email: "ada@example.com", Active: true,
	AccessKey: "0123456789abcdef0123456789abcdef", Permissions: access.Map{"IsAdmin": access.LevelAdmin},
	PWHistory: []json.RawMessage{},
}

// prepare makes a user with its credentials, ready to be stored, and returns it with
// its access key.
func (s *Service) prepare(d identity.UserDraft, key string) (identity.User, string, error) {
	u, err := identity.NewUser(s.NewID(), s.Now(), d)
	if err != nil {
		return u, "", err
	}
	u, err = s.equip(u, key, d.Password)
	return u, key, err
}

// equip sets the credentials of a new user.
func (s *Service) equip(u identity.User, key, password string) (identity.User, error) {
	u, err := s.sealed(u, key)
	if err != nil || password == "" {
		return u, err
	}
	if err := s.acceptable("password", u, password); err != nil {
		return u, err
	}
	hash, err := s.Passwords.Hash(password)
	return s.withPassword(u, hash, true), err
}

// add stores a user, unless one of the checks returns an error. Its organisation and
// its groups must exist, and no other user may have its address.
func (s *Service) add(ctx context.Context, u identity.User, checks ...func(store.Writer) error) (store.Serial, error) {
	return store.Write(ctx, s.Store, tenant.Everyone("create a user"), func(w store.Writer) (store.Serial, error) {
		if u.OrgID != "" {
			if _, err := organisations.Locate(ctx, w, string(u.OrgID)); fault.KindOf(err) == fault.NotFound {
				return 0, fault.New(fault.Invalid, identity.UserKind+".org_id", "org_id: organisation '%s' does not exist", u.OrgID).At("org_id")
			} else if err != nil {
				return 0, err
			}
		}
		if err := s.free(ctx, w, u); err != nil {
			return 0, err
		}
		if err := s.grouped(ctx, w, identity.User{}, u); err != nil {
			return 0, err
		}
		for _, check := range checks {
			if err := check(w); err != nil {
				return 0, err
			}
		}
		return users.Create(ctx, w, u)
	})
}

// free refuses a mail address that another user has in the same organisation or, unless
// MultiOrg is set, in any organisation. Users of deleted organisations do not count.
func (s *Service) free(ctx context.Context, r store.Reader, u identity.User) error {
	for other, err := range users.Find(ctx, r, store.Query{Index: byEmail, Value: u.Email}) {
		if err != nil {
			return err
		}
		if other.Value.ID != u.ID && (!s.MultiOrg || other.Value.OrgID == u.OrgID) {
			if gone := s.alive(ctx, r, other.Value.OrgID); other.Value.OrgID != u.OrgID && fault.KindOf(gone) == fault.Unauthenticated {
				continue
			}
			return fault.New(fault.Conflict, userTaken, "email_address already exists").At("email_address")
		}
	}
	return nil
}

// grouped refuses groups that a write adds to a user and that do not exist.
func (s *Service) grouped(ctx context.Context, r store.Reader, before, after identity.User) error {
	for i, id := range after.Groups() {
		if slices.Contains(before.Groups(), id) {
			continue
		}
		if g, err := groups.Locate(ctx, r, id); fault.KindOf(err) == fault.NotFound || err == nil && g.Value.OrgID != after.OrgID {
			field := "group_ids"
			if i == 0 && id == after.GroupID {
				field = "group_id"
			}
			return fault.New(fault.Invalid, codeNoGroup, "%s: user group '%s' does not exist; create it first", field, id).At(field)
		} else if err != nil {
			return err
		}
	}
	return nil
}

type userIn struct {
	ID string `path:"userId" doc:"Identifier of the user."`
}

// PasswordChange is the body of a password reset.
type PasswordChange struct {
	Current string `json:"current_password,omitempty" doc:"Current password. Required of users who change their own password."`
	New     string `json:"new_password" doc:"The new password."`
}

type setPasswordIn struct {
	userIn
	Who    operation.Principal
	Scope  tenant.Scope
	Change PasswordChange `body:""`
}

// SetPassword sets a password. Hashing is slow on purpose, so it happens before the
// unit of work, which then checks that the user has not changed meanwhile.
func (s Users) SetPassword(ctx context.Context, in setPasswordIn) (operation.Receipt, error) {
	// A caller who may not set passwords of others is refused whether or not the user
	// exists (docs/wire/authentication.md#passwords). With RulesDecide, rules have
	// decided already.
	may := in.Who.Permissions.Level(access.ResetPassword) != access.LevelDeny || s.AdminResets && in.Who.Permissions.Admin()
	if in.Who.ID != in.ID && !may && !s.RulesDecide {
		return operation.Receipt{}, fault.New(fault.Denied, "auth.denied", "access denied: You do not have permission to reset the password for other users.")
	}
	u, err := s.user(ctx, in.ID)
	if err != nil {
		return operation.Receipt{}, err
	}
	if !in.Scope.Admits(u.Value.OrgID) {
		return operation.Receipt{}, users.Absent()
	}
	if err := s.proves(in, u.Value); err != nil {
		return operation.Receipt{}, err
	}
	if err := s.acceptable("new_password", u.Value, in.Change.New); err != nil {
		return operation.Receipt{}, err
	}
	own := in.Who.ID == u.Value.ID
	if own {
		if err := s.anew(ctx, u.Value, in.Change.New); err != nil {
			return operation.Receipt{}, err
		}
	}
	hash, err := s.Passwords.Hash(in.Change.New)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := store.Write(ctx, s.Store, Home(u.Value), func(w store.Writer) (store.Serial, error) {
		v, err := users.Revise(ctx, w, u.Value.ID, operation.IfAt(u.Serial).Check, func(v identity.User) (identity.User, error) {
			return s.withPassword(v, hash, !own), nil
		})
		if err == nil && s.EndSessions != nil {
			err = s.EndSessions(ctx, w, u.Value.ID)
		}
		return v.Serial, err
	})
	return operation.Receipt{Message: "User password updated", Tag: operation.Tag(at)}, err
}

// Limits of wrong proofs of a user's current password: with a stolen session or key, an
// attacker could guess the password.
const (
	guessesPerUser = 10 // in guessWindow
	guessWindow    = time.Hour
	guessingUsers  = 50_000 // whose wrong proofs are counted
)

// CodeGuesses is the code of the fault for too many wrong proofs of the current password.
const CodeGuesses = identity.UserKind + ".guesses"

// proves refuses a user who changes its own password without the current one. Wrong
// proofs are counted apart from failed logins, so that a stolen key cannot lock its
// user out.
func (s Users) proves(in setPasswordIn, u identity.User) error {
	h := u.Credentials.PasswordHash
	if in.Who.ID != u.ID || h == "" {
		return nil
	}
	s.guessing.Lock()
	s.guesses.Limit, s.guesses.Window, s.guesses.Room = guessesPerUser, guessWindow, guessingUsers
	wait := s.guesses.Take(s.Now(), u.ID)
	s.guessing.Unlock()
	if wait > 0 {
		seconds := int((wait + time.Second - 1) / time.Second)
		f := fault.New(fault.TooMany, CodeGuesses, "Retry in %d seconds.", seconds)
		f.Wait = seconds
		return f
	}
	known := cmp.Or(in.Change.Current, in.Change.New) // a request that keeps the same password proves it by the new one
	if !s.Passwords.Verify(h, known) {
		return fault.New(fault.Invalid, identity.UserKind+".current_password", "current_password is not correct").At("current_password")
	}
	s.guessing.Lock()
	s.guesses.GiveBack(u.ID)
	s.guessing.Unlock()
	return nil
}
