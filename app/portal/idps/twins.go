package idps

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CodeTwin is the fault code for a registration that is answered with the client of another
// app.
const CodeTwin = "portal_oauth_provider.twin"

// twin refuses a registered client that another app of the portal already has: deleting one app
// would delete the client of the other. The client is not deleted, because it belongs to the
// other app.
func twin(other idp.Registered, id string) error {
	return fault.New(fault.Invalid, CodeTwin, "the identity provider has answered with the client %s, which app %s has already: nothing was taken over", id, other.App)
}

// other returns another app's record of a client with the same identifier at the same identity
// provider, if there is one. Two provider records of the portal may be the same identity
// provider: their token keys show that. q restricts the search.
func other(ctx context.Context, r store.Reader, rec idp.Registered, id string, q store.Query) (out idp.Registered, there bool, err error) {
	if id == "" {
		return out, false, nil
	}
	for v, err := range clients.Find(ctx, r, q) {
		if err != nil {
			return out, false, err
		}
		if o := v.Value; o.ClientID == id && o.Key() != rec.Key() && (o.IdP == rec.IdP || o.JWKSURI != "" && o.JWKSURI == rec.JWKSURI) {
			return o, true, nil
		}
	}
	return out, false, nil
}

// anothers returns another app's record of the client, if there is one.
func (a acting) anothers(ctx context.Context, rec idp.Registered, id string) (out idp.Registered, there bool, err error) {
	err = a.view(ctx, func(r store.Reader) (err error) {
		out, there, err = other(ctx, r, rec, id, store.Query{})
		return err
	})
	return out, there, err
}

// take stores what a registration was answered with, unless another app has that client.
func (a acting) take(ctx context.Context, rec idp.Registered, c idp.Client) (idp.Registered, error) {
	o, there, err := a.anothers(ctx, rec, c.ID)
	if err == nil && there {
		err = twin(o, c.ID)
	}
	if err == nil {
		rec, err = a.keepIf(ctx, rec, c, func(w store.Writer) error { // another registration may have come meanwhile
			// Clients that an older version wrote are not in the index.
			o, there, err := other(ctx, w, rec, c.ID, store.Query{Index: byClient, Value: store.Indexed(c.ID)})
			if err == nil && there {
				err = twin(o, c.ID)
			}
			return err
		})
	}
	if fault.CodeOf(err) == CodeTwin {
		if forgotten := a.forget(ctx, rec); forgotten != nil {
			return rec, forgotten
		}
	}
	return rec, err
}
