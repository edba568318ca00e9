package live

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Notification is a mail that users may turn off.
type Notification struct {
	Name   string `json:"Name"`
	Title  string `json:"Title" doc:"Description of the mail, for people."`
	Wanted bool   `json:"Wanted"`
}

// Notifications are all these mails.
type Notifications struct {
	Notifications []Notification `json:"Notifications"`
}

// Wish says which mails a user wants to be on or off.
type Wish struct {
	Notifications []struct {
		Name   string `json:"Name"`
		Wanted bool   `json:"Wanted"`
	} `json:"Notifications"`
}

type wishing struct {
	person
	Body Wish `body:""`
}

func notifications(u account.User) Notifications {
	out := Notifications{[]Notification{}}
	for _, n := range letter.Choices(u.Admin()) {
		out.Notifications = append(out.Notifications, Notification{n.Name, n.Choice, u.Wants(n.Name)})
	}
	return out
}

// Notifications returns the mails that a user can turn off.
func (s *Service) Notifications(ctx context.Context, in person) (out Notifications, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		u, err := in.of(ctx, r)
		out = notifications(u)
		return err
	})
	return out, err
}

// Notify turns mails off and on.
func (s *Service) Notify(ctx context.Context, in wishing) (out Notifications, err error) {
	at := s.Stamp(s.Scope)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		u, err := in.of(ctx, w)
		if err != nil {
			return err
		}
		// Mails that the wish does not name stay as they are.
		choices, wrong := letter.Choices(u.Admin()), table.Problems{}
		named := func(name string) func(letter.Notice) bool {
			return func(n letter.Notice) bool { return n.Name == name }
		}
		unwanted := slices.DeleteFunc(slices.Clone(u.Unwanted), func(name string) bool { return !slices.ContainsFunc(choices, named(name)) })
		for _, n := range in.Body.Notifications {
			if !slices.ContainsFunc(choices, named(n.Name)) {
				wrong.Invalid("Name")
				return wrong.Err()
			}
			unwanted = slices.DeleteFunc(unwanted, func(name string) bool { return name == n.Name })
			if !n.Wanted {
				unwanted = append(unwanted, n.Name)
			}
		}
		u, err = s.People.Edit(ctx, w, u.ID, at, func(u account.User) (account.User, error) {
			u.Unwanted = unwanted
			return u, nil
		})
		out = notifications(u)
		return err
	})
	return out, err
}
