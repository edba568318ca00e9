package live

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/attribute"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Profile is the caller's account.
type Profile struct {
	people.ListedUser
	Organisation     string         `json:"Organisation"`
	Teams            []string       `json:"Teams"`
	ResetPassword    bool           `json:"ResetPassword"`
	CustomAttributes []ProfileValue `json:"CustomAttributes"`
}

// ProfileValue is the value of an attribute that is visible to its user.
type ProfileValue struct {
	FormValues
	Value    string `json:"Value"`
	Editable bool   `json:"Editable"`
}

// Profile returns the caller's account.
func (s *Service) Profile(ctx context.Context, in person) (out Profile, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		u, err := in.of(ctx, r)
		if err == nil {
			out, err = profile(ctx, r, u)
		}
		return err
	})
	return out, err
}

func profile(ctx context.Context, r store.Reader, u account.User) (out Profile, err error) {
	out = Profile{ListedUser: people.Listed(u), Teams: []string{}, ResetPassword: u.ResetPassword, CustomAttributes: []ProfileValue{}}
	o, err := portal.Glance[organisation.Organisation](ctx, r, account.OrganisationKind, u.OrganisationID)
	if err != nil {
		return out, err
	}
	out.Organisation = o.Name
	for _, id := range u.Teams {
		t, err := portal.Glance[organisation.Team](ctx, r, account.TeamKind, id)
		if err != nil {
			return out, err
		}
		out.Teams = append(out.Teams, t.Name)
	}
	for a, err := range portal.All(ctx, r, people.Attributes, 0) {
		if err != nil {
			return out, err
		}
		if a.Behaviour == attribute.Hidden {
			continue
		}
		value := u.Attributes.Of(a.ID)
		editable := a.Behaviour == attribute.Edit && (value == "" || !a.WriteOnceReadMany)
		out.CustomAttributes = append(out.CustomAttributes, ProfileValue{formValues(a), value, editable})
	}
	return out, nil
}

type profileChange struct {
	person
	Body table.Body[account.Newcomer] `body:""`
}

// ChangeProfile changes names, and attributes that developers may edit. Only admins may
// change the address, which is the login name.
func (s *Service) ChangeProfile(ctx context.Context, in profileChange) (out Profile, err error) {
	at := s.Stamp(s.Scope)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		u, err := in.of(ctx, w)
		if err != nil {
			return err
		}
		n := account.Newcomer{First: u.First, Last: u.Last}
		if err := in.Body.Apply(&n, false, nil); err != nil {
			return err
		}
		values, err := edited(ctx, w, u, n)
		if err != nil {
			return err
		}
		if u, err = s.People.Edit(ctx, w, u.ID, at, func(u account.User) (account.User, error) {
			u.First, u.Last, u.Attributes = strings.TrimSpace(n.First), n.Last, values
			return u, nil
		}); err != nil {
			return err
		}
		out, err = profile(ctx, w, u)
		return err
	})
	return out, err
}

// edited returns the attribute values of a user after the user's changes.
func edited(ctx context.Context, r store.Reader, u account.User, n account.Newcomer) (attribute.Values, error) {
	wrong, values := table.Problems{}, u.Attributes
	if strings.TrimSpace(n.First) == "" {
		wrong.Blank("First")
	}
	given := map[string]string{}
	for _, g := range n.Given {
		given[g.Identifier] = g.Value
	}
	for a, err := range portal.All(ctx, r, people.Attributes, 0) {
		if err != nil {
			return nil, err
		}
		value, ok := given[a.Identifier]
		if a.Behaviour == attribute.Hidden {
			continue
		}
		delete(given, a.Identifier)
		switch {
		case !ok || value == values.Of(a.ID):
		case a.Behaviour != attribute.Edit:
			wrong = append(wrong, a.Identifier+" cannot be changed")
		default:
			of := table.Problems{}
			values = values.Change(a, value, &of)
			for _, p := range of {
				wrong = append(wrong, a.Identifier+strings.TrimPrefix(p, "Value"))
			}
		}
	}
	if len(given) > 0 {
		wrong.Invalid("CustomAttributes")
	}
	return values, wrong.Err()
}

// Change is the body of a password change.
type Change struct {
	CurrentPassword string `json:"CurrentPassword"`
	Password        string `json:"Password"`
}

type passwordChange struct {
	person
	Browser operation.Browser
	Origin  operation.Origin
	Body    Change `body:""`
}

// CodePassword is the fault code for a wrong current password of a logged-in user.
const CodePassword = "portal_live.current"

// ChangePassword changes the password of a user who knows the current one. All sessions
// of the user end, and the browser gets a new one.
func (s *Service) ChangePassword(ctx context.Context, in passwordChange) (out operation.Visit[Opened], err error) {
	defer s.pause(ctx, time.Now())
	var u account.User
	if err := s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		if u, err = in.of(ctx, r); err == nil {
			err = people.Acceptable(ctx, r, in.Body.Password)
		}
		return err
	}); err != nil {
		return out, err
	}
	if u.ResetPassword && in.Body.Password == in.Body.CurrentPassword { // an admin has chosen the current password, and knows it
		return out, table.Problems{"Password must be another one"}.Err()
	}
	if err := s.confirm(ctx, u, in.Body.CurrentPassword); err != nil {
		return out, err
	}
	hash, err := s.hash(ctx, in.Body.Password)
	if err != nil {
		return out, err
	}
	token, at := rand.Text(), s.Stamp(s.Scope)
	begun := s.begin(u, token, s.agents(in.Browser.Agent, in.Origin)[0], at.Now())
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		fresh, err := s.People.Edit(ctx, w, u.ID, at, func(v account.User) (account.User, error) {
			if v.PasswordHash != u.PasswordHash {
				return v, mistaken
			}
			v.PasswordHash, v.ResetPassword = hash, false
			return v, nil
		})
		if err != nil {
			return err
		}
		u = fresh
		return s.keep(ctx, w, begun, in.Browser)
	})
	return s.entered(u, begun, token), err
}

var mistaken error = fault.New(fault.Invalid, CodePassword, "CurrentPassword is wrong")

// confirm checks the current password of a user. Failed checks are limited as at the
// login, but counted under another name, so that a stolen session cannot lock the
// account.
func (s *Service) confirm(ctx context.Context, u account.User, text string) error {
	s.mu.Lock()
	enough := s.guesses.Take(s.Now(), u.ID.Key()) > 0
	s.mu.Unlock()
	if enough {
		return mistaken
	}
	ok, err := s.knows(ctx, u, text)
	if err == nil && !ok {
		return mistaken
	}
	s.mu.Lock()
	s.guesses.GiveBack(u.ID.Key())
	s.mu.Unlock()
	return err
}
