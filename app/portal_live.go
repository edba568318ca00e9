package app

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"go.uber.org/fx"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/app/portal/finder"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/mails"
	users "github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/portal/showcase"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	portaltable "github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/visit"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/mail"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// newLive returns the service for portal users on their own behalf.
func newLive(lc fx.Lifecycle, b basics, p portalSettings, s people, st store.Store, persons *users.Service, a *App) (*live.Service, error) {
	scope, err := p.scope()
	if err != nil {
		return nil, &refusal{err}
	}
	c := live.Config{People: persons, Scope: scope, Known: []live.Known{{Name: "apps", Of: apps.Held}}, Depart: func(ctx context.Context, id portaltable.ID) error { return a.access.Depart(ctx, id) }}
	if p.Portal != nil {
		c.Settings = p.Live
	}
	if c.Post == nil && s.sessions.Mail != nil {
		texts := map[visit.Purpose][2]string{
			visit.Reset:  {"Choose another password", "Somebody has asked for another password for your account.\n\nIf that was you, choose one with this code: %s\n\nIt works once, until %s. If it was not you, do nothing.\n"},
			visit.Invite: {"You are invited", "Somebody has invited you to the developer portal.\n\nFinish your registration with this code: %s\n\nIt works once, until %s.\n"},
		}
		c.Post = func(ctx context.Context, l live.Letter) error {
			t := texts[l.Purpose]
			return s.sessions.Mail.Send(ctx, mail.Message{To: l.To, Subject: t[0], Text: fmt.Sprintf(t[1], l.Code, l.Until.UTC().Format("2006-01-02 15:04 MST"))})
		}
	}
	if p.Portal != nil {
		// Links in templates lead to pages of the portal; if the portal has no address they
		// are the code alone.
		sorts := map[visit.Purpose]struct{ notice, page string }{
			visit.Reset:  {letter.ResetPassword, "/auth/reset/code?token="},
			visit.Invite: {letter.Invite, "/auth/password/register?token="},
		}
		c.Queue = func(ctx context.Context, w store.Writer, l live.Letter) (bool, error) {
			sort, link := sorts[l.Purpose], l.Code
			if p.Mails.URL != "" {
				link = strings.TrimRight(p.Mails.URL, "/") + sort.page + url.QueryEscape(l.Code)
			}
			return a.mails.sender.Post(ctx, w, l.ID, sort.notice, mails.Data{Person: mails.Person{First: l.First, Last: l.Last, Email: l.To}, Team: l.Team, Admin: l.Admin, Link: link})
		}
	}
	out := live.New(c, crud.Tools{Store: st, NewID: b.newID, Now: b.now, Log: b.log})
	background(lc, out)
	return out, nil
}

// newShowcase returns the operations for visitors of the portal.
func newShowcase(b basics, p portalSettings, st store.Store, own *live.Service, keys *apps.Service) []operation.Operation {
	var relay fetch.Relay = nowhere{}
	var reader fetch.Fetcher = nowhere{}
	if p.Portal != nil && p.Relay != nil {
		relay = p.Relay
	}
	if p.Portal != nil && p.Reader != nil {
		reader = p.Reader
	}
	find := finder.New(finder.Config{Store: st, Scope: own.Scope, Documents: p.documents()})
	return (&showcase.Service{Config: showcase.Config{Store: st, Scope: own.Scope, Shelf: p.shelf(), Elsewhere: &documents.Elsewhere{Config: p.documents(), Fetcher: reader, Now: b.now}, Finder: find, Visit: own.Visit, Keys: keys.Keys, Relay: relay, Now: b.now}}).Operations()
}
