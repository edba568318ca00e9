package apps

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CodeOffer is the fault code for a product that is not offered under the plan.
const CodeOffer = "portal_own_apps.offer"

type ownOrder struct {
	ownNamed
	numbered
	Body table.Body[request.Order] `body:""`
}

// ownBelow is an access request of an app that the caller may use.
type ownBelow struct {
	ownNamed
	Request string `path:"access_request_id" doc:"Number or CID of the access request."`
}

// ownCredentialNamed is a credential of an app that the caller may use.
type ownCredentialNamed struct {
	ownNamed
	ID string `path:"credential_id" doc:"Number or CID of the credential."`
}

type ownDropping struct {
	ownCredentialNamed
	Product string `path:"product_id" doc:"Number of a product of the credential."`
}

type ownSubscribing struct {
	ownBelow
	Body table.Body[request.Subscribed] `body:""`
}

type ownRenewing struct {
	ownCredentialNamed
	Body table.Body[credential.Renewal] `body:""`
}

// ownAccessRows are the operations on the access of apps. Users of an app may request
// access and manage its credentials.
func (s *Service) ownAccessRows() []operation.Row {
	session, ended := operation.BySession(), operation.Example(nil, portal.Status{Status: "ok"})
	order := map[string]any{"PlanID": 1, "ProductIDs": []int{1, 2}, "CatalogueID": 1}
	subscription := map[string]any{"WebhookURL": "https://shop.example.com/messages", "WebhookSecret": "hush", "WebhookEventTypes": []string{"order.created"}}
	fails := func(more ...string) operation.Option { return operation.Faulting(append(more, failing...)...) }
	const requests, one, credentials = "/{app_id}/access-requests", "/{app_id}/access-requests/{access_request_id}", "/{app_id}/credentials/{credential_id}"
	return []operation.Row{
		operation.GET("usage", "/{app_id}/usage", "Count the calls of an app by day", s.ownUsage, session, operation.Faulting(CodeUsage),
			operation.Notes("The response counts calls with the keys of the app at all dashboards, including keys that it had in the last 90 days. App 0 stands for all apps that the caller may use. Calls with tokens of identity providers cannot be attributed to an app and are not counted."), operation.Example(nil, exampleUsage)),
		operation.POST("order", requests, "Request access for an app", s.ownOrder, session, operation.Status(201), fails(CodeMany, CodeQuota, CodeOffer, idp.CodeRedirect),
			operation.Notes("The products must be in a catalogue that the caller may see, and the catalogue must offer the plan. The request is approved at once if the plan has automatic approval. If that approval fails, the request waits for an administrator."),
			operation.Example(order, exampleOwnRequest)),
		operation.GET("request", one, "Fetch an access request of an app", s.ownRequested, session, operation.Example(nil, exampleOwnRequest)),
		operation.DELETE("withdraw", one, "Withdraw an access request", s.ownWithdraw, session, fails(), operation.Notes(endings), ended),
		operation.PUT("subscribe", one+"/webhook", "Set the webhook to which gateways send the messages of an access request", s.ownSubscribe, session, operation.Redact("WebhookSecret"),
			operation.Faulting(table.CodeInvalid, CodeSubscribe), operation.Notes("Only for approved access requests. Members that are absent in the body do not change. With an empty `WebhookURL` nothing is sent."),
			operation.Example(subscription, exampleOwnRequest)),
		operation.POST("test", one+"/webhook/test", "Send a test message to the webhook of an access request", s.ownTest, session, operation.Faulting(table.CodeInvalid, CodeUntested, CodeTestWait), operation.Limits(0, testFor+time.Second),
			operation.Notes("The portal sends a POST request with JSON to the webhook, in the format of the gateways. The body says that it is a test. The response has only the status of the receiver's response."),
			operation.Example(map[string]any{"EventType": "order.created"}, Tested{"order.created", true, 204, 41, ""})),
		operation.POST("reveal", credentials+"/reveal", "Fetch the secrets of a credential", s.ownReveal, session, operation.Redact("Credential", "OAuthClientSecret"),
			operation.Notes("Each call is recorded in the audit trail."), operation.Example(nil, exampleRevealed)),
		operation.PUT("rotate", credentials+"/rotate", "Rotate a credential", s.ownRotate, session, fails(credential.CodeState, CodeElsewhere, CodeIdle),
			operation.Notes("The new value has the same rights, and its expiry starts anew. The old value stops working at once."), operation.Example(nil, exampleOwnCredential)),
		operation.DELETE("revoke", credentials, "Delete a credential", s.ownRevoke, session, fails(CodeGiven),
			operation.Notes("The credential is revoked at the dashboard, the identity provider or the gateways that issued it. The access request is not deleted. Credentials that administrators have created can be deleted only by administrators."), ended),
		operation.DELETE("drop", credentials+"/products/{product_id}", "Remove a product from a credential", s.ownDrop, session, fails(CodeGiven, CodeLast),
			operation.Notes("The credential keeps its other products. An access request without remaining products ends."), operation.Example(nil, exampleOwnCredential)),
		operation.PUT("renew", credentials+"/certificate", "Replace the certificate of a credential", s.ownRenew, session, fails(credential.CodeState, credential.CodeCertificate),
			operation.Example(map[string]any{"Certificate": "-----BEGIN CERTIFICATE-----…"}, exampleOwnCredential)),
		operation.DELETE("forget", credentials+"/certificate", "Remove the certificate of a credential", s.ownForget, session, fails(credential.CodeState),
			operation.Notes("The key is not deleted, but gives no access until the credential has a certificate again."), ended),
	}
}

// offered are the catalogues from which a user may request products and plans.
type offered []table.ID // in order

// offeredTo returns the catalogues that are offered to a user.
func offeredTo(ctx context.Context, r store.Reader, u account.User) (out offered, err error) {
	rules, err := general.Load(ctx, r)
	if err != nil {
		return nil, err
	}
	for c, err := range portal.All(ctx, r, catalogues.Kind, 0) {
		if err != nil {
			return nil, err
		}
		audiences, err := catalogues.AudiencesOf(ctx, r, c.ID)
		if err != nil {
			return nil, err
		}
		if c.See(catalogue.Portal(rules.PortalVisibility), &u, audiences).Cart {
			out = append(out, c.ID)
		}
	}
	return out, nil
}

// resolver resolves only records that the user may name; others are not found.
func (o offered) resolver(ctx context.Context, r store.Reader, app table.ID) table.Resolve {
	all := portal.Resolver(ctx, r)
	return func(kind, name string) (table.ID, bool, error) {
		id, known, err := all(kind, name)
		if err != nil || !known {
			return id, known, err
		}
		switch kind {
		case request.CredentialKind:
			c, err := portal.Find(ctx, r, Credentials, id.String())
			return id, c.AppID == app, err
		case catalogue.Kind:
			return id, slices.Contains(o, id), nil
		case catalogue.PlanKind:
			p, err := portal.Find(ctx, r, plans.Kind, id.String())
			return id, catalogue.Shows(o, p.Catalogues), err
		case catalogue.ProductKind:
			p, err := portal.Find(ctx, r, products.Kind, id.String())
			return id, !p.Away() && catalogue.Shows(o, p.Catalogues), err
		}
		return id, true, nil
	}
}

// ownOrder makes an access request. If it should be approved at once but cannot be, it is
// made all the same: administrators see it, and decide.
func (s *Service) ownOrder(ctx context.Context, in ownOrder) (out OwnRequest, err error) {
	var req request.Request
	made := false
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		v, err := in.find(ctx, w)
		if err != nil {
			return err
		}
		ticket, err := in.ticket(v.app.ID)
		if err != nil {
			return err
		}
		asks := said(ticket, in.Body.Get, "PlanID", "ProductIDs", "CatalogueID")
		if req, made, err = madeBy(ctx, w, Requests, ticket); made {
			return same(req.TicketFor, asks)
		} else if err != nil {
			return err
		}
		o, err := offeredTo(ctx, w, v.viewer)
		if err != nil {
			return err
		}
		if req, err = s.requested(ctx, w, asking{v.app, v.viewer.ID, ticket, asks}, in.Body, o.resolver(ctx, w, v.app.ID)); err != nil {
			return err
		}
		if err := addressed(ctx, w, v.app, req); err != nil {
			return err
		}
		// One catalogue must offer the products together with the plan: the one that the
		// request names or, if it names none, any.
		if req.CatalogueID != 0 {
			o = offered{req.CatalogueID}
		}
		p, err := portal.Find(ctx, w, plans.Kind, req.PlanID.String())
		if err != nil {
			return err
		}
		for _, id := range req.ProductIDs {
			v, err := portal.Find(ctx, w, products.Kind, id.String())
			if err != nil {
				return err
			}
			if !catalogue.Offers(o, catalogue.Item{Provider: v.ProviderID, Catalogues: v.Catalogues}, catalogue.Item{Provider: p.ProviderID, Catalogues: p.Catalogues}) {
				return fault.New(fault.Invalid, CodeOffer, "PlanID is not offered for product %s", v.Title())
			}
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	if made {
		s.awaited(ctx, req)
	} else if req.ProvisionImmediately {
		if waits, err := s.approveAtOnce(ctx, s.Scope, req.ID); err != nil {
			s.Log.WarnContext(ctx, "an access request could not be approved at once", "waits", waits, "org_id", string(s.Scope.Org()), "access_request", int64(req.ID), "error", err)
		}
	}
	return s.ownRequested(ctx, ownBelow{in.ownNamed, req.ID.String()})
}

// under returns an access request of the app, and the app.
func (in ownBelow) under(ctx context.Context, r store.Reader) (v usable, req request.Request, err error) {
	if v, err = in.find(ctx, r); err != nil {
		return v, req, err
	}
	if req, err = portal.Find(ctx, r, Requests, in.Request); err == nil && req.AppID != v.app.ID {
		err = Requests.Absent()
	}
	return v, req, err
}

// nested returns an access request as named in administrators' operations, after checking
// that the caller may use the app.
func (s *Service) nested(ctx context.Context, in ownBelow) (out nested, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		v, req, err := in.under(ctx, r)
		out = nested{named{s.Scope, v.app.ID.String()}, req.ID.String()}
		return err
	})
	return out, err
}

func (s *Service) ownRequested(ctx context.Context, in ownBelow) (out OwnRequest, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		_, req, err := in.under(ctx, r)
		if err == nil {
			out, err = ownRequest(ctx, r, req)
		}
		return err
	})
	return out, err
}

func (s *Service) ownWithdraw(ctx context.Context, in ownBelow) (out portal.Status, err error) {
	at, err := s.nested(ctx, in)
	if err == nil {
		out, err = s.deleteNested(ctx, at)
	}
	return out, Plain(err)
}

func (s *Service) ownSubscribe(ctx context.Context, in ownSubscribing) (out OwnRequest, err error) {
	at, err := s.nested(ctx, in.ownBelow)
	if err == nil {
		_, err = s.subscribe(ctx, subscribing{at, in.Body})
	}
	if err != nil {
		return out, err
	}
	return s.ownRequested(ctx, in.ownBelow)
}

// CodeGiven is the fault code for a credential that only administrators may delete.
const CodeGiven = "portal_own_apps.given"

// ownStored returns a credential of an app that the caller may use.
func (s *Service) ownStored(ctx context.Context, in ownCredentialNamed) (c credential.Credential, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		v, err := in.find(ctx, r)
		if err != nil {
			return err
		}
		if c, err = portal.Find(ctx, r, Credentials, in.ID); err == nil && c.AppID != v.app.ID {
			err = Credentials.Absent()
		}
		return err
	})
	return c, err
}

func (s *Service) ownCredentialShown(ctx context.Context, in ownCredentialNamed) (out OwnCredential, err error) {
	c, err := s.ownStored(ctx, in)
	if err != nil {
		return out, err
	}
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		out, err = s.ownCredential(ctx, r, c)
		return err
	})
	return out, err
}

func (s *Service) ownReveal(ctx context.Context, in ownCredentialNamed) (Revealed, error) {
	c, err := s.ownStored(ctx, in)
	if err != nil {
		return Revealed{}, err
	}
	v, err := s.opened(c)
	return Revealed{c.ID, cmp.Or(v.Chosen, v.Key), v.ClientID, v.ClientSecret}, err
}

func (s *Service) ownRotate(ctx context.Context, in ownCredentialNamed) (out OwnCredential, err error) {
	c, err := s.ownStored(ctx, in)
	switch {
	case err != nil:
	case c.Custom != nil:
		_, err = s.rotateCustom(ctx, customNamed{named{s.Scope, c.AppID.String()}, c.ID.String()})
	default:
		err = s.Rotate(ctx, s.Scope, c.ID)
	}
	if err != nil {
		return out, Plain(err)
	}
	return s.ownCredentialShown(ctx, in)
}

func (s *Service) ownRevoke(ctx context.Context, in ownCredentialNamed) (portal.Status, error) {
	c, err := s.ownStored(ctx, in)
	switch {
	case err != nil:
	case c.Custom != nil:
		err = fault.New(fault.Denied, CodeGiven, "administrators have made this credential: they delete it")
	default:
		err = Plain(s.remove(ctx, s.Scope, removal{App: c.AppID, Credential: c.ID}))
	}
	return portal.Status{Status: "ok"}, err
}

// CodeLast is the fault code for the only product of a credential.
const CodeLast = "portal_own_apps.last"

// last returns an error if a credential cannot lose a product.
func last(c credential.Credential, product table.ID) error {
	if !slices.Contains(c.Products, product) {
		return products.Kind.Absent()
	}
	return fault.New(fault.Invalid, CodeLast, "the credential opens no other product: delete it, or end the access, instead")
}

// ownDrop removes a product from a credential.
func (s *Service) ownDrop(ctx context.Context, in ownDropping) (out OwnCredential, err error) {
	c, err := s.ownStored(ctx, in.ownCredentialNamed)
	if err != nil {
		return out, err
	}
	product, _ := table.ParseID(in.Product)
	switch {
	case c.Custom != nil:
		err = fault.New(fault.Denied, CodeGiven, "administrators have made this credential: they change it")
	case len(c.Products) < 2 || !slices.Contains(c.Products, product):
		err = last(c, product)
	default:
		err = Plain(s.remove(ctx, s.Scope, removal{App: c.AppID, Credential: c.ID, Product: product}))
	}
	if err != nil {
		return out, err
	}
	return s.ownCredentialShown(ctx, in.ownCredentialNamed)
}

func (s *Service) ownRenew(ctx context.Context, in ownRenewing) (out OwnCredential, err error) {
	c, err := s.ownStored(ctx, in.ownCredentialNamed)
	if err != nil {
		return out, err
	}
	var wanted credential.Renewal
	err = in.Body.Apply(&wanted, true, func(string, string) (table.ID, bool, error) { return 0, false, nil })
	if err == nil {
		err = Plain(s.replace(ctx, s.Scope, c.ID, issuers.Renew, wanted))
	}
	if err != nil {
		return out, err
	}
	return s.ownCredentialShown(ctx, in.ownCredentialNamed)
}

func (s *Service) ownForget(ctx context.Context, in ownCredentialNamed) (portal.Status, error) {
	c, err := s.ownStored(ctx, in)
	if err == nil && c.Certificate == "" {
		err = Credentials.Absent()
	}
	if err == nil {
		err = Plain(s.replace(ctx, s.Scope, c.ID, issuers.Renew, credential.Renewal{}))
	}
	return portal.Status{Status: "ok"}, err
}
