package session

import (
	"context"
	"slices"
	"time"

	users "github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Held has the operations of users on valid sessions, their own and those of others
// (docs/wire/sessions.md#who-is-signed-in).
type Held struct{ *Service }

// Codes of the faults of these operations.
const (
	codeNoUser    = identity.UserKind + ".not_found"
	codeNoSession = session.Kind + ".not_found"
)

// View is a session as the API shows it, without anything that gives access to it.
type View struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created_at"`
	Used    time.Time `json:"last_used" doc:"Last use, accurate to about a minute."`
	Expires time.Time `json:"expires_at"`
	Address string    `json:"address" doc:"IP address from which the user logged in. Empty for sessions of older versions, which did not store it."`
	Agent   string    `json:"user_agent" doc:"User-Agent of the browser at login, up to 250 characters."`
	SSO     bool      `json:"sso" doc:"true: the user logged in at an identity provider. false: with a password."`
	Current bool      `json:"current" doc:"true: the request uses this session."`
}

// Operations lists the operations on sessions.
func (s Held) Operations() []operation.Operation {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	held := View{ID: "5f1a0c5d8e3b2a1f00000009", Created: at, Used: at.Add(time.Minute), Expires: at.Add(time.Hour), Address: "192.0.2.7", Agent: "Mozilla/5.0 (X11; Linux x86_64)", Current: true}
	ended := func(n int) map[string]any {
		return map[string]any{"Status": "OK", "Message": "Sessions ended", "Meta": Ended{n}}
	}
	return operation.Group{
		Surface: operation.Management, Name: "users", Path: "/api/users", Tag: "Users", Permission: access.Users,
		Style: operation.Style{Word: "OK", ListKey: "sessions", Faults: map[string]operation.Answer{codeNoUser: {Text: "Could not retrieve user detail."}}},
	}.Rows(
		operation.GET("sessions", "/{userId}/sessions", "List the sessions of a user", s.List, operation.Own("userId"), operation.Faulting(codeNoUser),
			operation.Example(nil, operation.Page[View]{Items: []View{held}, Pages: 1}),
			operation.Notes("The list has the valid sessions, newest first, 20 at most. All users can list their own.")),
		operation.DELETE("sessions.end_all", "/{userId}/sessions", "End the sessions of a user", s.EndAll, operation.Own("userId"), operation.Faulting(codeNoUser),
			operation.Example(nil, ended(2)), operation.Notes("The user has to log in again. All users can do this for themselves. With others=true, the session of the request stays valid.")),
		operation.DELETE("sessions.end", "/{userId}/sessions/{sessionId}", "End a session of a user", s.End, operation.Own("userId"), operation.Faulting(codeNoUser, codeNoSession),
			operation.Example(nil, ended(1)), operation.Notes("All users can do this for themselves.")),
	)
}

type heldIn struct {
	Scope   tenant.Scope
	Who     operation.Principal
	Browser operation.Browser
	User    string `path:"userId" doc:"Identifier of the user."`
}

// List lists the valid sessions of a user.
func (s Held) List(ctx context.Context, in heldIn) (out operation.Page[View], err error) {
	out = operation.Page[View]{Items: []View{}, Pages: 1}
	err = s.users.Store.View(ctx, in.Scope, func(r store.Reader) error {
		list, err := s.held(ctx, r, in)
		for _, v := range list {
			out.Items = append(out.Items, View{ID: v.ID, Created: v.Created, Used: v.LastUse(), Expires: v.Expires, Address: v.Address, Agent: v.Agent, SSO: v.Person != nil, Current: s.presents(in, v)})
		}
		return err
	})
	return out, err
}

// held returns the valid sessions of a user, the newest first. A person from an
// identity provider may have sessions without being a user.
func (s Held) held(ctx context.Context, r store.Reader, in heldIn) ([]session.Session, error) {
	list, err := sessionsOf(ctx, r, in.User)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 && in.Who.ID != in.User {
		if _, err := users.Records.Get(ctx, r, in.User); err != nil {
			return nil, err
		}
	}
	now := s.users.Now()
	list = slices.DeleteFunc(list, func(v session.Session) bool { return v.Over(now) })
	slices.SortStableFunc(list, func(a, b session.Session) int { return b.Created.Compare(a.Created) })
	return list, nil
}

// presents reports whether the request comes with the session v.
func (s Held) presents(in heldIn, v session.Session) bool {
	return in.Browser.Token != "" && slices.Contains(s.digests(in.Browser.Token), v.Digest)
}

// Ended says how many sessions were ended.
type Ended struct {
	Sessions int `json:"sessions" doc:"Number of sessions that ended."`
}

type endAllIn struct {
	heldIn
	Others bool `query:"others" doc:"true: the session of the request stays valid."`
}

// EndAll ends the sessions of a user.
func (s Held) EndAll(ctx context.Context, in endAllIn) (operation.Receipt, error) {
	return s.ending(ctx, in.heldIn, func(v session.Session) bool { return !in.Others || !s.presents(in.heldIn, v) }, false)
}

type endIn struct {
	heldIn
	ID string `path:"sessionId" doc:"Identifier of the session."`
}

// End ends one session of a user.
func (s Held) End(ctx context.Context, in endIn) (operation.Receipt, error) {
	return s.ending(ctx, in.heldIn, func(v session.Session) bool { return v.ID == in.ID }, true)
}

// ending ends the sessions of a user for which meant returns true. With one, at least
// one must match.
func (s Held) ending(ctx context.Context, in heldIn, meant func(session.Session) bool, one bool) (operation.Receipt, error) {
	var n int
	_, err := s.users.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		list, err := s.held(ctx, w, in)
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(v session.Session) bool { return !meant(v) })
		if n = len(list); n == 0 && one {
			return fault.New(fault.NotFound, codeNoSession, "the user has no such session")
		}
		return end(ctx, w, list)
	})
	return operation.Receipt{Message: "Sessions ended", Meta: Ended{n}}, err
}
