package live

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/visit"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CodeCode is the code of the fault for a code that cannot be used.
const CodeCode = "portal_live.code"

// Message is an answer that says what happens now, and to nobody in particular.
type Message struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// forgotten is a mail that somebody asked for.
type forgotten struct {
	email  string
	by     store.Attribution
	letter *Letter // an invitation, which is made already
}

// Forgotten is who has forgotten a password.
type Forgotten struct {
	Email string `json:"Email"`
}

type forgottenIn struct {
	Origin operation.Origin
	Body   Forgotten `body:""`
}

var mailed = Message{"ok", "If there is an active account with this address, a mail is on its way"}

// Forget has a mail sent with which a password can be chosen. The answer does not wait
// for anything that depends on whether there is such a user.
func (s *Service) Forget(ctx context.Context, in forgottenIn) (Message, error) {
	email := account.Address(in.Body.Email)
	if wrong := (table.Problems{}); email == "" {
		wrong.Blank("Email")
		return Message{}, wrong.Err()
	}
	if err := s.ask(in.Origin); err != nil {
		return Message{}, err
	}
	s.mu.Lock()
	enough := s.asked.Take(s.Now(), email) > 0
	s.mu.Unlock()
	if enough || s.Post == nil {
		return mailed, nil
	}
	select {
	case s.forgotten <- forgotten{email: email, by: store.AttributionOf(ctx, s.Scope)}:
		return mailed, nil
	default:
		return Message{}, fault.New(fault.Unavailable, CodeBusy, "too many mails are asked for at once: try again")
	}
}

// post sends mails that were asked for until ctx ends.
func (s *Service) post(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-s.forgotten:
			var err error
			if f.letter != nil {
				err = s.send(ctx, *f.letter)
			} else {
				err = s.remind(store.Attribute(ctx, f.by), f.email)
			}
			if err != nil && ctx.Err() == nil {
				s.Log.Error("a mail with a code is not sent; the user can be invited, or ask for one, again", "error", err)
			}
		}
	}
}

// remind makes a code for a user and mails it. Earlier codes hold on: somebody who asks
// for mails in the name of another user makes none of them useless.
func (s *Service) remind(ctx context.Context, email string) error {
	var l Letter
	_, err := s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		u, err := people.ByEmail(ctx, w, email)
		if err != nil {
			return err
		}
		if !u.Can(account.Forget) || u.Provider != account.OwnPassword {
			return people.Users.Absent()
		}
		at := s.stamp()
		if l, err = s.letter(ctx, w, visit.Reset, u); err != nil {
			return err
		}
		_, err = portal.Edit(ctx, w, people.Users, u.ID, at, func(u account.User) (account.User, error) {
			u.AskedAt = at.Now()
			return u, nil
		})
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return s.send(ctx, l)
}

// letter makes a code for a user, in a unit of work, and the letter with it.
func (s *Service) letter(ctx context.Context, w store.Writer, p visit.Purpose, u account.User) (Letter, error) {
	code := rand.Text()
	made := visit.NewCode(s.NewID(), s.codeDigests(p, code)[0], p, u, s.Now())
	return Letter{Purpose: p, To: u.Email, First: u.First, Code: code, Until: made.Expires}, codes.Insert(ctx, w, made)
}

// attempts is how often a mail is tried to be sent.
const attempts = 3

// send sends a letter, if mails are sent at all.
func (s *Service) send(ctx context.Context, l Letter) (err error) {
	if s.Post == nil {
		return nil
	}
	for pause, n := retry.New(time.Second, time.Minute), 1; ; n++ {
		if err = s.Post(ctx, l); err == nil || n == attempts || pause.Wait(ctx) != nil {
			return err
		}
	}
}

func (s *Service) codeDigests(p visit.Purpose, code string) []string {
	return s.People.Keys.Digests("portal-code\x00" + string(p) + "\x00" + code)
}

// useless answers codes that are unknown, used, too old, or of a user who has changed.
func useless() error {
	return fault.New(fault.Invalid, CodeCode, "Code has been used or is too old: ask for another mail")
}

// redeem returns the user of a code that can be used, and the code.
func (s *Service) redeem(ctx context.Context, r store.Reader, p visit.Purpose, code string) (c visit.Code, u account.User, err error) {
	for _, digest := range s.codeDigests(p, code) {
		v, err := codes.ByKey(ctx, r, byDigest, digest)
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err == nil {
			c = v.Value
			u, err = portal.Find(ctx, r, people.Users, c.UserID.String())
		}
		if fault.KindOf(err) == fault.NotFound || err == nil && (c.Over(s.Now()) || !c.Fits(u)) {
			err = useless()
		}
		return c, u, err
	}
	return c, u, useless()
}

// NewPassword is what is sent with the code of a mail.
type NewPassword struct {
	Code     string `json:"Code"`
	Password string `json:"Password"`
}

type resetIn struct {
	Origin operation.Origin
	Body   NewPassword `body:""`
}

// Reset gives the user of a code the password that it chose, and ends its sessions. The
// code goes in the same unit of work: of two browsers with one code, one succeeds.
func (s *Service) Reset(ctx context.Context, in resetIn) (Message, error) {
	if err := s.ask(in.Origin); err != nil {
		return Message{}, err
	}
	if err := s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		_, _, err := s.redeem(ctx, r, visit.Reset, in.Body.Code)
		if err == nil {
			err = people.Acceptable(ctx, r, in.Body.Password)
		}
		return err
	}); err != nil {
		return Message{}, err
	}
	hash, err := s.hash(ctx, in.Body.Password)
	if err != nil {
		return Message{}, err
	}
	at := s.stamp()
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		_, u, err := s.redeem(ctx, w, visit.Reset, in.Body.Code)
		if err != nil {
			return err
		}
		_, err = s.People.Edit(ctx, w, u.ID, at, func(u account.User) (account.User, error) {
			u.PasswordHash, u.ResetPassword = hash, false
			return u, nil
		})
		return err
	})
	return Message{"ok", "The password is changed: log in with it"}, err
}
