package session

import (
	"context"
	"net/url"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of the faults that logins are answered with.
const (
	CodeCredentials = "login.credentials"
	CodeWait        = "login.wait"
	CodeBusy        = "login.busy"
)

// wrong is the one answer to an unknown name, a wrong password, an inactive user and
// an organisation that is gone.
var wrong error = fault.New(fault.Unauthenticated, CodeCredentials, "Credentials are incorrect, please try again")

// Login is what a user logs in with.
type Login struct {
	Username string    `json:"username" doc:"E-mail address of the user."`
	Password string    `json:"password"`
	OrgID    tenant.ID `json:"org_id,omitempty" doc:"Organisation of the user, if the address has users in several."`
}

// Fill implements operation.Form.
func (l *Login) Fill(fields url.Values) {
	l.Username, l.Password, l.OrgID = fields.Get("username"), fields.Get("password"), tenant.ID(fields.Get("org_id"))
}

type loginIn struct {
	comes
	Device string `cookie:"known_device" doc:"Says that somebody has logged in with this browser."`
	Login  Login  `body:""`
}

// Choice is an organisation in which a password is right.
type Choice struct {
	OrgID     tenant.ID `json:"org_id"`
	OwnerName string    `json:"owner_name"`
}

// Login opens a session for a user who knows the password.
func (s *Service) Login(ctx context.Context, in loginIn) (operation.Landing, error) {
	defer s.pause(ctx, time.Now())
	email, err := identity.CleanEmail(in.Login.Username)
	if err != nil || len(in.Login.Password) > maxPassword {
		email = "" // no user has it; what follows takes as long as for others
	}
	tried := s.tried(in, email)
	if err := s.take(tried); err != nil {
		return operation.Landing{}, err
	}
	found, err := s.knowing(ctx, email, in.Login)
	if err != nil {
		s.giveBack(tried)
		return operation.Landing{}, err
	}
	if len(found) == 0 {
		return operation.Landing{}, wrong
	}
	s.giveBack(tried)
	if len(found) == 1 {
		return s.open(ctx, found[0], in.Login.Password, in.comes)
	}
	list := make([]Choice, len(found)) // organisations of the address, for who knows the password
	for i, u := range found {
		o, err := s.users.Organisation(ctx, u.OrgID)
		if err != nil {
			return operation.Landing{}, err
		}
		list[i] = Choice{OrgID: u.OrgID, OwnerName: o.Value.OwnerName}
	}
	return operation.Landing{Receipt: operation.Receipt{Message: "Choose an organisation and send its org_id as well", Meta: map[string]any{"organisations": list}}}, nil
}

// knowing returns the users with an address whose password is the one given. It takes
// as long for an address that no user has. Where an address may have users in several
// organisations, passwords of four are looked at, also of fewer. Elsewhere it has one, unless
// such users are left of a time when it might, or came back with a deleted organisation: then
// each of them counts, though the time tells that there are several.
func (s *Service) knowing(ctx context.Context, email string, l Login) (found []identity.User, err error) {
	candidates, err := s.users.ByAddress(ctx, email, l.OrgID, maxHomes)
	if err != nil {
		return nil, err
	}
	checks := max(1, len(candidates))
	if s.users.MultiOrg && l.OrgID == "" {
		checks = maxHomes
	}
	leave, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	dummy := s.dummy()
	for i := range checks {
		hash, known := dummy, i < len(candidates) && candidates[i].Credentials.PasswordHash != ""
		if known {
			hash = candidates[i].Credentials.PasswordHash
		}
		if s.users.Passwords.Verify(hash, l.Password) && known {
			found = append(found, candidates[i])
		}
	}
	return found, nil
}

// enter waits until a password may be checked. A flood of logins takes two processors
// and no more, and the memory of two checks.
func (s *Service) enter(ctx context.Context) (leave func(), err error) {
	select {
	case s.queue <- struct{}{}:
	default:
		return nil, fault.New(fault.Unavailable, CodeBusy, "Too many logins at once; try again")
	}
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots; <-s.queue }, nil
	case <-ctx.Done():
		<-s.queue
		return nil, ctx.Err()
	}
}

// attributed returns a context whose units of work are the user's own.
func attributed(ctx context.Context, u identity.User) context.Context {
	a := store.AttributionOf(ctx, tenant.Scope{})
	a.Actor = u.ID
	return store.Attribute(ctx, a)
}
