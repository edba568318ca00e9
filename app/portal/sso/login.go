package sso

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/signon"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/sso"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// attemptCookie is the name of the cookie of a running login. Its path is that of the
// callback, so that logins through several profiles do not collide.
const attemptCookie = "portal-login"

// flow returns the login flow of the portal.
func (s *Service) flow() *signon.Flow {
	return &signon.Flow{Provider: s.Provider, Keys: s.People.Keys, Now: s.Now, Log: s.Log, Cookie: attemptCookie, URL: s.Profiles.URL, URLName: "portal.url", Key: s.Key}
}

// Login is a way to log in.
type Login struct {
	Name   string `json:"Name"`
	Path   string `json:"Path" doc:"Path at which the login begins."`
	Admins bool   `json:"Admins" doc:"true: the login is for admins; false: for developers."`
}

// Logins are the ways to log in at identity providers.
type Logins struct {
	Logins []Login `json:"Logins" doc:"Ordered by name."`
}

// Logins lists the profiles through which users can log in here.
func (s *Service) Logins(ctx context.Context, _ struct{}) (Logins, error) {
	out := Logins{Logins: []Login{}}
	if s.flow().Open() != nil {
		return out, nil
	}
	err := s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		for p, err := range portal.All(ctx, r, Kind, 0) {
			if err == nil {
				err = s.Profiles.unseal(&p)
			}
			if err != nil {
				return err
			}
			if _, err := p.Connection(); err == nil {
				out.Logins = append(out.Logins, Login{cmp.Or(p.Name, p.Ref), p.LoginPath(), p.ActionType == sso.ForAdmins})
			}
		}
		return nil
	})
	slices.SortFunc(out.Logins, func(a, b Login) int { return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Path, b.Path)) })
	return out, err
}

type profileIn struct {
	Profile  string `path:"profile_id" doc:"ID of the profile."`
	Provider string `path:"provider" doc:"Name of the provider in LoginURL."`
}

// Begin redirects a browser to the identity provider of a profile.
func (s *Service) Begin(ctx context.Context, in profileIn) (operation.Landing, error) {
	_, at, err := s.profile(ctx, in)
	if err != nil {
		return operation.Landing{}, err
	}
	return s.flow().Begin(ctx, at)
}

// profile returns the profile of a login.
func (s *Service) profile(ctx context.Context, in profileIn) (p sso.Profile, at signon.At, err error) {
	if err := s.flow().Open(); err != nil {
		return p, at, err
	}
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		p, err = Find(ctx, r, in.Profile)
		return err
	})
	if err == nil {
		err = s.Profiles.unseal(&p)
	}
	if fault.KindOf(err) == fault.NotFound || err == nil && (in.Provider == "" || p.Segment() != in.Provider) {
		return p, at, signon.Missing()
	}
	if err != nil {
		return p, at, err
	}
	c, err := p.Connection()
	return p, signon.At{Owner: s.Scope.Org(), Path: p.LoginPath(), Provider: c}, err
}

type finishIn struct {
	profileIn
	visitor
	signon.Return
	Attempt string `cookie:"portal-login" doc:"Identifies the login that the browser has begun."`
}

// Finish begins the session of a person who returns from the identity provider.
func (s *Service) Finish(ctx context.Context, in finishIn) (out operation.Landing, err error) {
	p, at, err := s.profile(ctx, in.profileIn)
	if err != nil {
		return out, err
	}
	found, end, err := s.flow().Finish(ctx, at, in.Attempt, in.Return, p.Rules())
	if err != nil {
		return out, err
	}
	who := p.Person(found)
	who.Provider = providerSSO
	out, err = s.enter(ctx, in.visitor, func(w store.Writer, stamp crud.Stamp) (account.User, error) {
		for _, digest := range end.Digests { // if two calls use the same login, one succeeds
			if _, err := nonces.ByKey(ctx, w, byDigest, digest); err == nil {
				return account.User{}, signon.Spent()
			} else if fault.KindOf(err) != fault.NotFound {
				return account.User{}, err
			}
		}
		if err := nonces.Insert(ctx, w, sso.Nonce{ID: s.NewID(), Portal: s.Scope.Org(), Digest: end.Digests[0], Expires: end.Expires}); err != nil {
			return account.User{}, err
		}
		return s.admit(ctx, w, stamp, who)
	})
	if err == nil {
		out.Cookies = append(out.Cookies, end.Cookie)
	}
	return out, err
}
