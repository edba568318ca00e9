package apps

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// departure is the saga of a user whose account is deleted.
type departure struct {
	User table.ID
	// Sent says that an administrator deletes the account, which may be that of another one.
	Sent bool `json:",omitzero"`
}

// Depart deletes an account at its user's request: first the credentials of all apps are revoked,
// then the apps and the account are deleted. A departure that has begun is completed: if
// something was deleted and a dashboard no longer answers, the rest follows later, automatically.
func (s *Service) Depart(ctx context.Context, id table.ID) error {
	err := s.depart(ctx, departure{User: id})
	if fault.CodeOf(err) == CodeLater {
		return fault.New(fault.Invalid, CodeOpen, "the account is not deleted yet, because something else does not answer: the rest follows by itself, look again in a few minutes").Because(err)
	}
	return Plain(err)
}

// Dismiss deletes the account of a user as Depart does, for an administrator, who reads what
// the others have said. It is people.Config.Dismiss.
func (s *Service) Dismiss(ctx context.Context, id table.ID) error {
	err := s.depart(ctx, departure{User: id, Sent: true})
	if fault.CodeOf(err) == CodeLater {
		return fault.New(fault.Invalid, CodeOpen, "the account is not deleted yet, and the rest follows by itself: %s", message(err)).Because(err)
	}
	return err
}

// CodeLater is the code of the fault for an account that is deleted later.
const CodeLater = "portal_access.later"

// depart carries out a departure; a fault with CodeLater says that it goes on later.
func (s *Service) depart(ctx context.Context, d departure) error {
	// An account that is not found was deleted by another attempt, for which this one has waited.
	err := fault.AbsentFine(s.departing.Run(ctx, s.Scope, departs(d.User), &d))
	if err == nil || fault.KindOf(err) == fault.Invalid {
		return err
	}
	open, failed := s.Intents.Current(context.WithoutCancel(ctx), s.Scope, departs(d.User))
	switch {
	case failed != nil:
		return fault.New(fault.Invalid, CodeOpen, "%s", message(err)).Because(err)
	case fault.CodeOf(err) == intent.CodeBusy:
		return fault.New(fault.Invalid, CodeBusy, "the account is being deleted already: look again in a few minutes").Because(err)
	}
	s.Log.WarnContext(ctx, "an account is deleted later", "org_id", string(s.Scope.Org()), "user_id", int64(d.User), "operation", open.ID, "error", err)
	return fault.New(fault.Invalid, CodeLater, "%s", message(err)).Because(err)
}

// departs returns the subject of that saga: one runs at a time for each user.
func departs(id table.ID) intent.Subject {
	return intent.Subject{Kind: account.Kind, ID: id.String()}
}

// CodeLeaves is the fault code for an account that is not deleted yet.
const CodeLeaves = "portal_access.leaves"

func (s *Service) departed(org tenant.ID, d *departure) intents.Plan {
	return intents.Plan{
		Open: func(ctx context.Context, r store.Reader) error {
			_, err := people.Leaver(ctx, r, d.User, d.Sent)
			return err
		},
		Steps: []intents.Step{{Name: "end the apps", Do: func(ctx context.Context) error {
			scope, err := tenant.Of(org)
			if err != nil {
				return err
			}
			before, err := s.belongings(ctx, scope, d.User)
			if err != nil {
				return err
			}
			for left, turns := 1, 0; err == nil && left > 0 && turns < people.Farewells; turns++ { // while apps end the user may get more
				err = s.leave(ctx, scope, account.User{Base: table.Base{ID: d.User}}, func(ctx context.Context, in tenant.Scope, app table.ID) error {
					return s.removeNow(ctx, in, removal{App: app})
				})
				if err == nil {
					left, err = s.belongings(ctx, scope, d.User)
				}
			}
			if err == nil {
				return nil
			}
			// When nothing was deleted, the caller gets the error, and may give up.
			if left, failed := s.belongings(ctx, scope, d.User); failed == nil && left == before && !intents.Repeated(ctx) && fault.KindOf(err) != fault.Conflict {
				return err
			}
			return fault.New(fault.Unavailable, CodeLeaves, "%s", message(err)).Because(err)
		}}},
		Close: func(ctx context.Context, w store.Writer) error {
			err := s.Persons.Remove(ctx, w, s.Stamp(s.Scope), d.User, d.Sent)
			if fault.CodeOf(err) == people.CodeMore { // an app was made meanwhile, which goes with the next attempt
				return fault.New(fault.Unavailable, CodeLeaves, "%s", message(err)).Because(err)
			}
			return fault.AbsentFine(err)
		},
	}
}

// belongings counts the apps of a user and their credentials.
func (s *Service) belongings(ctx context.Context, scope tenant.Scope, id table.ID) (n int, err error) {
	err = s.Store.View(ctx, scope, func(r store.Reader) error {
		all, err := Owned(ctx, r, id)
		n = len(all)
		for _, a := range all {
			if err != nil {
				break
			}
			var held []credential.Credential
			held, err = credentialsOf(ctx, r, a.ID)
			n += len(held)
		}
		return err
	})
	return n, err
}
