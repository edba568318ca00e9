// Package apps holds the apps of developers, their requests for access, and the
// credentials that they get: the operations, and the sagas that write at dashboards and
// identity providers (docs/wire/portal-apps.md).
package apps

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/event"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Names of indexes.
const (
	byOwner   = "owner"
	byApp     = "app"     // in order of app and number
	byRequest = "request" // credentials by the access requests that use them
	byUser    = "user"
	byPEM     = "certificate" // credentials by the identifier of their certificate
	byHaste   = "at_once"     // access requests that should be approved at once, but are not yet
	byTicket  = "ticket"      // apps and access requests by the ticket of the call that made them, if it had one
)

// The kinds of apps and of the records below them.
var (
	Kind = portal.KindOf(store.Lookup(byOwner, func(a application.App) string { return a.UserID.Key() }),
		store.Index[application.App]{Name: byTicket, Noun: "ticket", Unique: true, Values: func(a application.App) []string { return ticketed(a.Ticket) }})
	Requests = portal.KindOf(
		store.Sorted(byApp, func(r request.Request) string { return below(r.AppID) + r.ID.Key() }),
		store.Lookup(byHaste, func(r request.Request) string {
			if hastens(r) {
				return hasty
			}
			return ""
		}),
		store.Index[request.Request]{Name: byTicket, Noun: "ticket", Unique: true, Values: func(r request.Request) []string { return ticketed(r.Ticket) }})

	Credentials = portal.KindOf(
		store.Sorted(byApp, func(c credential.Credential) string { return below(c.AppID) + c.ID.Key() }),
		store.Index[credential.Credential]{Name: byRequest, Values: func(c credential.Credential) (out []string) {
			for _, id := range c.Requests() {
				out = append(out, id.Key())
			}
			return out
		}},
		store.Index[credential.Credential]{Name: byPEM, Values: func(c credential.Credential) []string { return c.Certificates() }},
	)
	allowances = &store.Kind[request.Allowance]{
		Name: request.AllowanceKind, Noun: "allowance",
		ID:  request.Allowance.Key,
		Org: func(a request.Allowance) tenant.ID { return a.Portal },

		Indexes: []store.Index[request.Allowance]{store.Lookup(byUser, func(a request.Allowance) string { return a.User.Key() })},
	}
)

// hastens reports whether a request should be approved at once, but is not yet.
func hastens(r request.Request) bool { return r.Status == request.Pending && r.ProvisionImmediately }

// hasty is the one value of byHaste.
const hasty = "yes"

// formers is the kind of former keys, by app.
var formers = &store.Kind[credential.Former]{
	Name: credential.FormerKind, Noun: "former keys",
	ID:  func(f credential.Former) string { return f.App.Key() },
	Org: func(f credential.Former) tenant.ID { return f.Portal },
}

// below returns the prefix of the index values of all records of an app.
func below(app table.ID) string { return app.Key() + "\x00" }

// Registrations are the kinds of records.
func Registrations() []crud.Registrar {
	return []crud.Registrar{
		crud.Facts[application.App]{Kind: Kind, Events: portal.Events(event.OfApps), Sample: func(at crud.Stamp) (application.App, error) {
			return portal.Sampled(sampleApp, at), nil
		}},
		crud.Facts[request.Request]{Kind: Requests, Events: portal.Events(event.OfAccessRequests), Sealed: func(r *request.Request) *string { return &r.SealedSecret }, Sample: func(at crud.Stamp) (request.Request, error) {
			return portal.Sampled(sampleRequest, at), nil
		}},
		crud.Facts[credential.Credential]{Kind: Credentials, Events: portal.Events(event.OfCredentials), Sealed: func(c *credential.Credential) *string { return &c.Sealed }, Sample: func(at crud.Stamp) (credential.Credential, error) {
			return portal.Sampled(credential.Credential{AppID: 2, RequestID: 3, PlanID: 1, ProviderID: 1, Products: []table.ID{1}, Method: "token", AuthType: request.AuthToken, Sealed: "sealed"}, at), nil
		}},
		crud.Facts[credential.Former]{Kind: formers, Sealed: func(f *credential.Former) *string { return &f.Sealed }, Sample: func(at crud.Stamp) (credential.Former, error) {
			return credential.Former{Portal: at.Org, App: portal.Sampled(application.App{}, at).ID, Sealed: "sealed"}, nil
		}},
		crud.Facts[request.Allowance]{Kind: allowances, Sample: func(at crud.Stamp) (request.Allowance, error) {
			return request.Allowance{Portal: at.Org, Plan: portal.Sampled(application.App{}, at).ID, User: 7, Since: at.Now(), Count: 2}, nil
		}},
	}
}

var (
	sampleApp     = application.App{Name: "Checkout", Description: "Pays at the till.", RedirectURLs: "https://shop.example.com/back", UserID: 7, Visibility: application.Organisation}
	sampleRequest = request.Request{Status: request.Approved, AppID: 2, UserID: 7, PlanID: 1, ProductIDs: []table.ID{1}, ProviderID: 1, AuthType: request.AuthToken}
)

// Owned returns the apps of a user, in order of number.
func Owned(ctx context.Context, r store.Reader, user table.ID) ([]application.App, error) {
	return Kind.Values(ctx, r, store.Query{Index: byOwner, Value: user.Key()})
}

// requestsOf returns the access requests of an app, the oldest first.
func requestsOf(ctx context.Context, r store.Reader, app table.ID) ([]request.Request, error) {
	return Requests.Values(ctx, r, store.Query{Index: byApp, Sorted: true, Prefix: below(app)})
}

// credentialsOf returns the credentials of an app, the oldest first.
func credentialsOf(ctx context.Context, r store.Reader, app table.ID) ([]credential.Credential, error) {
	return Credentials.Values(ctx, r, store.Query{Index: byApp, Sorted: true, Prefix: below(app)})
}

// usedBy returns the credentials that an access request uses, the oldest first.
func usedBy(ctx context.Context, r store.Reader, id table.ID) ([]credential.Credential, error) {
	return Credentials.Values(ctx, r, store.Query{Index: byRequest, Value: id.Key()})
}

// Expiring returns the credentials that expire between two times, with the users to
// notify.
func Expiring(ctx context.Context, r store.Reader, from, to time.Time) ([]letter.Expiry, error) {
	var out []letter.Expiry
	for c, err := range Credentials.Find(ctx, r, store.Query{}) {
		if err != nil {
			return nil, err
		}
		ends := c.Value.Expires
		if ends.IsZero() || ends.Before(from) || ends.After(to) {
			continue
		}
		app, err := Kind.Get(ctx, r, c.Value.AppID.Key())
		if err != nil {
			return nil, err
		}
		out = append(out, letter.Expiry{Credential: c.Value.ID, Name: app.Value.Name, Owner: app.Value.UserID, Expires: ends})
	}
	return out, nil
}
