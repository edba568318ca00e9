package live

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/visit"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CodeCode is the fault code for an unusable code.
const CodeCode = "portal_live.code"

// Message is an answer that says what happens next. It contains no personal data.
type Message struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// ask is a requested mail. It is stored before the answer, and deleted by the unit of
// work that makes the mail: a crash neither loses the mail nor sends it twice.
type ask struct {
	ID     string            `json:"id"`
	Portal tenant.ID         `json:"org_id"`
	Email  string            `json:"email"` // sealed
	By     store.Attribution `json:"by"`
	At     time.Time         `json:"at"`
}

var asks = &store.Kind[ask]{
	Name: "portal-mail-asked", Noun: "request for a mail",
	ID:  func(a ask) string { return a.ID },
	Org: func(a ask) tenant.ID { return a.Portal },
}

// noting is the attribution of units of work about requested mails. Audit logs do not
// contain them.
const noting = "portal mails"

// Forgotten is the body of a request by a user who has forgotten the password.
type Forgotten struct {
	Email string `json:"Email"`
}

type forgottenIn struct {
	Origin operation.Origin
	Body   Forgotten `body:""`
}

var mailed = Message{"ok", "If there is an active account with this address, a mail is on its way"}

// Forget requests a mail with which a user can choose a new password. The duration of the
// answer does not depend on whether the user exists.
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
	if enough || s.Post == nil && s.Queue == nil {
		return mailed, nil
	}
	a := ask{ID: rand.Text(), Portal: s.Scope.Org(), By: store.AttributionOf(ctx, s.Scope), At: s.Now()}
	var err error
	if a.Email, err = s.People.Keys.Seal(email); err != nil {
		return Message{}, err
	}
	ctx = store.Attribute(ctx, store.Attribution{Actor: noting, Operation: noting})
	if _, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		n, err := w.Count(ctx, store.Query{Kind: asks.Name})
		if err == nil && n >= mailsWaiting {
			err = fault.New(fault.Unavailable, CodeBusy, "too many mails are asked for at once: try again")
		}
		if err != nil {
			return err
		}
		return asks.Insert(ctx, w, a)
	}); err != nil {
		return Message{}, err
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return mailed, nil
}

// again is the maximum delay of a mail that another process has requested, or failed to
// make.
const again = 30 * time.Second

// post makes and sends requested mails until ctx ends.
func (s *Service) post(ctx context.Context) {
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		if err := s.answer(ctx); err != nil && ctx.Err() == nil {
			s.Log.Error("a mail with a code is not made; the next attempt follows in a while", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-s.wake:
		case l := <-s.letters:
			s.send(ctx, l)
		}
	}
}

// answer makes the requested mails.
func (s *Service) answer(ctx context.Context) error {
	var all []ask
	if err := s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		all, err = asks.Values(ctx, r, store.Query{})
		return err
	}); err != nil {
		return err
	}
	var errs []error
	for _, a := range all {
		errs = append(errs, s.remind(ctx, a))
	}
	return errors.Join(errs...)
}

// remind makes a code for a user and its mail, unless another process did. Earlier codes
// stay valid, so that requests by other people cannot invalidate them.
func (s *Service) remind(ctx context.Context, a ask) error {
	email, _, err := s.People.Keys.Open(a.Email)
	if err != nil {
		return err
	}
	var left *Letter
	if _, err = s.Store.Update(store.Attribute(ctx, a.By), s.Scope, func(w store.Writer) (err error) {
		left = nil
		if _, err = asks.Delete(ctx, w, a.ID, nil); err == nil {
			left, err = s.reminder(ctx, w, email)
		}
		return err
	}); err != nil {
		if fault.KindOf(err) == fault.NotFound {
			err = nil // another process was faster
		}
		return err
	}
	if left != nil {
		s.send(ctx, *left)
	}
	return nil
}

// reminder makes a code for a user who may choose a new password. It returns the letter
// if the caller has to send it.
func (s *Service) reminder(ctx context.Context, w store.Writer, email string) (*Letter, error) {
	u, err := people.ByEmail(ctx, w, email)
	if fault.KindOf(err) == fault.NotFound || err == nil && (!u.Can(account.Forget) || u.Provider != account.OwnPassword) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at := s.Stamp(s.Scope)
	left, err := s.letter(ctx, w, visit.Reset, u)
	if err != nil {
		return nil, err
	}
	_, err = portal.Edit(ctx, w, people.Users, u.ID, at, func(u account.User) (account.User, error) {
		u.AskedAt = at.Now()
		return u, nil
	})
	return left, err
}

// letter makes a code for a user and its letter, in a unit of work. It returns the letter
// unless the store's queue sends it.
func (s *Service) letter(ctx context.Context, w store.Writer, p visit.Purpose, u account.User) (*Letter, error) {
	code := rand.Text()
	made := visit.NewCode(s.NewID(), s.codeDigests(p, code)[0], p, u, s.Now())
	l := &Letter{Purpose: p, ID: made.ID, To: u.Email, First: u.First, Last: u.Last, Admin: u.Admin(), Code: code, Until: made.Expires}
	if p == visit.Invite && len(u.Teams) > 0 {
		team, err := portal.Glance[organisation.Team](ctx, w, account.TeamKind, u.Teams[0])
		if err != nil {
			return nil, err
		}
		l.Team = team.Name
	}
	if err := codes.Insert(ctx, w, made); err != nil || s.Queue == nil {
		return l, err
	}
	kept, err := s.Queue(ctx, w, *l)
	if kept {
		l = nil
	}
	return l, err
}

// attempts is how many times the sending of a mail is tried.
const attempts = 3

// send sends a letter, if mails are sent at all.
func (s *Service) send(ctx context.Context, l Letter) {
	if s.Post == nil {
		return
	}
	for pause, n := retry.New(time.Second, time.Minute), 1; ; n++ {
		err := s.Post(ctx, l)
		if err == nil || ctx.Err() != nil {
			return
		}
		if n == attempts || pause.Wait(ctx) != nil {
			s.Log.Error("a mail with a code is not sent; the user can be invited, or ask for one, again", "error", err)
			return
		}
	}
}

func (s *Service) codeDigests(p visit.Purpose, code string) []string {
	return s.People.Keys.Digests("portal-code\x00" + string(p) + "\x00" + code)
}

// useless is the fault for codes that are unknown, used or expired, or whose user has
// changed.
var useless error = fault.New(fault.Invalid, CodeCode, "Code has been used or is too old: ask for another mail")

// redeem returns a usable code and its user.
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
			err = useless
		}
		return c, u, err
	}
	return c, u, useless
}

// NewPassword is the body for a new password, with the code of a mail.
type NewPassword struct {
	Code     string `json:"Code"`
	Password string `json:"Password"`
}

type resetIn struct {
	Origin operation.Origin
	Body   NewPassword `body:""`
}

// Reset sets a user's new password, given the code of a mail, and ends the user's
// sessions. The code is deleted in the same unit of work: if two browsers use it, one
// succeeds.
func (s *Service) Reset(ctx context.Context, in resetIn) (out operation.Visit[Message], err error) {
	if err := s.ask(in.Origin); err != nil {
		return out, err
	}
	if err := s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		_, _, err := s.redeem(ctx, r, visit.Reset, in.Body.Code)
		if err == nil {
			err = people.Acceptable(ctx, r, in.Body.Password)
		}
		return err
	}); err != nil {
		return out, err
	}
	hash, err := s.hash(ctx, in.Body.Password)
	if err != nil {
		return out, err
	}
	at := s.Stamp(s.Scope)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		_, u, err := s.redeem(ctx, w, visit.Reset, in.Body.Code)
		if err != nil {
			return err
		}
		out.Who = s.principal(u.ID)
		_, err = s.People.Edit(ctx, w, u.ID, at, func(u account.User) (account.User, error) {
			u.PasswordHash, u.ResetPassword, u.Unproven = hash, false, false // the code came by mail, so the address is confirmed
			return u, nil
		})
		return err
	})
	out.Value = Message{"ok", "The password is changed: log in with it"}
	return out, err
}
