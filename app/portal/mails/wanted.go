package mails

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// wanted reports whether a mail goes to an address. Obligatory mails go to all existing
// users; deleted users get none.
func wanted(ctx context.Context, r store.Reader, n letter.Notice, email string) (bool, error) {
	if email == "" || n.Choice == "" {
		return email != "", nil
	}
	u, err := people.ByEmail(ctx, r, email)
	if fault.KindOf(err) == fault.NotFound {
		return true, nil
	}
	return u.Wants(n.Name), err
}
