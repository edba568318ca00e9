package session

import (
	"context"
	nethttp "net/http"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/signon"
	"github.com/gatehouse-io/gatehouse/core/broker"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Broker logs operators in at identity providers (docs/wire/single-sign-on.md#logins).
type Broker struct{ *Service }

// flow returns the login flow of operators.
func (b Broker) flow() *signon.Flow {
	return &signon.Flow{Provider: b.cfg.Provider, Keys: b.users.Keys, Now: b.users.Now, Log: b.users.Log, Cookie: "dashboard-login", URL: b.cfg.PublicURL, URLName: "host_config.hostname"}
}

type loginAt struct {
	Profile  string `path:"profileId" doc:"Identifier of the profile."`
	Provider string `path:"provider" doc:"openid-connect, or the Name of the provider in lower case."`
}

// Begin sends a browser to the identity provider of a profile.
func (b Broker) Begin(ctx context.Context, in loginAt) (operation.Landing, error) {
	_, at, err := b.profile(ctx, in)
	if err != nil {
		return operation.Landing{}, err
	}
	return b.flow().Begin(ctx, at)
}

// profile returns the profile of a login. URLs of logins name no organisation.
func (b Broker) profile(ctx context.Context, in loginAt) (p broker.Profile, at signon.At, err error) {
	if err := b.flow().Open(); err != nil {
		return p, at, err
	}
	err = b.users.Store.View(ctx, tenant.Everyone("single sign-on"), func(r store.Reader) error {
		v, err := profiles.Locate(ctx, r, in.Profile)
		p = v.Value
		return err
	})
	if fault.KindOf(err) == fault.NotFound || err == nil && !p.Answers(in.Provider) {
		return p, at, signon.Missing()
	}
	if err != nil {
		return p, at, err
	}
	o, err := b.users.Organisation(ctx, p.OrgID)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return p, at, signon.Missing()
	case err != nil:
		return p, at, err
	case !o.Value.SSOEnabled: // the organisation does not allow single sign-on
		return p, at, fault.New(fault.Denied, CodeOff, "SSO not enabled for org.")
	}
	c, err := p.Connection()
	return p, signon.At{Owner: p.OrgID, Path: p.LoginPath(), Provider: c}, err
}

type returnAt struct {
	loginAt
	comes
	signon.Return
	Attempt string `cookie:"dashboard-login" doc:"Identifies the login that the browser has begun."`
}

// Finish begins a session for a person whom the identity provider has redirected back.
func (b Broker) Finish(ctx context.Context, in returnAt) (operation.Landing, error) {
	return b.turned(b.finish(ctx, in))
}

func (b Broker) finish(ctx context.Context, in returnAt) (out operation.Landing, err error) {
	p, at, err := b.profile(ctx, in.loginAt)
	if err != nil {
		return out, err
	}
	found, end, err := b.flow().Finish(ctx, at, in.Attempt, in.Return, p.Rules())
	if err != nil {
		return out, err
	}
	name := found.Name
	if r := []rune(name); len(r) > longestName {
		name = string(r[:longestName])
	}
	who, err := session.AccessData{
		ForSection: session.Dashboard, OrgID: p.OrgID, EmailAddress: found.Email, DisplayName: name, GroupsIDs: found.Groups, SSOOnlyForRegisteredUsers: p.OnlyRegistered,
	}.Person(found.Email)
	if err != nil {
		return out, b.flow().Refused(err.Error())
	}
	out, err = b.admitted(ctx, p.OrgID, who, in.comes, func(w store.Writer) error {
		for _, digest := range end.Digests { // of two calls with one login, only one succeeds
			if _, err := nonces.ByKey(ctx, w, byDigest, digest); err == nil {
				return signon.Spent()
			} else if fault.KindOf(err) != fault.NotFound {
				return err
			}
		}
		return nonces.Insert(ctx, w, session.Nonce{ID: b.users.NewID(), OrgID: p.OrgID, Digest: end.Digests[0], Expires: end.Expires})
	})
	if err == nil {
		out.Cookies = append(out.Cookies, end.Cookie)
	}
	return out, err
}

// longestName is how many characters of a name from an identity provider are kept.
const longestName = 80

// Operations lists the rows of logins. Browsers alone call them.
func (b Broker) Operations() []operation.Operation {
	g := operation.Group{Surface: operation.Management, Name: "tib", Path: "/auth/{profileId}/{provider}", Tag: "Single sign-on", Style: operation.Style{Word: "OK"}}
	more := []string{CodeOff}
	return g.Rows(
		operation.GET("login", "", "Log in at an identity provider", b.Begin, operation.Public(), operation.Status(nethttp.StatusSeeOther),
			operation.Faulting(slices.Concat(signon.Beginning, more)...), operation.Example(nil, operation.Landing{Location: "https://login.example.com/authorize"}),
			operation.Notes("Redirects the browser to the identity provider of the profile (authorization code flow of OpenID Connect).")),
		operation.GET("callback", signon.Callback, "Complete a login at an identity provider", b.Finish, operation.Public(), operation.Writes(), operation.Unseen("state", "code", "dashboard-login"), operation.Status(nethttp.StatusSeeOther),
			operation.Faulting(slices.Concat(signon.Ending, more, []string{CodeRefused})...), operation.Example(nil, operation.Landing{Location: "/"}),
			operation.Notes("Sets the session cookies and redirects the browser to `/`. If the person is refused and sso_custom_login_error_url is set, the browser is redirected to that address. Only the browser that began the login can complete it.")),
	)
}
