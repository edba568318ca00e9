package idps

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/registration"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// acting executes the steps of one grant. Before and after each call to the provider it
// updates the record of the client, so that a retry continues from there.
type acting struct {
	*Service
	org  tenant.ID
	g    *issuers.Grant
	memo memo
	lone bool // the client belongs to no credential: only this call deletes it
}

func (a acting) view(ctx context.Context, fn func(store.Reader) error) error {
	scope, err := tenant.Of(a.org)
	if err != nil {
		return err
	}
	return a.Store.View(ctx, scope, fn)
}

func (a acting) update(ctx context.Context, fn func(store.Writer) error) error {
	scope, err := tenant.Of(a.org)
	if err != nil {
		return err
	}
	_, err = a.Store.Update(ctx, scope, fn)
	return err
}

// record returns the client of the app at the provider; there is false if it has none.
func (a acting) record(ctx context.Context) (rec idp.Registered, c idp.Client, there bool, err error) {
	key := idp.Registered{App: a.memo.App, IdP: a.memo.IdP}.Key()
	err = a.view(ctx, func(r store.Reader) (err error) {
		rec, there, err = get(ctx, r, clients, key)
		return err
	})
	if err != nil || rec.Sealed == "" {
		return rec, c, there, err
	}
	text, _, err := a.Keys.Open(rec.Sealed)
	if err != nil {
		return rec, c, there, fault.New(fault.Unavailable, CodeSealed, "the client %s cannot be opened: configure the encryption key", rec.ClientID).Because(err)
	}
	err = json.Unmarshal([]byte(text), &c)
	return rec, c, there, err
}

// keep stores the client from the provider's answer, also for other credentials of the app
// that share the client: its secret may have changed.
func (a acting) keep(ctx context.Context, rec idp.Registered, c idp.Client) (idp.Registered, error) {
	return a.keepIf(ctx, rec, c, func(store.Writer) error { return nil })
}

// keepIf is keep, unless may returns an error.
func (a acting) keepIf(ctx context.Context, rec idp.Registered, c idp.Client, may func(store.Writer) error) (idp.Registered, error) {
	text, err := json.Marshal(c)
	if err == nil {
		rec.ClientID = c.ID
		rec.Sealed, err = a.Keys.Seal(string(text))
	}
	if err == nil {
		err = a.update(ctx, func(w store.Writer) error {
			err := may(w)
			if err == nil {
				err = put(ctx, w, clients, rec)
			}
			if err != nil || c.ID == "" {
				return err
			}
			at := crud.Stamp{Org: a.org, Now: a.Now}
			return apps.Share(ctx, w, a.Keys, at, rec.App, a.g.Credential, c.ID, func(v credential.Values) credential.Values { return told(v, c) })
		})
	}
	return rec, err
}

func (a acting) forget(ctx context.Context, rec idp.Registered) error {
	return a.update(ctx, func(w store.Writer) error { return drop(ctx, w, clients, rec.Key()) })
}

// place returns the client type, its provider, and how to reach the provider.
func (a acting) place(ctx context.Context) (t idp.ClientType, p idp.Provider, at registration.Place, err error) {
	err = a.view(ctx, func(r store.Reader) (err error) {
		t, p, err = Issuer{a.Service}.typeOf(ctx, r, a.g.ClientType)
		return err
	})
	if err == nil {
		at, err = a.at(p)
	}
	return t, p, at, err
}

// register registers a client for the app, or adds scopes to its existing client.
func (a acting) register(ctx context.Context) error {
	rec, c, there, err := a.record(ctx)
	if err != nil {
		return err
	}
	if there && rec.ClientID != "" {
		return a.claim(ctx, rec, c, scopes(a.g, a.g.Products))
	}
	t, p, at, err := a.place(ctx)
	if err != nil {
		return err
	}
	d, err := a.Registrar.Discover(ctx, at)
	if err == nil {
		err = d.Registers()
	}
	if err != nil {
		return explain(err)
	}
	body, err := t.Request(p.Type, wanted(a.g))
	if err != nil {
		return err
	}
	rec = idp.Registered{Portal: a.org, App: a.memo.App, IdP: p.ID, Insecure: p.Insecure, JWKSURI: d.JWKSURI, TokenURL: d.Token, Attempt: a.memo.Claim}
	if err := a.update(ctx, func(w store.Writer) error { return put(ctx, w, clients, rec) }); err != nil {
		return err
	}
	c, err = a.Registrar.Register(ctx, at, d.Registration, a.memo.Claim, body)
	if err != nil {
		if !errors.Is(err, registration.ErrUncertain) { // no client was made
			if forgotten := a.forget(ctx, rec); forgotten != nil {
				return forgotten
			}
		}
		return explain(err)
	}
	rec.Attempt = ""
	if c.Scope == "" { // the client has the requested scopes
		c.Scope = strings.Join(scopes(a.g, a.g.Products), " ")
	}
	rec = rec.With(idp.Claim{ID: a.memo.Claim, Scopes: scopes(a.g, a.g.Products)})
	if _, err = a.take(ctx, rec, c); err == nil {
		a.note(c, rec.JWKSURI, rec.TokenURL)
	}
	return err
}

// claim registers the credential's claim to scopes of the client.
func (a acting) claim(ctx context.Context, rec idp.Registered, c idp.Client, list []string) error {
	before := rec
	rec = rec.With(idp.Claim{ID: a.memo.Claim, Scopes: list})
	rec, err := a.keep(ctx, rec, c) // stored first, so that an undo knows about it
	if err != nil {
		return err
	}
	c, err = a.move(ctx, rec, c, before, rec)
	if err != nil {
		if err = explain(err); definite(err) { // the client has only its old scopes
			if _, failed := a.keep(ctx, before, c); failed != nil {
				return failed
			}
		}
		return err
	}
	a.note(c, cmp.Or(a.g.Was.JWKSURI, rec.JWKSURI), cmp.Or(a.g.Was.TokenURL, rec.TokenURL))
	return nil
}

// move changes the scopes of the client at the provider, and its redirect addresses to those
// of the app. Each call may change the client's token.
func (a acting) move(ctx context.Context, rec idp.Registered, c idp.Client, before, after idp.Registered) (idp.Client, error) {
	if !c.Managed() {
		if len(idp.Reduced(after.Needs(), idp.Scopes(c.Scope), nil)) == 0 {
			return c, nil
		}
		return c, fault.New(fault.Invalid, CodeProvider, "the identity provider has told no way to change the client %s", c.ID)
	}
	at := registration.Place{Insecure: rec.Insecure}
	read, err := a.Registrar.Read(ctx, at, c)
	if err != nil {
		return c, err
	}
	c = c.After(read)
	if rec, err = a.keep(ctx, rec, c); err != nil {
		return c, err
	}
	list, redirects := idp.Moved(idp.Scopes(c.Scope), before, after), a.g.App.Redirects()
	if len(redirects) == 0 || slices.Equal(redirects, c.Redirects) {
		redirects = nil
	}
	if redirects == nil && slices.Equal(list, idp.Scopes(c.Scope)) {
		return c, nil
	}
	body, err := c.Revised(list, redirects)
	if err != nil {
		return c, err
	}
	answer, err := a.Registrar.Update(ctx, at, c, body)
	if err != nil {
		return c, err
	}
	c = c.After(answer)
	if answer.Scope == "" {
		c.Scope = strings.Join(list, " ")
	}
	_, err = a.keep(ctx, rec, c)
	return c, err
}

// change gives the credential the scopes of other products.
func (a acting) change(list []issuers.Product) func(context.Context) error {
	return func(ctx context.Context) error {
		rec, c, there, err := a.record(ctx)
		if err != nil {
			return err
		}
		if !there || rec.ClientID == "" {
			return fault.New(fault.Invalid, CodeProvider, "the client of the credential is not known any more")
		}
		return a.claim(ctx, rec, c, scopes(a.g, list))
	}
}

// withdraw removes the claim of the credential: it deletes the client, or only removes the
// scopes that no other credential of the app needs.
func (a acting) withdraw(ctx context.Context) error {
	rec, c, there, err := a.record(ctx)
	if err != nil || !there {
		return err
	}
	if rec.ClientID == "" {
		if rec.Attempt != a.memo.Claim {
			return nil
		}
		if c, err = a.lost(ctx, rec); err != nil {
			return err
		}
	} else if _, claimed := rec.Claimed(a.memo.Claim); !claimed {
		return nil
	}
	if left := rec.Without(a.memo.Claim); len(left.Claims) > 0 { // for other credentials
		if c.Managed() {
			after, err := a.move(ctx, rec, c, rec, left)
			if err != nil && !errors.Is(err, registration.ErrGone) { // a deleted client has no scopes
				return explain(err)
			}
			c = after
		} else {
			a.Log.WarnContext(ctx, "the scopes of a client cannot be reduced at its identity provider, which has told no way to do so", "org_id", string(a.org), "client_id", c.ID)
		}
		_, err := a.keep(ctx, left, c)
		return err
	}
	if o, shared, err := a.anothers(ctx, rec, c.ID); err != nil {
		return err
	} else if shared {
		a.Log.WarnContext(ctx, "a client is not deleted at its identity provider: another app has it as well", "org_id", string(a.org), "client_id", c.ID, "app_id", int64(o.App))
		return a.forget(ctx, rec)
	}
	if c.ID != "" && !c.Managed() {
		a.Log.WarnContext(ctx, "a client cannot be deleted at its identity provider, which has told no way to do so", "org_id", string(a.org), "client_id", c.ID)
	} else if c.ID != "" {
		err := a.Registrar.Delete(ctx, registration.Place{Insecure: rec.Insecure}, c)
		switch {
		case err == nil:
		case !errors.Is(err, registration.ErrDenied), !a.lone && !intents.Repeated(ctx): // the provider does not accept the token of a deleted client
			return explain(err)
		case a.lone:
			a.Log.WarnContext(ctx, "a client is forgotten for which its identity provider does not take the token any more; delete it there if it is there", "org_id", string(a.org), "client_id", c.ID)
		}
	}
	return a.forget(ctx, rec)
}

// lost repeats a registration whose answer was lost. A provider that recognises the
// idempotency key answers with the existing client; a client that another provider makes is
// deleted as well. lost does not try again if that answer cannot be used either, since each
// request may make another client.
func (a acting) lost(ctx context.Context, rec idp.Registered) (c idp.Client, err error) {
	t, p, at, err := a.place(ctx)
	if k := fault.KindOf(err); k == fault.Invalid || k == fault.NotFound { // the provider was deleted
		return c, nil
	}
	if err != nil {
		return c, err
	}
	d, err := a.Registrar.Discover(ctx, at)
	if err == nil {
		err = d.Registers()
	}
	if err != nil {
		return c, explain(err)
	}
	body, err := t.Request(p.Type, wanted(a.g))
	if err != nil {
		return c, nil // it was never sent
	}
	c, err = a.Registrar.Register(ctx, at, d.Registration, rec.Attempt, body)
	if err != nil && !errors.Is(err, registration.ErrUntouched) {
		a.Log.WarnContext(ctx, "a registration ended without an answer, and cannot be asked for again: a client may be left at the identity provider", "org_id", string(a.org), "provider_id", int64(p.ID), "client_name", a.g.App.Name)
		return idp.Client{}, nil
	}
	return c, explain(err)
}

// note updates the values of the credential.
func (a acting) note(c idp.Client, jwks, token string) {
	own, _ := json.Marshal(memo{Claim: a.memo.Claim, App: a.memo.App, IdP: a.memo.IdP}) // texts and numbers
	a.g.Values = told(credential.Values{Public: credential.Public{JWKSURI: jwks, TokenURL: token, Own: own}}, c)
}

// told returns the values of a credential, updated with the provider's answer about its
// client.
func told(v credential.Values, c idp.Client) credential.Values {
	v.ClientID, v.RegistrationURI, v.GrantType, v.ResponseType, v.TokenEndpoints = c.ID, c.URI, strings.Join(c.Grants, ","), strings.Join(c.Responses, ","), c.Method
	v.Scope, v.RedirectURI, v.Expires = c.Scope, strings.Join(c.Redirects, ","), c.Ends
	v.Secrets = credential.Secrets{ClientSecret: c.Secret, RegistrationToken: c.Token, Response: c.Raw}
	return v
}

// CodeProvider is the fault code for what a provider refuses, CodeAway the code for a
// provider that does not answer.
const (
	CodeProvider = "portal_oauth_provider.refused"
	CodeAway     = "portal_oauth_provider.away"
)

// explain converts an error of a provider into a fault for sagas.
func explain(err error) error {
	if err == nil || fault.KindOf(err) != fault.Internal {
		return err
	}
	for _, known := range []error{registration.ErrRefused, registration.ErrDenied, registration.ErrGone} {
		if errors.Is(err, known) {
			return fault.New(fault.Invalid, CodeProvider, "%s", err.Error())
		}
	}
	if errors.Is(err, registration.ErrUntouched) || errors.Is(err, registration.ErrUncertain) {
		return fault.New(fault.Unavailable, CodeAway, "%s", err.Error())
	}
	return err
}

// definite reports whether an error means that nothing was done and a retry is useless: a
// refused step need not be undone.
func definite(err error) bool {
	k := fault.KindOf(err)
	return k != fault.Internal && k != fault.Unavailable
}

// at returns how to reach a provider.
func (s *Service) at(p idp.Provider) (registration.Place, error) {
	at := registration.Place{WellKnown: p.WellKnownURL, Insecure: p.Insecure}
	if p.Sealed == "" {
		return at, nil
	}
	plain, _, err := s.Keys.Open(p.Sealed)
	if err != nil {
		return at, fault.New(fault.Unavailable, CodeSealed, "the token of the identity provider %s cannot be opened: configure the encryption key, or send the token again", p.Name).Because(err)
	}
	at.Token = plain
	return at, nil
}
