package apps

import (
	"context"
	"reflect"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Share updates the other credentials of an app that share a client, except one, after the
// client has changed.
func Share(ctx context.Context, w store.Writer, keys secret.Keys, at crud.Stamp, app, but table.ID, client string, told func(credential.Values) credential.Values) error {
	all, err := credentialsOf(ctx, w, app)
	if err != nil {
		return err
	}
	s := &Service{Config: Config{Secrets: keys}}
	for _, c := range all {
		if c.ID == but || c.ClientID != client {
			continue
		}
		was, err := s.opened(c)
		if err != nil {
			return err
		}
		now := told(was)
		if reflect.DeepEqual(now, was) {
			continue
		}
		if _, err = portal.Edit(ctx, w, Credentials, c.ID, at, func(c credential.Credential) (credential.Credential, error) { return s.filled(c, now) }); err != nil {
			return err
		}
	}
	return nil
}
