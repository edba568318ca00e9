package registry

import (
	"bytes"
	"context"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Put stores an identity provider from elsewhere, in a unit of work of one
// organisation. It replaces the one with the same client_idp_id. Otherwise it creates a
// new one, under its old database ID if that is free. The operation is empty if the
// same record is stored already: then nothing is written.
func (s *ClientIDPs) Put(ctx context.Context, w store.Writer, org tenant.ID, databaseID string, d registry.Draft) (store.Op, error) {
	now := s.Now()
	if d.ClientIdPID == "" {
		d.ClientIdPID = databaseID
	}
	for old, err := range clientIDPs.Find(ctx, w, store.Query{Index: clientIDPs.Alias, Value: d.ClientIdPID, Limit: 1}) {
		if err != nil {
			return "", err
		}
		next, err := old.Value.Replace(d, old.Value.Updated)
		if err != nil || bytes.Equal(text(old.Value), text(next)) {
			return "", err
		}
		next.Updated = now
		return store.Updated, clientIDPs.Replace(ctx, w, next)
	}
	id := s.NewID()
	if databaseID = strings.ToLower(databaseID); shape.IsObjectID(databaseID) {
		if _, err := clientIDPs.Get(ctx, w, databaseID); fault.KindOf(err) == fault.NotFound {
			id = databaseID
		}
	}
	p, err := registry.New(id, org, now, d)
	if err != nil {
		return "", err
	}
	return store.Created, clientIDPs.Insert(ctx, w, p)
}

func text(p registry.IdP) []byte {
	b, _ := p.AppendJSON(nil) // records can always be encoded
	return b
}
