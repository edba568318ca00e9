package app

import (
	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/portal/webhooks"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
)

// newWebhooks returns the service for webhooks of the portal.
func newWebhooks(p portalSettings, keys secret.Keys) (*webhooks.Service, error) {
	scope, err := p.scope()
	if err != nil {
		return nil, &refusal{err}
	}
	c := webhooks.Config{Keys: keys, Scope: scope}
	if p.Portal != nil {
		c.Settings = p.Webhooks
	}
	return webhooks.New(c), nil
}

// portalDeliveries sends the events of the portal. Only processes that serve the portal
// do, because only they know its settings.
type portalDeliveries struct{ *delivery.Service }

// Operations implements operation.Service: all deliveries are listed together.
func (portalDeliveries) Operations() []operation.Operation { return nil }

func newPortalDeliveries(to *webhooks.Service, kept storage, t crud.Tools, ks crud.Kinds, a *App) (portalDeliveries, error) {
	d, receivers := to.Deliveries, webhooks.Audience{Service: to}
	d.Holder, d.TTL, d.Name = crypto.NewUUID(), takeover(kept), delivery.Operation+" "+receivers.Name()
	d.Serves, d.Share = func(audience string) bool { return audience == receivers.Name() }, d.Workers
	out, err := delivery.New(d, t, ks.Events(), receivers)
	if err != nil {
		return portalDeliveries{}, &refusal{err}
	}
	a.webhooks = portalDeliveries{out}
	return a.webhooks, nil
}
