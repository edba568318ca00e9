package identity

import (
	"cmp"
	"context"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// AdminUsers has the operations of the super-admin on users.
type AdminUsers struct{ *Service }

// Operations lists the operations of the super-admin on users.
func (s AdminUsers) Operations() []operation.Operation {
	return operation.Group{
		Surface: operation.Admin, Name: "admin.users", Path: "/admin/users", Tag: "Users",
		Style: adminStyle("users", map[string]operation.Answer{
			identity.UserKind + ".not_found": {Text: "Could not retrieve user detail"},
			userTaken:                        {Status: 403, Text: "User email already exists for this Org"},
		}),
	}.Rows(
		operation.POST("create", "", "Create a user in any organisation", s.Create,
			operation.Redact("password", "Message"), operation.Faulting(identity.UserKind+".email_address", identity.UserKind+".password", identity.UserKind+".user_permissions", identity.UserKind+".org_id", userTaken, codeNoGroup, identity.CodeUserTooMany, identity.CodeUserText, identity.CodeUserDays),
			operation.Notes("The message of the response is the user's access key."),
			operation.Example(map[string]any{"org_id": exampleOrg, "first_name": "Ada", "last_name": "Example", "email_address": "ada@example.com",
				"active": true, "user_permissions": map[string]string{"IsAdmin": "admin"}},
				map[string]any{"Status": "OK", "Message": exampleUser.AccessKey, "Meta": exampleUser})),
		operation.GET("get", "/{userId}", "Fetch a user", s.Get, operation.Faulting(identity.UserKind+".not_found"), operation.Example(nil, exampleUser)),
		operation.PUT("update", "/{userId}", "Change a user", s.Update, operation.Redact("password", "Message"),
			operation.Faulting(identity.UserKind+".not_found", identity.CodeUserName, identity.CodeUserText, identity.CodeUserEmail, identity.CodeUserDays, identity.CodeUserMap, identity.CodeUserEmpty,
				identity.CodeUserTooMany, identity.UserKind+".password", identity.UserKind+".org_id", userTaken, codeNoGroup),
			operation.Answers(map[string]operation.Answer{identity.UserKind + ".not_found": {Text: "User not found"}}),
			operation.Notes("Absent members keep their value. The password and the permission ResetPassword can be set here as well. The organisation of a user cannot be changed. A new password, or active: false, ends all sessions of the user."),
			operation.Example(map[string]any{"first_name": "Ada", "user_permissions": map[string]string{"IsAdmin": "admin"}}, receipt(exampleUser.AccessKey))),
		s.resets("allow", "Allow a user to set passwords of other users", access.LevelAdmin),
		s.resets("disallow", "Forbid a user to set passwords of other users", access.LevelDeny),
	)
}

func receipt(message string) map[string]any {
	return map[string]any{"Status": "OK", "Message": message, "Meta": exampleUser}
}

type createUserIn struct {
	Draft identity.UserDraft `body:""`
}

// Create creates a user. The message of the receipt is its access key.
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

// Get returns one user with its access key.
func (s AdminUsers) Get(ctx context.Context, in userIn) (operation.Entity[View], error) {
	u, err := s.user(ctx, in.ID)
	if err != nil {
		return operation.Entity[View]{}, err
	}
	v, err := s.view(u.Value)
	return operation.Entity[View]{Value: v, Tag: operation.Tag(u.Serial)}, err
}

type adminUserIn struct {
	userIn
	Match operation.Match
}

// AdminChange is the fields of a user that the super-admin may change.
type AdminChange struct {
	identity.UserChange
	OrgID    tenant.ID `json:"org_id,omitempty" doc:"Organisation of the user. It cannot be changed."`
	Password string    `json:"password,omitempty"`
}

type adminChangeIn struct {
	adminUserIn
	Change AdminChange `body:""`
}

// Update changes the fields that a request has, and keeps the rest. Hashing is slow on
// purpose, so it happens before the unit of work.
func (s AdminUsers) Update(ctx context.Context, in adminChangeIn) (operation.Receipt, error) {
	var hash string
	if password := in.Change.Password; password != "" {
		u, err := s.user(ctx, in.ID)
		if err == nil {
			err = s.acceptable("password", u.Value, password)
		}
		if err == nil {
			hash, err = s.Passwords.Hash(password)
		}
		if err != nil {
			return operation.Receipt{}, err
		}
	}
	return s.change(ctx, in.adminUserIn, "", func(w store.Writer, u identity.User) (identity.User, error) {
		if org := in.Change.OrgID; org != "" && org != u.OrgID {
			return u, fault.New(fault.Invalid, identity.UserKind+".org_id", "org_id cannot be changed; create the user in the other organisation").At("org_id")
		}
		v, err := u.ApplyAll(in.Change.UserChange)
		if err != nil {
			return v, err
		}
		if hash != "" {
			v = s.withPassword(v, hash, true)
		}
		if err := s.free(ctx, w, v); err != nil {
			return v, err
		}
		return v, s.grouped(ctx, w, u, v)
	})
}

// resets returns a row that sets the level of the permission to set passwords of others.
func (s AdminUsers) resets(name, summary string, level access.Level) operation.Row {
	return operation.PUT("resets."+name, "/{userId}/actions/"+name+"_reset_passwords", summary, func(ctx context.Context, in adminUserIn) (operation.Receipt, error) {
		return s.change(ctx, in, "User updated", func(_ store.Writer, u identity.User) (identity.User, error) { return u.Resetting(level), nil })
	}, operation.Faulting(identity.UserKind+".not_found"), operation.Example(nil, receipt("User updated")))
}

// change changes a user of any organisation. If message is empty, the message of the
// receipt is the access key.
func (s AdminUsers) change(ctx context.Context, in adminUserIn, message string, fn func(store.Writer, identity.User) (identity.User, error)) (operation.Receipt, error) {
	var u identity.User
	at, err := store.Write(ctx, s.Store, tenant.Everyone("change a user"), func(w store.Writer) (store.Serial, error) {
		var before identity.User
		now, err := users.Revise(ctx, w, in.ID, in.Match.Check, func(old identity.User) (identity.User, error) {
			before = old
			return fn(w, old)
		})
		if err != nil {
			return 0, err
		}
		u = now.Value
		if s.EndSessions != nil && (!u.Active || before.Credentials.PasswordHash != u.Credentials.PasswordHash) { // deactivated, or a new password
			err = s.EndSessions(ctx, w, u.ID)
		}
		return now.Serial, err
	})
	if err != nil {
		return operation.Receipt{}, err
	}
	v, err := s.view(u)
	return operation.Receipt{Message: cmp.Or(message, v.AccessKey), Meta: v, Tag: operation.Tag(at)}, err
}
