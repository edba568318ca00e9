package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// idps is the registry's kind, for writing to the store without the use case.
var idps = &store.Kind[registry.IdP]{
	Name: registry.Kind, Noun: "client idp", Alias: "client_idp_id", Load: registry.Load, Shared: true,
	ID:  func(p registry.IdP) string { return p.ID },
	Org: func(p registry.IdP) tenant.ID { return p.OrgID },
	Indexes: []store.Index[registry.IdP]{
		store.Unique("client_idp_id", "ID", func(p registry.IdP) string { return p.ClientIdPID }),
	},
}

// quiet formats log lines, and discards them.
func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

const nodeSecret = "node-secret-of-the-benchmark"

// world is a running control plane with a first admin.
type world struct {
	*app.App
	token string
	org   tenant.ID
	scope tenant.Scope
}

func newWorld(ctx context.Context, opts ...app.Option) (*world, error) {
	a, err := app.New(append([]app.Option{app.WithLogger(quiet()), app.WithNodeSecret(nodeSecret)}, opts...)...)
	if err != nil {
		return nil, err
	}
	if err := a.Start(ctx); err != nil {
		return nil, err
	}
	w := &world{App: a}
	first, err := a.Bootstrap(ctx, identity.First{Email: "admin@example.com"})
	if err == nil {
		w.token, w.org = first.AccessKey, first.OrgID
		w.scope, err = tenant.Of(w.org)
	}
	if err != nil {
		return nil, errors.Join(err, w.stop(ctx))
	}
	return w, nil
}

func (w *world) stop(ctx context.Context) error { return w.Stop(context.WithoutCancel(ctx)) }

// call runs an operation as the admin, without HTTP.
func (w *world) call(ctx context.Context, id string, path map[string]string, body string) (any, error) {
	return w.Do(ctx, id, &operation.Call{Token: w.token, Path: path, Body: json.RawMessage(body), RequestID: "bench"})
}

// seed registers n identity providers named prefix-0, prefix-1, … with that
// many mappings each.
func (w *world) seed(ctx context.Context, prefix string, n, mappings int) error {
	for i := range n {
		if _, err := w.call(ctx, "clientidps.create", nil, draft(name(prefix, i), mappings)); err != nil {
			return fmt.Errorf("seed: %w", err)
		}
	}
	return nil
}

func name(prefix string, i int) string { return fmt.Sprintf("%s-%d", prefix, i) }

// draft is the body that registers an identity provider.
func draft(id string, mappings int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"client_idp_id":%q,"name":"Corporate login","issuer":"https://login.example.com/%s","jwks_uri":"https://login.example.com/jwks.json","scope_claim_name":"scope","api_mappings":{`, id, id)
	for i := range mappings {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"api-%d":%s`, i, mapping(i))
	}
	b.WriteString("}}")
	return b.String()
}

// mapping returns the body of an upsert, which differs for every n.
func mapping(n int) string { return fmt.Sprintf(`{"scope_to_policy":{"read":"policy-%08d"}}`, n) }

// provider returns the value that draft registers.
func provider(id string, mappings int) (registry.IdP, error) {
	var d registry.Draft
	if err := json.Unmarshal([]byte(draft(id, mappings)), &d); err != nil {
		return registry.IdP{}, err
	}
	return registry.New("5f1a0c5d8e3b2a1f00000003", "5f1a0c5d8e3b2a1f00000001", someTime, d)
}

// put is a contestant that upserts through the use case: each client its own record, or
// all the first one.
func (w *world) put(prefix string, clients int, shared bool) contestant {
	return contestant{name: "upsert", clients: clients, do: func(ctx context.Context, client, n int) error {
		if shared {
			n, client = n*clients+client, 0
		}
		_, err := w.call(ctx, "clientidps.mappings.put", map[string]string{"id": name(prefix, client), "apiId": "api-5"}, mapping(n))
		return err
	}}
}

// edit is a contestant that writes the same directly to the store.
func (w *world) edit(prefix string, clients int) contestant {
	return contestant{name: "edit", clients: clients, do: func(ctx context.Context, client, n int) error {
		m := registry.NewMapping([2]string{"read", fmt.Sprintf("policy-%08d", n)})
		_, err := w.Store().Update(ctx, w.scope, func(tx store.Writer) error {
			_, err := idps.Edit(ctx, tx, name(prefix, client), nil, func(p registry.IdP) (registry.IdP, error) {
				return p.WithMapping("api-5", m, time.Now())
			})
			return err
		})
		return err
	}}
}
