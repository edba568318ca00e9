package apps

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Config is the configuration of a Service.
type Config struct {
	crud.Tools
	Secrets secret.Keys
	Scope   tenant.Scope // of the portal; the zero Scope: there is none
	Issuers issuers.Issuers
	Intents *intents.Service
	Persons *people.Service
	Open    synchronise.Providers // finds dashboards, for the doctor
	Logins  Logins                // identity providers, for the doctor; nil: there are none
	// Receivers calls webhook receivers for test messages, and restricts their addresses;
	// nil: none can be called.
	Receivers fetch.Fetcher
	// Describe returns what the keys of a user contain besides identifiers, as
	// administrators have configured it; nil: nothing.
	Describe func(ctx context.Context, r store.Reader, u account.User) ([]credential.Entry, error)
}

// Service has the operations on apps.
type Service struct {
	Config
	tests     tests
	approving intents.Runner[approval]
	making    intents.Runner[making]
	rotating  intents.Runner[rotation]
	following intents.Runner[following]
	ending    intents.Runner[removal]
	releasing intents.Runner[Lonely]
	departing intents.Runner[departure]
}

// New returns a Service, and registers its sagas.
func New(c Config) *Service {
	s := &Service{Config: c}
	s.approving = intents.Add(c.Intents, intents.Action[approval]{Name: "portal-access-requests.approve", Plan: s.approve})
	s.making = intents.Add(c.Intents, intents.Action[making]{Name: "portal-custom-credentials.make", Plan: s.make})
	s.rotating = intents.Add(c.Intents, intents.Action[rotation]{Name: "portal-credentials.rotate", Plan: s.rotate})
	s.following = intents.Add(c.Intents, intents.Action[following]{Name: "portal-apps.follow", Plan: s.followed})
	s.ending = intents.Add(c.Intents, intents.Action[removal]{Name: "portal-apps.revoke", Plan: s.end})
	s.departing = intents.Add(c.Intents, intents.Action[departure]{Name: "portal-users.depart", Plan: s.departed})
	s.releasing = intents.Add(c.Intents, intents.Action[Lonely]{Name: "portal-apps.release", Plan: func(org tenant.ID, l *Lonely) intents.Plan { // runs after a running saga of the app
		return intents.Plan{Steps: []intents.Step{{Name: "release the client", Do: func(ctx context.Context) error { return s.Logins.Release(ctx, org, *l) }}}}
	}})
	return s
}
