package local

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// OrgKeyRecord holds the limits of an organisation as our store keeps them.
type OrgKeyRecord struct {
	OrgID   tenant.ID       `json:"org_id"`
	Session json.RawMessage `json:"session"`
}

// OrgKeyKind is the kind of the records of organisations' limits.
var OrgKeyKind = &store.Kind[OrgKeyRecord]{
	Name: "gatewayorgkey", Noun: "key of an organisation",
	ID:  func(r OrgKeyRecord) string { return string(r.OrgID) },
	Org: func(r OrgKeyRecord) tenant.ID { return r.OrgID },
}

// Installation implements gateway.Installation for an installation without a gateway.
type Installation struct{ Shelf }

var _ gateway.Installation = (*Installation)(nil)

// Status implements gateway.Installation.
func (i *Installation) Status() []gateway.Status { return nil }

// Probe implements gateway.Installation.
func (i *Installation) Probe(context.Context) []gateway.Status { return nil }

// Reload implements gateway.Installation. It announces the reload to gateways that
// subscribe.
func (i *Installation) Reload(ctx context.Context) error {
	_, err := i.Store.Update(ctx, tenant.Everyone("all gateways load anew"), func(w store.Writer) error {
		return notify.Post(ctx, w, signal.Signal{Command: signal.GroupReload})
	})
	return classify(err)
}

// OrgKeys implements gateway.Installation.
func (i *Installation) OrgKeys(ctx context.Context) ([]tenant.ID, error) {
	var out []tenant.ID
	err := i.Store.View(ctx, tenant.Everyone("the limits of all organisations are listed for the operator"), func(r store.Reader) error {
		out = out[:0]
		for rec, err := range OrgKeyKind.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			out = append(out, rec.Value.OrgID)
		}
		return nil
	})
	slices.Sort(out)
	return out, classify(err)
}

// OrgKey implements gateway.Installation.
func (i *Installation) OrgKey(ctx context.Context, org tenant.ID) (session *doc.Node, err error) {
	err = i.view(ctx, org, func(r store.Reader) error {
		rec, err := OrgKeyKind.Get(ctx, r, string(org))
		if err == nil {
			session, err = doc.ParseNode(rec.Value.Session)
		}
		return absent(err)
	})
	return session, err
}

// absent turns the error for a missing record into gateway.ErrUnknown.
func absent(err error) error {
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return gateway.ErrUnknown
	}
	return err
}

// PutOrgKey implements gateway.Installation.
func (i *Installation) PutOrgKey(ctx context.Context, org tenant.ID, session *doc.Node) error {
	s := session.Clone()
	s.Set("org_id", doc.NewString(string(org)))
	rec := OrgKeyRecord{OrgID: org, Session: s.JSON()}
	return i.update(ctx, org, func(w store.Writer) error {
		_, err := OrgKeyKind.Edit(ctx, w, string(org), nil, func(OrgKeyRecord) (OrgKeyRecord, error) { return rec, nil })
		if fault.KindOf(err) == fault.NotFound && err != nil {
			err = OrgKeyKind.Insert(ctx, w, rec)
		}
		return err
	})
}

// DeleteOrgKey implements gateway.Installation.
func (i *Installation) DeleteOrgKey(ctx context.Context, org tenant.ID) error {
	return i.update(ctx, org, func(w store.Writer) error {
		_, err := OrgKeyKind.Delete(ctx, w, string(org), nil)
		return absent(err)
	})
}
