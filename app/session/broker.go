package session

import (
	"context"

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

// flow is how operators log in.
func (b Broker) flow() *signon.Flow {
	return &signon.Flow{Provider: b.cfg.Provider, Keys: b.users.Keys, Now: b.users.Now, Log: b.users.Log, Cookie: "dashboard-login", URL: b.cfg.PublicURL, URLName: "host_config.hostname"}
}

type loginAt struct {
	Profile  string `path:"profileId" doc:"Identifier of the profile."`
	Provider string `path:"provider" doc:"openid-connect, or the Name of the provider in small letters."`
}

// Begin sends a browser to the identity provider of a profile.
func (b Broker) Begin(ctx context.Context, in loginAt) (operation.Landing, error) {
	_, at, err := b.profile(ctx, in)
	if err != nil {
		return operation.Landing{}, err
	}
	return b.flow().Begin(ctx, at)
}

// profile returns the profile of a login. Addresses of logins name no organisation.
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
	if err := b.open(ctx, p.OrgID); err != nil {
		return p, at, err
	}
	c, err := p.Connection()
	return p, signon.At{Owner: p.OrgID, Path: p.LoginPath(), Provider: c}, err
}

// open refuses people of organisations that let nobody in this way.
func (b Broker) open(ctx context.Context, org tenant.ID) error {
	o, err := b.users.Organisation(ctx, org)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return signon.Missing()
	case err == nil && !o.Value.SSOEnabled:
		return fault.New(fault.Denied, CodeOff, "SSO not enabled for org.")
	}
	return err
}

type returnAt struct {
	loginAt
	comes
	signon.Return
	Attempt string `cookie:"dashboard-login" doc:"The login under way."`
}

// Finish begins the session of a person whom the identity provider has sent back.
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
	who, err := session.AccessData{
		ForSection: session.Dashboard, OrgID: p.OrgID, EmailAddress: found.Email, DisplayName: shortened(found.Name), GroupsIDs: found.Groups, SSOOnlyForRegisteredUsers: p.OnlyRegistered,
	}.Person(found.Email)
	if err != nil {
		return out, b.flow().Refused(err.Error())
	}
	out, err = b.admitted(ctx, p.OrgID, who, in.comes, func(w store.Writer) error { return b.over(ctx, w, p.OrgID, end) })
	if err == nil {
		out.Cookies = append(out.Cookies, end.Cookie)
	}
	return out, err
}

// longestName is how many characters of what a provider calls somebody are kept.
const longestName = 80

func shortened(name string) string {
	if r := []rune(name); len(r) > longestName {
		return string(r[:longestName])
	}
	return name
}

// over notes that a login has ended: of two calls with one login, one gets in.
func (b Broker) over(ctx context.Context, w store.Writer, org tenant.ID, end signon.End) error {
	for _, digest := range end.Digests {
		if _, err := nonces.ByKey(ctx, w, byDigest, digest); err == nil {
			return signon.Spent()
		} else if fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	return nonces.Insert(ctx, w, session.Nonce{ID: b.users.NewID(), OrgID: org, Digest: end.Digests[0], Expires: end.Expires})
}
