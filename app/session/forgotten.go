package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"time"

	users "github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/mail"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of the faults of forgotten passwords.
const (
	CodeNoMail   = "login.no_mail"
	CodeUsername = "login.username"
)

// Bounds of mails about forgotten passwords. Those per address and per network apply
// for as long as the code of a mail is valid.
const (
	mailsPerName    = 3
	mailsPerNetwork = 20
	mailsWaiting    = 256
	mailsAtOnce     = 2
	mailAttempts    = 4
)

// Forgotten is the request of a user who has forgotten the password.
type Forgotten struct {
	Username string    `json:"username" doc:"E-mail address of the user."`
	OrgID    tenant.ID `json:"org_id,omitempty" doc:"Organisation of the user. Without it, up to four users with this address get a mail each."`
}

// Fill implements operation.Form.
func (f *Forgotten) Fill(fields url.Values) {
	f.Username, f.OrgID = fields.Get("username"), tenant.ID(fields.Get("org_id"))
}

type forgottenIn struct {
	Origin    operation.Origin
	Forgotten Forgotten `body:""`
}

// request is a requested mail.
type request struct {
	email string
	org   tenant.ID
	by    store.Attribution
}

const mailed = "If there is a user with this address and a password, a mail is on its way"

// Forget queues a mail with a code for choosing a new password. The response does not
// wait for anything that depends on whether the user exists.
func (s *Service) Forget(ctx context.Context, in forgottenIn) (operation.Landing, error) {
	if s.cfg.Mail == nil {
		return operation.Landing{}, fault.New(fault.Denied, CodeNoMail, "access denied: no mail is sent here; ask an admin for another password")
	}
	email, err := identity.CleanEmail(in.Forgotten.Username)
	if err != nil {
		return operation.Landing{}, fault.New(fault.Invalid, CodeUsername, "username must be an e-mail address").At("username")
	}
	done := operation.Landing{Receipt: operation.Receipt{Message: mailed}}
	now, enough := s.users.Now(), false
	s.mu.Lock()
	wait := s.asking.Take(now, s.network(in.Origin))
	if wait == 0 {
		enough = s.mailed.Take(now, email) > 0
	}
	s.mu.Unlock()
	switch {
	case wait != 0: // too many requests from one network
		return operation.Landing{}, waiting(wait)
	case enough: // the address gets no more mails for a while, which the response does not say
		return done, nil
	}
	select {
	case s.requests <- request{email, in.Forgotten.OrgID, store.AttributionOf(ctx, tenant.Scope{})}:
		return done, nil
	default:
		return operation.Landing{}, fault.New(fault.Unavailable, CodeBusy, "Too many mails are asked for at once; try again")
	}
}

// mail sends a mail to each user with an address and a password. A mail that fails takes
// none of the others along: the users are of several organisations, and only one of them
// may be the one that the password is forgotten for.
func (s *Service) mail(ctx context.Context, r request) error {
	found, err := s.users.ByAddress(ctx, r.email, r.org, maxHomes)
	if err != nil {
		return err
	}
	var wrong []error
	for _, u := range found {
		if session.Forgetful(u) {
			wrong = append(wrong, s.remind(store.Attribute(ctx, r.by), u))
		}
	}
	return errors.Join(wrong...)
}

// remind creates a code for a user and mails it. Earlier codes stay valid, so that
// requests in the name of another user do not invalidate its codes.
func (s *Service) remind(ctx context.Context, u identity.User) error {
	o, err := s.users.Organisation(ctx, u.OrgID)
	if err != nil {
		return err
	}
	code := rand.Text()
	made := session.NewReset(s.users.NewID(), s.resetDigests(code)[0], u, s.users.Now())
	if _, err := s.users.Store.Update(ctx, users.Home(u), func(w store.Writer) error { return resets.Insert(ctx, w, made) }); err != nil {
		return err
	}
	m := mail.Message{To: u.Email, Subject: "Choose another password", Text: fmt.Sprintf(letter,
		u.Email, o.Value.OwnerName, s.cfg.PublicURL+"/password/reset?code="+url.QueryEscape(code), session.ResetLife/time.Minute, code)}
	for pause, n := retry.New(time.Second, time.Minute), 1; ; n++ {
		if err = s.cfg.Mail.Send(ctx, m); err == nil || n == mailAttempts || pause.Wait(ctx) != nil {
			return err
		}
	}
}

const letter = `Somebody has asked for another password for %s at %s.

If that was you, open this address and choose one:

%s

It works once, and for %d minutes. A program sends this code instead: %s

If it was not you, do nothing: your password stays as it is.
`
