package identity

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// AdminUsers is what the super-admin does with users.
type AdminUsers struct{ *Service }

// exampleOrg is the organisation in examples.
const exampleOrg = "5f1a0c5d8e3b2a1f00000001"

var exampleUser = View{
	ID: "5f1a0c5d8e3b2a1f00000002", OrgID: exampleOrg, FirstName: "Ada", LastName: "Example", Email: "ada@example.com", Active: true,
	AccessKey: "0123456789abcdef0123456789abcdef", Permissions: access.Map{"IsAdmin": access.LevelAdmin},
	PWHistory: []json.RawMessage{},
}

// Operations lists what the super-admin can do with users.
func (s AdminUsers) Operations() []operation.Operation {
	return operation.Group{
		Surface: operation.Admin, Name: "admin.users", Path: "/admin/users", Tag: "Users",
		Style: adminStyle("users", map[string]operation.Answer{
			identity.UserKind + ".not_found": {Text: "Could not retrieve user detail"},
			identity.UserKind + ".taken":     {Status: 403, Text: "User email already exists for this Org"},
		}),
	}.Rows(
		operation.POST("create", "", "Create a user in any organisation", s.Create,
			operation.Redact("password"), operation.Faulting(identity.UserKind+".email_address", identity.UserKind+".password", identity.UserKind+".user_permissions", identity.UserKind+".org_id", identity.UserKind+".taken"),
			operation.Notes("The message of the answer is the user's access key."),
			operation.Example(map[string]any{"org_id": exampleOrg, "first_name": "Ada", "last_name": "Example", "email_address": "ada@example.com",
				"active": true, "user_permissions": map[string]string{"IsAdmin": "admin"}},
				map[string]any{"Status": "OK", "Message": exampleUser.AccessKey, "Meta": exampleUser})),
		operation.GET("get", "/{userId}", "Fetch a user", s.Get, operation.Faulting(identity.UserKind+".not_found"), operation.Example(nil, exampleUser)),
	)
}

type createUserIn struct {
	Draft identity.UserDraft `body:""`
}

// Create makes a user; the message of the receipt is its access key.
func (s AdminUsers) Create(ctx context.Context, in createUserIn) (operation.Receipt, error) {
	u, key, err := s.prepare(in.Draft, s.Keys.NewKey())
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.add(ctx, u)
	if err != nil {
		return operation.Receipt{}, err
	}
	v, err := s.view(u)
	return operation.Receipt{Message: key, Meta: v, Tag: operation.Tag(at)}, err
}

// prepare makes a user with its credentials, ready to be stored.
func (s *Service) prepare(d identity.UserDraft, key string) (identity.User, string, error) {
	u, err := identity.NewUser(s.NewID(), s.Now(), d)
	if err != nil {
		return u, "", err
	}
	if u.Credentials.KeySealed, err = s.Keys.Seal(key); err != nil {
		return u, "", err
	}
	u.Credentials.KeyDigest = s.Keys.Digests(key)[0]
	if d.Password == "" {
		return u, key, nil
	}
	if err := identity.CheckPassword("password", d.Password); err != nil {
		return u, "", err
	}
	u.Credentials.PasswordHash, err = s.Passwords.Hash(d.Password)
	u.PasswordUpdated = s.Now()
	return u, key, err
}

// add stores a user. Its organisation must exist, and its address must be new
// there, or everywhere unless addresses may repeat across organisations.
func (s *Service) add(ctx context.Context, u identity.User) (store.Serial, error) {
	return store.Write(ctx, s.Store, tenant.Everyone("create a user"), func(w store.Writer) (store.Serial, error) {
		if u.OrgID != "" {
			if _, err := organisations.Locate(ctx, w, string(u.OrgID)); fault.KindOf(err) == fault.NotFound {
				return 0, fault.New(fault.Invalid, identity.UserKind+".org_id", "org_id: organisation '%s' does not exist", u.OrgID).At("org_id")
			} else if err != nil {
				return 0, err
			}
		}
		for other, err := range users.Find(ctx, w, store.Query{Index: byEmail, Value: u.Email}) {
			if err != nil {
				return 0, err
			}
			if !s.MultiOrg || other.Value.OrgID == u.OrgID {
				return 0, fault.New(fault.Conflict, identity.UserKind+".taken", "email_address already exists").At("email_address")
			}
		}
		return users.Create(ctx, w, u)
	})
}

type userIn struct {
	ID string `path:"userId" doc:"Identifier of the user."`
}

// Get returns one user with its access key.
func (s AdminUsers) Get(ctx context.Context, in userIn) (operation.Entity[View], error) {
	u, err := s.user(ctx, in.ID)
	if err != nil {
		return operation.Entity[View]{}, err
	}
	v, err := s.view(u.Value)
	return operation.Entity[View]{Value: v, Tag: operation.Tag(u.Serial)}, err
}

// Users is what users do with users.
type Users struct{ *Service }

// Operations lists what users can do with users.
func (s Users) Operations() []operation.Operation {
	return operation.Group{
		Surface: operation.Management, Name: "users", Path: "/api/users", Tag: "Users", Permission: access.AnyUser,
		Style: operation.Style{Word: "OK", ListKey: "users", Faults: map[string]operation.Answer{
			operation.CodeEmptyBody:          {Status: 403, Text: "Request body malformed."},
			operation.CodeMalformed:          {Status: 403, Text: "Request body malformed."},
			identity.UserKind + ".not_found": {Text: "Could not retrieve user detail."},
		}},
	}.Rows(
		operation.POST("password.set", "/{userId}/actions/reset", "Set a user's password", s.SetPassword,
			operation.Redact("current_password", "new_password"), operation.Faulting(identity.UserKind+".current_password", identity.UserKind+".new_password", identity.UserKind+".not_found", "auth.denied"),
			operation.Notes("One's own password needs the current one, unless there is none yet or the new one is the same. Another user's needs the permission ResetPassword."),
			operation.Example(map[string]any{"current_password": "", "new_password": "a-long-passphrase"},
				map[string]any{"Status": "OK", "Message": "User password updated", "Meta": nil})),
	)
}

// PasswordChange is the body of a password reset.
type PasswordChange struct {
	Current string `json:"current_password,omitempty"`
	New     string `json:"new_password"`
}

type setPasswordIn struct {
	userIn
	Who    operation.Principal
	Scope  tenant.Scope
	Change PasswordChange `body:""`
}

// SetPassword sets a password. Hashing takes long on purpose, so it happens
// before the unit of work, which then makes sure that nothing changed meanwhile.
func (s Users) SetPassword(ctx context.Context, in setPasswordIn) (operation.Receipt, error) {
	u, err := s.user(ctx, in.ID)
	if err != nil {
		return operation.Receipt{}, err
	}
	if !in.Scope.Admits(u.Value.OrgID) {
		return operation.Receipt{}, fault.New(fault.NotFound, identity.UserKind+".not_found", "user not found")
	}
	if err := s.maySet(in, u.Value); err != nil {
		return operation.Receipt{}, err
	}
	if err := identity.CheckPassword("new_password", in.Change.New); err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.storePassword(ctx, u, in.Change.New)
	return operation.Receipt{Message: "User password updated", Tag: operation.Tag(at)}, err
}

// maySet applies the rules of docs/wire/authentication.md#passwords.
func (s Users) maySet(in setPasswordIn, u identity.User) error {
	if in.Who.ID != u.ID {
		if in.Who.Permissions.Level(access.ResetPassword) != access.LevelDeny || s.AdminResets && in.Who.Permissions.Admin() {
			return nil
		}
		return fault.New(fault.Denied, "auth.denied", "access denied: You do not have permission to reset the password for other users.")
	}
	known := cmp.Or(in.Change.Current, in.Change.New) // who asks for the password that it has already knows it
	if h := u.Credentials.PasswordHash; h != "" && !s.Passwords.Verify(h, known) {
		return fault.New(fault.Invalid, identity.UserKind+".current_password", "current_password is not correct").At("current_password")
	}
	return nil
}

func (s *Service) storePassword(ctx context.Context, u store.Stored[identity.User], password string) (store.Serial, error) {
	hash, err := s.Passwords.Hash(password)
	if err != nil {
		return 0, err
	}
	now := s.Now()
	return store.Write(ctx, s.Store, home(u.Value), func(w store.Writer) (store.Serial, error) {
		v, err := users.Revise(ctx, w, u.Value.ID, operation.IfAt(u.Serial).Check, func(v identity.User) (identity.User, error) {
			v.Credentials.PasswordHash, v.PasswordUpdated = hash, now
			return v, nil
		})
		if err == nil && s.EndSessions != nil {
			err = s.EndSessions(ctx, w, u.Value.ID)
		}
		return v.Serial, err
	})
}
