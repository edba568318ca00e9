package mails

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// warn posts the mails about an expiry, once.
func (s *Service) warn(ctx context.Context, w store.Writer, notice string, e letter.Expiry) error {
	id, what := e.Subject()
	mark := letter.Mark{ID: letter.MarkID(id, notice), Portal: s.Scope.Org(), Expires: e.Expires.UTC()}
	old, err := marks.Get(ctx, w, mark.ID)
	switch {
	case err == nil && old.Value.Expires.Equal(mark.Expires):
		return nil
	case err == nil:
		_, err = marks.Edit(ctx, w, mark.ID, nil, func(letter.Mark) (letter.Mark, error) { return mark, nil })
	case fault.KindOf(err) == fault.NotFound:
		err = marks.Insert(ctx, w, mark)
	}
	if err != nil {
		return err
	}
	told, err := concerned(ctx, w, e)
	if err != nil {
		return err
	}
	n, _ := letter.Find(notice)
	for _, u := range told {
		wanted, err := wanted(ctx, w, n, u.Email)
		if err == nil && wanted {
			_, err = s.Post(ctx, w, mark.ID+mark.Expires.String(), notice, Data{Person: u, Values: map[string]any{
				"user": u.values(), what: map[string]any{"ID": id, "Name": e.Name, "Expires": e.Expires.Format("2006-01-02 15:04")},
			}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxConcerned is how many people of organisations get a mail about one expiry, so that it
// does not fill the queue.
const maxConcerned = 500

// concerned returns the receivers of a mail about an expiry: the owner of a credential; for
// a certificate the admins, and the active people of its organisations.
func concerned(ctx context.Context, r store.Reader, e letter.Expiry) (out []Person, err error) {
	if e.Certificate == 0 {
		u, err := portal.Glance[account.User](ctx, r, account.Kind, e.Owner) // a deleted owner yields the zero user
		return []Person{{u.First, u.Last, u.Email}}, err
	}
	known := map[string]bool{}
	add := func(u account.User, most int) {
		if u.Active && !known[u.Email] && len(out) < most {
			known[u.Email], out = true, append(out, Person{u.First, u.Last, u.Email})
		}
	}
	for u, err := range people.Admins(ctx, r) {
		if err != nil {
			return nil, err
		}
		add(u, maxAdmins)
	}
	most := len(out) + maxConcerned
	for _, id := range e.Organisations {
		users, err := people.Of(ctx, r, id)
		if err != nil {
			return nil, err
		}
		for _, u := range users {
			add(u, most)
		}
	}
	return out, nil
}
