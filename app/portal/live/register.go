package live

import (
	"context"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/attribute"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/visit"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Form is the data that a page needs for the registration form.
type Form struct {
	RegistrationEnabled bool         `json:"RegistrationEnabled"`
	SignInEnabled       bool         `json:"SignInEnabled"`
	CustomAttributes    []FormValues `json:"CustomAttributes"`
}

// FormValues is an attribute in a form.
type FormValues struct {
	Name           string `json:"Name"`
	Identifier     string `json:"Identifier"`
	Description    string `json:"Description"`
	Type           string `json:"Type"`
	DropdownValues string `json:"DropdownValues"`
	Required       bool   `json:"Required"`
}

func formValues(a attribute.Attribute) FormValues {
	return FormValues{a.Name, a.Identifier, a.Description, a.TypeWord(), string(a.DropdownValues), a.Required}
}

// SignUp returns the data for the registration form.
func (s *Service) SignUp(ctx context.Context, _ struct{}) (out Form, err error) {
	out.CustomAttributes = []FormValues{}
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		rules, err := general.Load(ctx, r)
		if err != nil {
			return err
		}
		out.RegistrationEnabled, out.SignInEnabled = rules.RegistrationEnabled, rules.SignInEnabled
		for a, err := range portal.All(ctx, r, people.Attributes, 0) {
			if err != nil {
				return err
			}
			if a.ShowOnSignUp || a.Required {
				out.CustomAttributes = append(out.CustomAttributes, formValues(a))
			}
		}
		return nil
	})
	return out, err
}

// registration is the input of a registration: members of a user that people choose
// themselves, and an invite code.
type registration struct {
	Origin operation.Origin
	Body   table.Body[account.Newcomer] `body:""`
}

// Register creates an account. If the address has an account already, the answer is the
// same and takes as long, but nothing changes.
func (s *Service) Register(ctx context.Context, in registration) (out Message, err error) {
	if err := s.ask(in.Origin); err != nil {
		return out, err
	}
	defer s.pause(ctx, time.Now())
	var rules setting.Settings
	var u account.User
	if err := s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		u, rules, err = s.drafted(ctx, r, in.Body)
		return err
	}); err != nil {
		return out, err
	}
	hash, err := s.hash(ctx, u.Password)
	if err != nil {
		return out, err
	}
	at, token := s.Stamp(s.Scope), people.NewToken(s.People.Keys)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		if _, err := people.ByEmail(ctx, w, u.Email); fault.KindOf(err) != fault.NotFound {
			return err // nothing is stored when the address is taken
		}
		u, rules, err := s.drafted(ctx, w, in.Body)
		if err != nil {
			return err
		}
		if err := s.place(ctx, w, in.Body, at, &u); err != nil {
			return err
		}
		u.PasswordHash, u.Token, u.TokenAt, u.Active = hash, token, at.Now(), rules.AutoApproveRegistrations
		u.Unproven = true
		_, err = s.People.Make(ctx, w, at, u)
		return err
	})
	if rules.AutoApproveRegistrations {
		return Message{"ok", "Registered: log in"}, err
	}
	return Message{"ok", "Registered: an admin looks at it, and you can log in afterwards"}, err
}

// drafted returns the user for a registration, or what is wrong.
func (s *Service) drafted(ctx context.Context, r store.Reader, body table.Body[account.Newcomer]) (u account.User, rules setting.Settings, err error) {
	if rules, err = general.Load(ctx, r); err != nil {
		return u, rules, err
	}
	if err := shut(rules); err != nil {
		return u, rules, err
	}
	if !rules.RegistrationEnabled {
		return u, rules, fault.New(fault.Denied, CodeClosed, "Registration is not allowed")
	}
	n := account.Newcomer{}
	if err := body.Apply(&n, true, nil); err != nil {
		return u, rules, err
	}
	if n.InviteCode != "" {
		if _, err := usable(ctx, r, n.InviteCode, s.Now()); err != nil {
			return u, rules, err
		}
	}
	u, err = s.complete(ctx, r, account.User{Email: strings.TrimSpace(n.Email), Role: account.Member, Provider: account.OwnPassword}, n)
	return u, rules, err
}

// complete sets the members of a user that people choose themselves.
func (s *Service) complete(ctx context.Context, r store.Reader, u account.User, n account.Newcomer) (account.User, error) {
	if n.First != "" {
		u.First = n.First
	}
	if n.Last != "" {
		u.Last = n.Last
	}
	u.Password = n.Password
	wrong := table.Problems{}
	if strings.TrimSpace(u.First) == "" {
		wrong.Blank("First")
	}
	if strings.TrimSpace(u.Email) == "" {
		wrong.Blank("Email")
	}
	lacks, err := people.Lacking(ctx, r, n.Password)
	if err != nil {
		return u, err
	}
	wrong = append(wrong, lacks...)
	if u.Attributes, err = people.Join(ctx, r, u.Attributes, n.Given, &wrong); err != nil {
		return u, err
	}
	return u, wrong.Err()
}

// acceptance is the input for accepting an invitation: the code of the mail, and missing
// members of the account.
type acceptance struct {
	Origin operation.Origin
	Body   table.Body[account.Newcomer] `body:""`
}

// Accept completes a registration that an admin began, and activates the account.
// Address and role stay as in the invitation.
func (s *Service) Accept(ctx context.Context, in acceptance) (out operation.Visit[Message], err error) {
	if err := s.ask(in.Origin); err != nil {
		return out, err
	}
	n := account.Newcomer{}
	if err := in.Body.Apply(&n, false, nil); err != nil {
		return out, err
	}
	finished := func(r store.Reader) (account.User, error) {
		_, u, err := s.redeem(ctx, r, visit.Invite, n.Code)
		if err != nil {
			return u, err
		}
		return s.complete(ctx, r, u, n)
	}
	if err := s.Store.View(ctx, s.Scope, func(r store.Reader) error { _, err := finished(r); return err }); err != nil {
		return out, err
	}
	hash, err := s.hash(ctx, n.Password)
	if err != nil {
		return out, err
	}
	at := s.Stamp(s.Scope)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		u, err := finished(w)
		if err != nil {
			return err
		}
		u.PasswordHash, u.Active = hash, true
		out.Who = s.principal(u.ID)
		_, err = s.People.Edit(ctx, w, u.ID, at, func(account.User) (account.User, error) { return u, nil })
		return err
	})
	out.Value = Message{"ok", "Registered: log in"}
	return out, err
}

type invitation struct {
	Who  operation.Principal
	Body table.Body[account.User] `body:""`
}

// Invite creates an inactive account and mails its owner a code to complete it. For an
// existing inactive account it sends another mail.
func (s *Service) Invite(ctx context.Context, in invitation) (people.ListedUser, error) {
	return s.invite(ctx, in, func(ctx context.Context, r store.Reader, fresh *account.User) (err error) {
		wrong := table.Problems{}
		if fresh.Attributes, err = people.Invite(ctx, r, fresh.Given, &wrong); err != nil {
			return err
		}
		return wrong.Err()
	})
}

// invite calls admit before it stores anything.
func (s *Service) invite(ctx context.Context, in invitation, admit func(context.Context, store.Reader, *account.User) error) (out people.ListedUser, err error) {
	at, token := s.Stamp(s.Scope), people.NewToken(s.People.Keys)
	var left *Letter
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		u := account.User{Role: account.Member, Provider: account.OwnPassword}
		if err := in.Body.Apply(&u, true, portal.Resolver(ctx, w)); err != nil {
			return err
		}
		u.Active, u.InvitedAt, u.Token, u.TokenAt, u.Email = false, at.Now(), token, at.Now(), strings.TrimSpace(u.Email)
		if err := admit(ctx, w, &u); err != nil {
			return err
		}
		made, err := s.invited(ctx, w, at, u)
		if err == nil {
			left, err = s.letter(ctx, w, visit.Invite, made)
		}
		out = people.Listed(made)
		return err
	})
	if err != nil || left == nil {
		return out, err
	}
	select {
	case s.letters <- *left:
	default:
		s.Log.Error("an invitation is not mailed, because too many mails wait; invite the user again", "user_id", int64(out.ID))
	}
	return out, nil
}

var taken error = table.Problems{"Email has already been taken"}.Err()

// invited stores the account of an invited person, for the first time or again.
func (s *Service) invited(ctx context.Context, w store.Writer, at crud.Stamp, u account.User) (account.User, error) {
	old, err := people.ByEmail(ctx, w, u.Email)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return s.People.Make(ctx, w, at, u)
	case err != nil:
		return old, err
	case old.State() != account.Inactive || old.InvitedAt.IsZero() || old.PasswordHash != "": // an account whose registration is complete was deactivated, and is not invited
		return old, taken
	}
	return s.People.Edit(ctx, w, old.ID, at, func(v account.User) (account.User, error) {
		v.InvitedAt = at.Now()
		return v, nil
	})
}
