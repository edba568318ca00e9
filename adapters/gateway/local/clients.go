package local

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// ClientRecord is an OAuth client as our store keeps it.
type ClientRecord struct {
	ID     string    `json:"id"`
	OrgID  tenant.ID `json:"org_id"`
	API    string    `json:"api_id"`
	Client string    `json:"client_id"`
	Sealed string    `json:"sealed"` // the rest
}

// The indexes of clients.
const (
	byClient = "client" // of an API
	byAPI    = "api"
	byID     = "client_id"
)

// ClientKind is the kind of the records of OAuth clients.
var ClientKind = &store.Kind[ClientRecord]{
	Name: "gatewayclient", Noun: "OAuth client of gateways",
	ID:  func(r ClientRecord) string { return r.ID },
	Org: func(r ClientRecord) tenant.ID { return r.OrgID },
	Indexes: []store.Index[ClientRecord]{
		store.Unique(byClient, "ID", func(r ClientRecord) string { return clientKey(gateway.ClientName{API: r.API, ID: r.Client}) }),
		store.Lookup(byAPI, func(r ClientRecord) string { return store.Indexed(r.API) }),
		store.Lookup(byID, func(r ClientRecord) string { return store.Indexed(r.Client) }),
	},
}

func clientKey(n gateway.ClientName) string { return store.Indexed(n.API + "\n" + n.ID) }

// clientContent is the encrypted part of a client's record.
type clientContent struct {
	Secret      string    `json:"secret"`
	RedirectURI string    `json:"redirect_uri"`
	Policy      string    `json:"policy_id"`
	Description string    `json:"description"`
	Meta        *doc.Node `json:"meta_data,omitempty"`
}

// Clients implements gateway.Clients. There are no tokens, because no gateway issues them.
type Clients struct {
	Shelf
	NewID system.NewID
	// Loaded reports whether gateways would load an API.
	Loaded func(ctx context.Context, r store.Reader, api string) (bool, error)
}

var _ gateway.Clients = (*Clients)(nil)

func (c *Clients) opened(r ClientRecord) (gateway.Client, error) {
	text, _, err := c.Secrets.Open(r.Sealed)
	var in clientContent
	if err == nil {
		err = json.Unmarshal([]byte(text), &in)
	}
	return gateway.Client{ID: r.Client, Secret: in.Secret, RedirectURI: in.RedirectURI, Policy: in.Policy, Description: in.Description, Meta: in.Meta}, err
}

// PutClient implements gateway.Clients.
func (c *Clients) PutClient(ctx context.Context, org tenant.ID, api string, client gateway.Client) error {
	text, err := json.Marshal(clientContent{client.Secret, client.RedirectURI, client.Policy, client.Description, client.Meta})
	if err != nil {
		return err
	}
	sealed, err := c.Secrets.Seal(string(text))
	if err != nil {
		return classify(err)
	}
	return c.update(ctx, org, func(w store.Writer) error {
		switch loaded, err := c.Loaded(ctx, w, api); {
		case err != nil:
			return err
		case !loaded:
			return fmt.Errorf("%w: there is no such API", gateway.ErrRefused)
		}
		rec, err := ClientKind.ByKey(ctx, w, byClient, clientKey(gateway.ClientName{API: api, ID: client.ID}))
		switch {
		case err == nil:
			_, err = ClientKind.Edit(ctx, w, rec.Value.ID, nil, func(r ClientRecord) (ClientRecord, error) {
				r.Sealed = sealed
				return r, nil
			})
		case fault.KindOf(err) == fault.NotFound:
			err = ClientKind.Insert(ctx, w, ClientRecord{ID: c.NewID(), OrgID: org, API: api, Client: client.ID, Sealed: sealed})
		}
		return err
	})
}

// Client implements gateway.Clients.
func (c *Clients) Client(ctx context.Context, org tenant.ID, name gateway.ClientName) (out gateway.Client, err error) {
	err = c.view(ctx, org, func(r store.Reader) error {
		rec, err := ClientKind.ByKey(ctx, r, byClient, clientKey(name))
		if err == nil {
			out, err = c.opened(rec.Value)
		} else if fault.KindOf(err) == fault.NotFound {
			err = gateway.ErrUnknown
		}
		return err
	})
	return out, err
}

// ListClients implements gateway.Clients.
func (c *Clients) ListClients(ctx context.Context, org tenant.ID, api string) ([]gateway.Client, error) {
	list := []gateway.Client{}
	err := c.each(ctx, org, byAPI, api, func(r ClientRecord) error {
		client, err := c.opened(r)
		list = append(list, client)
		return err
	}, func() { list = list[:0] })
	slices.SortFunc(list, func(a, b gateway.Client) int { return cmp.Compare(a.ID, b.ID) })
	return list, err
}

// ClientAPIs implements gateway.Clients.
func (c *Clients) ClientAPIs(ctx context.Context, org tenant.ID, id string) ([]string, error) {
	list := []string{}
	err := c.each(ctx, org, byID, id, func(r ClientRecord) error {
		list = append(list, r.API)
		return nil
	}, func() { list = list[:0] })
	slices.Sort(list)
	return list, err
}

// each calls fn for the clients that have a value in an index. It calls begin first, and
// again whenever the iteration restarts from the first client.
func (c *Clients) each(ctx context.Context, org tenant.ID, index, value string, fn func(ClientRecord) error, begin func()) error {
	return c.view(ctx, org, func(r store.Reader) error {
		begin()
		for rec, err := range ClientKind.Find(ctx, r, store.Query{Index: index, Value: store.Indexed(value)}) {
			if err == nil {
				err = fn(rec.Value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteClient implements gateway.Clients.
func (c *Clients) DeleteClient(ctx context.Context, org tenant.ID, name gateway.ClientName) error {
	return c.update(ctx, org, func(w store.Writer) error {
		rec, err := ClientKind.ByKey(ctx, w, byClient, clientKey(name))
		if err == nil {
			_, err = ClientKind.Delete(ctx, w, rec.Value.ID, nil)
		} else if fault.KindOf(err) == fault.NotFound {
			err = nil
		}
		return err
	})
}

// ClientTokens implements gateway.Clients.
func (c *Clients) ClientTokens(ctx context.Context, org tenant.ID, _ gateway.ClientName) ([]gateway.ClientToken, error) {
	return []gateway.ClientToken{}, c.view(ctx, org, func(store.Reader) error { return nil })
}

// RevokeToken implements gateway.Clients.
func (c *Clients) RevokeToken(ctx context.Context, org tenant.ID, _, _, _ string) error {
	return c.view(ctx, org, func(store.Reader) error { return nil })
}

// RevokeTokens implements gateway.Clients.
func (c *Clients) RevokeTokens(ctx context.Context, org tenant.ID, _, _ string) error {
	return c.view(ctx, org, func(store.Reader) error { return nil })
}

// Authorize implements gateway.Clients.
func (c *Clients) Authorize(ctx context.Context, org tenant.ID, _ gateway.Authorization) (*doc.Node, error) {
	if err := c.view(ctx, org, func(store.Reader) error { return nil }); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: there is no gateway that issues codes", gateway.ErrRefused)
}
