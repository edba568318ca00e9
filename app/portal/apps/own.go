package apps

import (
	"cmp"
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CodeOwner is the fault code for a user who may use an app but not change it.
const CodeOwner = "portal_own_apps.owner"

// caller is a logged-in user.
type caller struct{ Who operation.Principal }

// of returns the current record of the calling user.
func (in caller) of(ctx context.Context, r store.Reader) (account.User, error) {
	id, _ := account.OfPrincipal(in.Who.ID)
	return portal.Find(ctx, r, people.Users, id.String())
}

type ownListing struct {
	caller
	portal.Page `params:""`
}

type ownMaking struct {
	caller
	numbered
	Body table.Body[application.Own] `body:""`
}

// ownNamed is an app that the caller may use, as named in a path.
type ownNamed struct {
	caller
	App string `path:"app_id" doc:"Number or CID of the app."`
}

type ownChange struct {
	ownNamed
	Body table.Body[application.Own] `body:""`
}

// usable is an app with its viewer and its owner.
type usable struct {
	viewer, owner account.User
	app           application.App
}

// changeable reports whether the viewer may also change and delete the app.
func (v usable) changeable() bool { return v.viewer.ID == v.owner.ID || v.viewer.Governs(v.owner) }

// find returns the app if the caller may use it, and NotFound otherwise.
func (in ownNamed) find(ctx context.Context, r store.Reader) (v usable, err error) {
	if v.viewer, err = in.of(ctx, r); err != nil {
		return v, err
	}
	if v.app, err = portal.Find(ctx, r, Kind, in.App); err != nil {
		return v, err
	}
	v.owner, err = portal.Find(ctx, r, people.Users, v.app.UserID.String())
	if fault.KindOf(err) == fault.NotFound {
		return usable{}, Kind.Absent()
	}
	if err != nil {
		return usable{}, err
	}
	home, err := homeOf(ctx, r, v.owner.OrganisationID)
	if err != nil {
		return usable{}, err
	}
	if !v.app.VisibleTo(v.viewer, v.owner, home) {
		return usable{}, Kind.Absent()
	}
	return v, nil
}

// changeable returns the app, if the caller may change it.
func (in ownNamed) changeable(ctx context.Context, r store.Reader) (usable, error) {
	v, err := in.find(ctx, r)
	if err == nil && !v.changeable() {
		err = fault.New(fault.Denied, CodeOwner, "only the owner of the app and admins of the organisation can change it")
	}
	return v, err
}

// usableBy returns the apps that a user may use, newest first.
func usableBy(ctx context.Context, r store.Reader, u account.User) (out []usable, err error) {
	owners := []account.User{u}
	if u.Together() {
		if owners, err = people.Of(ctx, r, u.OrganisationID); err != nil {
			return nil, err
		}
	}
	home, err := homeOf(ctx, r, u.OrganisationID)
	for _, owner := range owners {
		if err != nil {
			return nil, err
		}
		var list []application.App
		list, err = Owned(ctx, r, owner.ID)
		for _, a := range list {
			if a.VisibleTo(u, owner, home) {
				out = append(out, usable{u, owner, a})
			}
		}
	}
	slices.SortFunc(out, func(a, b usable) int { return cmp.Compare(b.app.ID, a.app.ID) })
	return out, err
}

// ownRows are the operations of users on the apps that they may use.
func (s *Service) ownRows() []operation.Operation {
	session := operation.BySession()
	g := portal.Group("portal-own-apps", "", "own apps")
	g.Path = live.Prefix + "/apps"
	for _, code := range []string{CodeOwner, CodeGiven, CodeUsage, live.CodeExpired, live.CodeHidden} {
		g.Style.Faults[code] = operation.Answer{}
	}
	g.Style.Faults[live.CodeUnproven] = operation.Answer{Status: 400}
	g.Style.Faults[CodeLast], g.Style.Faults[CodeUntested] = operation.Answer{Status: 422}, operation.Answer{Status: 422}
	body := map[string]any{"Name": "Checkout", "Description": "Pays at the till.", "RedirectURLs": "https://shop.example.com/back", "Visibility": application.Team}
	rows := []operation.Row{
		operation.GET("list", "", "List the apps that the caller may use", s.ownList, session, operation.Lists(operation.Item{ID: "ID", Name: "Name"}),
			operation.Notes("Newest first. The list has the caller's apps and those that other users share with the caller."),
			operation.Example(nil, operation.Listing[OwnApp]{Items: []OwnApp{exampleOwn}, Total: 1, Page: 1, PerPage: portal.DefaultPerPage})),
		operation.POST("create", "", "Create an app", s.ownCreate, session, operation.Status(201), operation.Faulting(table.CodeInvalid, CodeMany),
			operation.Notes("`Visibility` is lowered to the widest value that the caller may share."), operation.Example(body, exampleOwnShown)),
		operation.GET("get", "/{app_id}", "Fetch an app that the caller may use", s.ownGet, session,
			operation.Notes("The response has the access requests and credentials of the app. Secrets are masked."), operation.Example(nil, exampleOwnShown)),
		operation.PUT("update", "/{app_id}", "Change an app", s.ownUpdate, session, operation.Faulting(append([]string{CodeOwner}, failing...)...),
			operation.Notes("Only for the owner of the app and admins of the organisation. Absent members do not change."), operation.Example(map[string]any{"Name": "Till"}, exampleOwnShown)),
		operation.DELETE("delete", "/{app_id}", "Delete an app", s.ownDelete, session, operation.Faulting(append([]string{CodeOwner}, failing...)...),
			operation.Notes("Only for the owner of the app and admins of the organisation. The credentials of the app are revoked first."), operation.Example(nil, portal.Status{Status: "ok"})),
	}
	return g.Rows(append(rows, s.ownAccessRows()...)...)
}

func (s *Service) ownList(ctx context.Context, in ownListing) (out operation.Listing[OwnApp], err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		u, err := in.of(ctx, r)
		if err != nil {
			return err
		}
		all, err := usableBy(ctx, r, u)
		if err != nil {
			return err
		}
		out, err = portal.Cut(in.Page, func(from, to int) ([]OwnApp, int, error) {
			list := []OwnApp{}
			for _, v := range all[min(from, len(all)):min(to, len(all))] {
				list = append(list, v.listed())
			}
			return list, len(all), nil
		})
		return err
	})
	return out, err
}

func (s *Service) ownCreate(ctx context.Context, in ownMaking) (out OwnShown, err error) {
	at := s.Stamp(s.Scope)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		u, err := in.of(ctx, w)
		if err != nil {
			return err
		}
		var o application.Own
		if err := in.Body.Apply(&o, true, portal.Resolver(ctx, w)); err != nil {
			return err
		}
		o.UserID = u.ID
		if o.Ticket, err = in.ticket(u.ID); err != nil {
			return err
		}
		o.TicketFor = said(o.Ticket, in.Body.Get, "Name", "Description", "RedirectURLs", "Visibility")
		before, made, err := madeBy(ctx, w, Kind, o.Ticket)
		switch {
		case err != nil:
			return err
		case made && before.UserID == u.ID:
			if err = same(before.TicketFor, o.TicketFor); err == nil {
				out, err = s.ownShow(ctx, w, usable{u, u, before})
			}
			return err
		case made: // the app has another owner by now
			o.Ticket, o.TicketFor = "", ""
		}
		c := &portal.Change[application.App]{Op: store.Created, New: o.App}
		if err := settle(ctx, w, c); err != nil {
			return err
		}
		a, err := portal.Add(ctx, w, Kind, at, c.New)
		if err == nil {
			out, err = s.ownShow(ctx, w, usable{u, u, a})
		}
		return err
	})
	return out, err
}

func (s *Service) ownGet(ctx context.Context, in ownNamed) (out OwnShown, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		v, err := in.find(ctx, r)
		if err == nil {
			out, err = s.ownShow(ctx, r, v)
		}
		return err
	})
	return out, err
}

// ownUpdate changes an app. Identity providers get new redirect addresses first, as when an
// administrator changes them.
func (s *Service) ownUpdate(ctx context.Context, in ownChange) (out OwnShown, err error) {
	drafted := func(ctx context.Context, r store.Reader) (usable, *portal.Change[application.App], error) {
		v, err := in.changeable(ctx, r)
		if err != nil {
			return v, nil, err
		}
		o := application.Own{App: v.app}
		err = in.Body.Apply(&o, false, portal.Resolver(ctx, r))
		return v, &portal.Change[application.App]{Op: store.Updated, Scope: s.Scope, Store: s.Store, Who: in.Who, Old: v.app, New: o.App}, err
	}
	var c *portal.Change[application.App]
	if err := s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		_, c, err = drafted(ctx, r)
		return err
	}); err != nil {
		return out, err
	}
	if err := s.follow(ctx, c); err != nil {
		return out, Plain(err)
	}
	at := s.Stamp(s.Scope)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		v, c, err := drafted(ctx, w)
		if err == nil {
			err = settle(ctx, w, c)
		}
		if err == nil {
			v.app, err = portal.Edit(ctx, w, Kind, v.app.ID, at, func(application.App) (application.App, error) { return c.New, nil })
		}
		if err == nil {
			out, err = s.ownShow(ctx, w, v)
		}
		return err
	})
	return out, err
}

func (s *Service) ownDelete(ctx context.Context, in ownNamed) (portal.Status, error) {
	var v usable
	err := s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		v, err = in.changeable(ctx, r)
		return err
	})
	if err == nil {
		err = Plain(s.remove(ctx, s.Scope, removal{App: v.app.ID}))
	}
	return portal.Status{Status: "ok"}, err
}

// Plain converts the error of a saga for developers. It hides the errors of dashboards and
// identity providers, and the address of the saga, which are for administrators.
func Plain(err error) error {
	switch fault.CodeOf(err) {
	case CodeBusy:
		return fault.New(fault.Invalid, CodeBusy, "something else is being done with this app: try again in a moment").Because(err)
	case CodeOpen:
		return fault.New(fault.Invalid, CodeOpen, "this could not be finished now: look again in a few minutes, and tell the administrators of the portal if nothing has changed").Because(err)
	}
	return err
}
