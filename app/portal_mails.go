package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	certified "github.com/gatehouse-io/gatehouse/app/portal/certificates"
	"github.com/gatehouse-io/gatehouse/app/portal/mails"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// newMails returns the service that sends the mails of the portal.
func newMails(p portalSettings, kept storage, t crud.Tools, keys secret.Keys, look *themes.Service) (*mails.Service, error) {
	scope, err := p.scope()
	if err != nil {
		return nil, &refusal{err}
	}
	c := mails.Config{Tools: t, Keys: keys, Scope: scope, Holder: crypto.NewUUID(), TTL: takeover(kept), Content: look.Content, Standard: themes.Standard, Expiring: expiring}
	if p.Portal != nil {
		c.Settings = p.Mails
	}
	out, err := mails.New(c)
	if err != nil {
		return nil, &refusal{err}
	}
	return out, nil
}

// expiring returns the credentials and certificates that expire between two times.
func expiring(ctx context.Context, r store.Reader, from, to time.Time) ([]letter.Expiry, error) {
	credentials, err := apps.Expiring(ctx, r, from, to)
	if err != nil {
		return nil, err
	}
	managed, err := certified.Expiring(ctx, r, from, to)
	return append(credentials, managed...), err
}

// portalMails turns events of the portal into mails, and sends them. Only processes that
// serve the portal do.
type portalMails struct {
	*delivery.Service
	sender *mails.Service
}

// Operations implements operation.Service: all deliveries are listed together.
func (portalMails) Operations() []operation.Operation { return nil }

// Run makes and sends mails.
func (m portalMails) Run(ctx context.Context) error {
	var all sync.WaitGroup
	all.Go(func() { _ = m.sender.Run(ctx) })
	defer all.Wait()
	return m.Service.Run(ctx)
}

// Quit stops both, so that another process takes over.
func (m portalMails) Quit(ctx context.Context) error {
	return errors.Join(m.Service.Quit(ctx), m.sender.Quit(ctx))
}

func newPortalMails(s *mails.Service, kept storage, t crud.Tools, ks crud.Kinds, a *App) (portalMails, error) {
	audience := mails.Audience{Service: s}
	d := delivery.Settings{Holder: crypto.NewUUID(), TTL: takeover(kept), Name: delivery.Operation + " " + audience.Name(), Workers: 1,
		Serves: func(name string) bool { return name == audience.Name() }}
	if s.Sends() {
		d.Fetcher = nowhere{}
	}
	out, err := delivery.New(d, t, ks.Events(), audience)
	if err != nil {
		return portalMails{}, &refusal{err}
	}
	a.mails = portalMails{out, s}
	return a.mails, nil
}
