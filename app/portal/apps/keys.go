package apps

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal/showcase"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Keys returns the credentials of apps that a user may use, which give access to a
// product with a key alone.
func (s *Service) Keys(ctx context.Context, r store.Reader, u account.User, product table.ID) (out []showcase.Openable, err error) {
	list, err := usableBy(ctx, r, u)
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		given, err := credentialsOf(ctx, r, v.app.ID)
		if err != nil {
			return nil, err
		}
		for _, c := range given {
			if c.AuthType == request.AuthToken && slices.Contains(c.Products, product) && c.State(s.Now()) == credential.Active {
				out = append(out, showcase.Openable{ID: c.ID, App: v.app.Name, Open: func() (string, error) {
					values, err := s.opened(c)
					return values.Key, err
				}})
			}
		}
	}
	return out, nil
}
