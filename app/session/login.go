package session

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of the faults of logins.
const (
	CodeCredentials = "login.credentials"
	CodeWait        = "login.wait"
	CodeBusy        = "login.busy"
)

// wrong is the only response to an unknown name, a wrong password, an inactive user and
// a deleted organisation.
var wrong error = fault.New(fault.Unauthenticated, CodeCredentials, "Credentials are incorrect, please try again")

// Login is the credentials of a login.
type Login struct {
	Username string    `json:"username" doc:"E-mail address of the user."`
	Password string    `json:"password"`
	OrgID    tenant.ID `json:"org_id,omitempty" doc:"Organisation of the user. Needed if the address belongs to users in several."`
}

// Fill implements operation.Form.
func (l *Login) Fill(fields url.Values) {
	l.Username, l.Password, l.OrgID = fields.Get("username"), fields.Get("password"), tenant.ID(fields.Get("org_id"))
}

type loginIn struct {
	comes
	Device string `cookie:"known_device" doc:"Marks a browser with which a user has logged in before."`
	Login  Login  `body:""`
}

// Choice is an organisation in which the password is right.
type Choice struct {
	OrgID     tenant.ID `json:"org_id"`
	OwnerName string    `json:"owner_name"`
}

// Login opens a session for a user who knows the password.
func (s *Service) Login(ctx context.Context, in loginIn) (operation.Landing, error) {
	defer s.pause(ctx, time.Now())
	email, err := identity.CleanEmail(in.Login.Username)
	if err != nil || len(in.Login.Password) > maxPassword {
		email = "" // no user has this address; the rest takes as long as for others
	}
	// A browser in which the user has logged in before has a count of its own: however often others
	// guess passwords, the owner of the account can log in there.
	t := tried{name: email, address: s.network(in.Origin)}
	nonce, proof, _ := strings.Cut(in.Device, ".")
	if len(nonce) == deviceSize && session.Proven(proof, s.users.Keys.Digests(deviceText(email, nonce))) {
		t.name = "device " + nonce
	}
	if err := s.take(t); err != nil {
		return operation.Landing{}, err
	}
	found, err := s.knowing(ctx, email, in.Login)
	if err != nil {
		s.giveBack(t)
		return operation.Landing{}, err
	}
	if len(found) == 0 {
		return operation.Landing{}, wrong
	}
	s.giveBack(t)
	if len(found) == 1 {
		return s.open(ctx, found[0], in.Login.Password, in.comes)
	}
	list := make([]Choice, len(found)) // the caller knows the password, so it may see the organisations of the address
	for i, u := range found {
		o, err := s.users.Organisation(ctx, u.OrgID)
		if err != nil {
			return operation.Landing{}, err
		}
		list[i] = Choice{OrgID: u.OrgID, OwnerName: o.Value.OwnerName}
	}
	return operation.Landing{Receipt: operation.Receipt{Message: "Choose an organisation and send its org_id as well", Meta: map[string]any{"organisations": list}}}, nil
}

// knowing returns the users with an address and the given password. For an address
// without a user it takes as long. Where an address may have users in several
// organisations, it always checks four hashes. Elsewhere it checks one. But if several
// users have the address, from a time when the setting allowed it or in a restored
// organisation, it checks each of them, although the time then shows that there are
// several.
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

// enter waits until a password may be checked. A flood of logins uses at most two
// processors, and the memory of two checks.
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

// attributed returns a context that attributes units of work to the user.
func attributed(ctx context.Context, u identity.User) context.Context {
	a := store.AttributionOf(ctx, tenant.Scope{})
	a.Actor = u.ID
	return store.Attribute(ctx, a)
}
