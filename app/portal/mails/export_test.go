package mails

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Hurry makes all mails due that wait for another attempt.
func Hurry(ctx context.Context, w store.Writer) error {
	all, err := All(ctx, w)
	for _, m := range all {
		if err == nil && m.State == letter.Pending {
			_, err = kind.Edit(ctx, w, m.ID, nil, func(m letter.Mail) (letter.Mail, error) {
				m.Next = m.Created
				return m, nil
			})
		}
	}
	return err
}
