package keys

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// user is a basic-auth user that a path of its own names.
type user struct {
	caller
	Name string `path:"username" doc:"Name of the basic-auth user."`
}

func (u user) named() named { return named{u.caller, naming{Username: "true"}, u.Name} }

// GetUser returns the key of a basic-auth user.
func (s *Service) GetUser(ctx context.Context, in user) (KeyData, error) {
	return s.Get(ctx, in.named())
}

type updateUser struct {
	user
	Suppress string    `query:"suppress_reset" doc:"1: the remaining quota is kept; otherwise counters start anew."`
	Draft    key.Draft `body:""`
}

// UpdateUser replaces the session of a basic-auth user.
func (s *Service) UpdateUser(ctx context.Context, in updateUser) (KeyData, error) {
	return s.Update(ctx, updateIn{in.named(), in.Suppress, in.Draft})
}

// DeleteUser deletes a basic-auth user.
func (s *Service) DeleteUser(ctx context.Context, in user) (operation.Receipt, error) {
	return s.Delete(ctx, in.named())
}

// rowsOfUsers are the operations on basic-auth users that clients expect besides the
// one that creates a user.
func (s *Service) rowsOfUsers() []operation.Row {
	reading := []string{codeMissing, codeByUser, policy.CodeNotOwned, codeGateway}
	return []operation.Row{
		operation.GET("get-user", "/keys/basic/{username}", "Read a basic-auth user", s.GetUser, unseen, operation.Faulting(reading...),
			operation.Answers(answers(noKey, "Failed to unmarshal key data from Tyk API.")), operation.Example(nil, exampleKey)),
		operation.PUT("replace-user", "/keys/basic/{username}", "Replace the session of a basic-auth user", s.UpdateUser, unseen, bounded,
			also(making, reading...),
			operation.Notes("The password is kept unless the body has a new one."),
			operation.Answers(but(answers(noKey, "Failed to unmarshal Key data."), key.CodeType, operation.Answer{Text: badSession})),
			operation.Example(exampleUser, exampleKey)),
		operation.DELETE("delete-user", "/keys/basic/{username}", "Delete a basic-auth user", s.DeleteUser, unseen, also(reading, intent.CodeBusy, codeFull),
			operation.Answers(answers(noKey, "Could not delete key.")), operation.Example(nil, exampleDeleted)),
	}
}
