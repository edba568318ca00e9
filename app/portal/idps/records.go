package idps

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Indexes of clients, approvals and entries.
const (
	byIdP       = "idp"
	byClient    = "client"
	byProduct   = "product"
	byPlan      = "plan"
	byDashboard = "dashboard"
)

// The kinds of clients, approvals and entries.
var (
	clients = &store.Kind[idp.Registered]{
		Name: idp.ClientKind, Noun: "registered client", ID: idp.Registered.Key, Org: func(c idp.Registered) tenant.ID { return c.Portal },
		Indexes: []store.Index[idp.Registered]{
			store.Lookup(byIdP, func(c idp.Registered) string { return c.IdP.Key() }),
			store.Lookup(byClient, func(c idp.Registered) string {
				if c.ClientID == "" {
					return ""
				}
				return store.Indexed(c.ClientID)
			}),
		},
	}
	approvals = &store.Kind[idp.Approval]{
		Name: idp.ApprovalKind, Noun: "approval", ID: idp.Approval.Key, Org: func(a idp.Approval) tenant.ID { return a.Portal },
		Indexes: []store.Index[idp.Approval]{
			store.Lookup(byIdP, func(a idp.Approval) string { return a.IdP.Key() }),
			store.Lookup(byProduct, func(a idp.Approval) string { return a.Product.Key() }),
			store.Lookup(byPlan, func(a idp.Approval) string { return a.Plan.Key() }),
		},
	}
	entries = &store.Kind[idp.Entry]{
		Name: idp.EntryKind, Noun: "entry of a registry", ID: idp.Entry.Key, Org: func(e idp.Entry) tenant.ID { return e.Portal },
		Indexes: []store.Index[idp.Entry]{
			store.Lookup(byIdP, func(e idp.Entry) string { return e.IdP.Key() }),
			store.Lookup(byDashboard, func(e idp.Entry) string { return e.Dashboard.Key() }),
		},
	}
)

// Registrations returns the registrations of these kinds.
func Registrations() []crud.Registrar {
	return []crud.Registrar{
		crud.Facts[idp.Registered]{Kind: clients, Sealed: func(c *idp.Registered) *string { return &c.Sealed }, Sample: func(at crud.Stamp) (idp.Registered, error) {
			return idp.Registered{Portal: at.Org, App: numberOf(at), IdP: 1, ClientID: "client-1", Claims: []idp.Claim{{ID: at.ID, Scopes: []string{"orders"}}}}, nil
		}},
		crud.Facts[idp.Approval]{Kind: approvals, Sample: func(at crud.Stamp) (idp.Approval, error) {
			return idp.Approval{Portal: at.Org, IdP: 1, Product: numberOf(at), Plan: 2}, nil
		}},
		crud.Facts[idp.Entry]{Kind: entries, Sample: func(at crud.Stamp) (idp.Entry, error) {
			return idp.Entry{Portal: at.Org, IdP: numberOf(at), Dashboard: 1, EntryID: "portal-2r7p8aUnkzby17hCJk8w2XvK3K6", Wrote: idp.Mappings{"orders": {"orders": "gold"}}}, nil
		}},
	}
}

// find returns the records of a kind with a value in an index.
func find[T any](ctx context.Context, r store.Reader, k *store.Kind[T], index string, id table.ID) ([]T, error) {
	return k.Values(ctx, r, store.Query{Index: index, Value: id.Key()})
}

// get returns a record, and whether it exists.
func get[T any](ctx context.Context, r store.Reader, k *store.Kind[T], id string) (T, bool, error) {
	v, err := k.Get(ctx, r, id)
	if fault.KindOf(err) == fault.NotFound {
		return v.Value, false, nil
	}
	return v.Value, err == nil, err
}

// put creates or replaces a record.
func put[T any](ctx context.Context, w store.Writer, k *store.Kind[T], v T) error {
	_, err := k.Edit(ctx, w, k.ID(v), nil, func(T) (T, error) { return v, nil })
	if fault.KindOf(err) == fault.NotFound {
		err = k.Insert(ctx, w, v)
	}
	return err
}

// drop deletes a record, if it exists.
func drop[T any](ctx context.Context, w store.Writer, k *store.Kind[T], id string) error {
	if _, err := k.Delete(ctx, w, id, nil); fault.KindOf(err) != fault.NotFound {
		return err
	}
	return nil
}

// CodeSealed is the fault code for a secret that no encryption key can open.
const CodeSealed = "portal_oauth_provider.sealed"

// numberOf returns a number for a sample.
func numberOf(at crud.Stamp) table.ID { return portal.Sampled(idp.Provider{}, at).ID }
