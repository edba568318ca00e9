package door

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// token is an example token.
const token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJQcm92aWRlciI6Im5vbmUiLCJVc2VySUQiOiJ4In0.c2lnbmF0dXJl" //nolint:gosec // an example

// Operations returns the rows; none when there is no portal.
func (s *Service) Operations() []operation.Operation {
	if s.Scope.IsZero() {
		return nil
	}
	first := operation.Example(First{Username: "admin@example.com", Password: "a-good-password", FirstName: "Ada", LastName: "Lovelace"}, bootstrapped(token))
	open := []operation.Option{operation.Switched(s.open), operation.Public(), operation.Early(), operation.Compact(), operation.Redact("password", "username", "first_name", "last_name", "Email", "First", "Last"), operation.Limits(maxBootstrap, 0), first,
		operation.Faulting(table.CodeInvalid, CodeBootstrapped), operation.Answers(map[string]operation.Answer{CodeBootstrapped: {}}),
		operation.Notes("Works once. It creates the first admin, the default organisation and its team, two catalogues and the settings. The response has the API token of the admin.")}
	probe := portal.Group("portal", "", "start")
	probe.Path = ""
	probe.Style.Failure = operation.FailureMessage
	group := portal.Group("portal", "", "start")
	rows := group.Rows(
		operation.POST("bootstrap", "/bootstrap", "Create the first admin of the portal", s.bootstrap, open...),
		operation.PUT("rotate", "/profile/rotate-token", "Rotate the API token of the caller", s.rotate, portal.Action(),
			operation.Notes("The token that the request uses stops working."),
			operation.Example(nil, Rotated{portal.Executed("Rotate"), token})),
	)
	older := group
	older.Path = "/api"
	rows = append(rows, older.Rows(operation.POST("bootstrap_older", "/bootstrap", "Create the first admin of the portal, at an older path", s.bootstrap, open...))...)
	return append(rows, probe.Rows(
		operation.GET("live", "/live", "Show that the process runs", func(context.Context, struct{}) (Message, error) { return Message{"Success"}, nil }, operation.Public(), operation.Early(), operation.Example(nil, Message{"Success"})),
		operation.GET("ready", "/ready", "Show whether the portal responds, also before it is bootstrapped", s.ready, operation.Public(), operation.Early(),
			operation.Faulting(codeNotReady), operation.Example(nil, Message{"Success"})),
	)...)
}

// maxBootstrap is the maximum body size, in bytes, of a call without authentication.
const maxBootstrap = 16 << 10

const codeNotReady = "portal.not_ready"

// Message is the answer of a probe.
type Message struct {
	Message string `json:"message"`
}

// ready checks the store each time. A process that is about to stop refuses every form,
// so it is not ready: load balancers should choose another process.
func (s *Service) ready(ctx context.Context, _ struct{}) (Message, error) {
	if s.Stopping != nil && s.Stopping() {
		return Message{}, fault.New(fault.Unavailable, codeNotReady, "the portal is about to stop")
	}
	if err := s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		_, err := r.Count(ctx, store.Query{Kind: installations.Name})
		return err
	}); err != nil {
		return Message{}, fault.New(fault.Unavailable, codeNotReady, "the database does not answer").Because(err)
	}
	return Message{"Success"}, nil
}

// Rotated is the answer to a rotation.
type Rotated struct {
	portal.Done
	JWTToken string `json:"JWTToken"`
}

type rotateIn struct{ Who operation.Principal }

// rotate gives the caller a new token.
func (s *Service) rotate(ctx context.Context, in rotateIn) (Rotated, error) {
	var key string
	fresh, at := people.NewToken(s.Keys), s.Stamp(s.Scope)
	_, err := s.Store.Update(ctx, s.Scope, func(w store.Writer) (err error) {
		if key, err = s.key(ctx, w); err != nil {
			return err
		}
		id, _ := account.OfPrincipal(in.Who.ID)
		_, err = portal.Edit(ctx, w, people.Users, id, at, func(u account.User) (account.User, error) {
			u.Token, u.TokenAt = fresh, at.Now()
			return u, nil
		})
		return err
	})
	if err != nil {
		return Rotated{}, err
	}
	return Rotated{portal.Executed("Rotate"), account.Sign(key, fresh)}, nil
}
