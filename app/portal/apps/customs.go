package apps

import (
	"cmp"
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// customNamed is a custom credential, as named in a path.
type customNamed struct {
	named
	ID string `path:"credential_id" doc:"Number or CID of the credential."`
}

type customMaking struct {
	named
	Body table.Body[credential.CustomOrder] `body:""`
}

type customRenaming struct {
	customNamed
	Body table.Body[credential.Renamed] `body:""`
}

// maxCustoms is the maximum number of custom credentials of an app.
const maxCustoms = 100

// making is the data of the saga that makes a custom credential.
type making struct {
	Credential credential.Credential // as it is stored, without its values
	Values     credential.Values     // of a credential that is managed elsewhere
	Grant      *issuers.Grant        // nil: the credential is managed elsewhere
}

func (s *Service) customRows() []operation.Operation {
	secret := operation.Redact("KeyID", "CredentialKey", "CredentialSecret")
	body := map[string]any{"Alias": "Till of old", "Type": credential.Managed, "PlanID": 1, "ProductIDs": []int{1}, "AuthenticationMethod": "authToken", "AuthTokenType": credential.ChosenToken, "KeyID": "till-of-old"}
	return portal.Group("portal-custom-credentials", "/apps/{app_id}/custom_credentials", "apps").Rows(
		operation.GET("list", "", "List the custom credentials of an app", s.listCustoms, operation.Lists(operation.Item{Kind: credential.Kind, ID: "ID", Name: "Alias"}), secret,
			operation.Example(nil, operation.Listing[ListedCustom]{Items: []ListedCustom{exampleCustom.ListedCustom}, Total: 1, Page: 1, PerPage: portal.DefaultPerPage})),
		operation.POST("create", "", "Create a credential of an app without an access request", s.makeCustom, operation.Status(201), portal.Unprocessable(), secret,
			operation.Faulting(append([]string{CodeMany, issuers.CodeTaken}, failing...)...),
			operation.Notes("A managed credential is issued like that of an access request: a key with a generated or chosen value, or a client of an identity provider. A credential of the other type is only stored and shown."),
			operation.Example(body, exampleCustom)),
		operation.GET("get", "/{credential_id}", "Fetch a custom credential", s.getCustom, secret, operation.Example(nil, exampleCustom)),
		operation.PUT("update", "/{credential_id}", "Change the alias of a custom credential", s.renameCustom, portal.Unprocessable(), secret, operation.Faulting(table.CodeInvalid),
			operation.Notes("Only the alias can be changed; other members of the body are ignored."), operation.Example(map[string]any{"Alias": "Till"}, exampleCustom)),
		operation.PUT("rotate", "/{credential_id}/rotate", "Rotate a managed token", s.rotateCustom, portal.Action(), portal.Unprocessable(),
			operation.Faulting(append([]string{credential.CodeState, CodeElsewhere, CodeIdle}, failing...)...),
			operation.Notes("A new value with the same rights is generated, and its expiry starts anew. The old value stops working at once."), operation.Example(nil, portal.Executed("Rotate"))),
		operation.DELETE("delete", "/{credential_id}", "Delete a custom credential", s.deleteCustom, operation.Faulting(failing...),
			operation.Notes("A managed credential is revoked first."), operation.Example(nil, portal.Executed("Delete"))),
	)
}

// custom returns the custom credential in a path.
func (s *Service) custom(ctx context.Context, r store.Reader, in customNamed) (c credential.Credential, err error) {
	a, err := portal.Find(ctx, r, Kind, in.App)
	if err != nil {
		return c, err
	}
	if c, err = portal.Find(ctx, r, Credentials, in.ID); err == nil && (c.Custom == nil || c.AppID != a.ID) {
		err = Credentials.Absent()
	}
	return c, err
}

func (s *Service) customOf(ctx context.Context, in customNamed) (c credential.Credential, err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		c, err = s.custom(ctx, r, in)
		return err
	})
	return c, err
}

// Customs returns the custom credentials of an app, newest first.
func Customs(ctx context.Context, r store.Reader, app table.ID) ([]credential.Credential, error) {
	all, err := credentialsOf(ctx, r, app)
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(c credential.Credential) bool { return c.Custom == nil }), err
}

func (s *Service) listCustoms(ctx context.Context, in listing) (out operation.Listing[ListedCustom], err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := portal.Find(ctx, r, Kind, in.App)
		if err != nil {
			return err
		}
		all, err := Customs(ctx, r, a.ID)
		if err != nil {
			return err
		}
		orders, of := make([]credential.CustomOrder, 0, len(all)), map[table.ID]credential.Credential{}
		for _, c := range all {
			orders, of[c.ID] = append(orders, credential.CustomOrder{Base: c.Base, Custom: *c.Custom, PlanID: c.PlanID, ProductIDs: c.Products}), c
		}
		out = portal.Excerpt(orders, in.Page, func(o credential.CustomOrder) ListedCustom {
			var one ShownCustom
			if err == nil {
				one, err = s.showCustom(of[o.ID])
			}
			return one.ListedCustom
		})
		return err
	})
	return out, err
}

func (s *Service) getCustom(ctx context.Context, in customNamed) (out ShownCustom, err error) {
	c, err := s.customOf(ctx, in)
	if err == nil {
		out, err = s.showCustom(c)
	}
	return out, err
}

// makeCustom makes a custom credential: first at the dashboard or identity provider, then
// here.
func (s *Service) makeCustom(ctx context.Context, in customMaking) (out ShownCustom, err error) {
	var d *making
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		d, err = s.makeable(ctx, r, in)
		return err
	})
	if err != nil {
		return out, err
	}
	app, chosen := d.Credential.AppID, ""
	if d.Grant != nil {
		chosen = d.Grant.Chosen
	}
	if err = s.settled(ctx, in.Scope, app, s.making.Run(ctx, in.Scope, about(app), d, s.keyID(d.Credential.ProviderID, chosen)...)); err != nil {
		return out, err
	}
	return s.getCustom(ctx, customNamed{in.named, d.Credential.ID.String()})
}

// keyID returns the subject for keys with a chosen text, also across apps: if two sagas choose
// the same text at the same moment, the second one finds the key of the first.
func (s *Service) keyID(at table.ID, chosen string) []intent.Subject {
	if chosen == "" {
		return nil
	}
	return []intent.Subject{{Kind: "KeyID", ID: at.String() + " " + s.Secrets.Digests(chosen)[0]}}
}

// makeable returns the saga data for a custom credential, or why it cannot be made.
func (s *Service) makeable(ctx context.Context, r store.Reader, in customMaking) (*making, error) {
	a, err := portal.Find(ctx, r, Kind, in.App)
	if err != nil {
		return nil, err
	}
	var o credential.CustomOrder
	if err := in.Body.Apply(&o, true, portal.Resolver(ctx, r)); err != nil {
		return nil, err
	}
	if err := roomFor(ctx, r, a.ID); err != nil {
		return nil, err
	}
	if o.Type == credential.Elsewhere {
		v := credential.Values{Secrets: credential.Secrets{Key: cmp.Or(o.Key, o.KeyID), Chosen: o.KeyID, ClientSecret: o.Secret}}
		return &making{Credential: o.Of(a.ID, 0, issuers.Nothing), Values: v}, nil
	}
	p, err := portal.Find(ctx, r, plans.Kind, o.PlanID.String())
	if err != nil {
		return nil, err
	}
	list := make([]productOf, 0, len(o.ProductIDs))
	for _, id := range o.ProductIDs {
		v, err := portal.Find(ctx, r, products.Kind, id.String())
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	if err := o.Checked(p, list).Err(); err != nil {
		return nil, err
	}
	method := issuers.Tokens
	if o.OAuth() {
		method = issuers.Registration
	}
	d := &making{Credential: o.Of(a.ID, p.ProviderID, method)}
	issuer, err := s.issuer(method, d.Credential.AuthType)
	if err != nil {
		return nil, err
	}
	if d.Grant, err = s.grant(ctx, r, a, o.PlanID, o.ProductIDs); err != nil {
		return nil, err
	}
	d.Grant.ClientType, d.Grant.IdP, d.Grant.Chosen = o.ClientType, o.IdP, o.KeyID
	return d, issuer.Prepare(ctx, r, issuers.Issue, d.Grant)
}

func roomFor(ctx context.Context, r store.Reader, app table.ID) error {
	all, err := Customs(ctx, r, app)
	if err == nil && len(all) >= maxCustoms {
		err = fault.New(fault.Invalid, CodeMany, "the app has too many custom credentials (the maximum is %d)", maxCustoms)
	}
	return err
}

// make returns the plan that makes a custom credential. What was made elsewhere is undone if
// the credential cannot be stored: its app was deleted, or the maximum number was reached
// meanwhile.
func (s *Service) make(org tenant.ID, d *making) intents.Plan {
	p := intents.Plan{Back: true, Close: func(ctx context.Context, w store.Writer) error {
		at := s.Stamp(s.Scope)
		if _, err := portal.Find(ctx, w, Kind, d.Credential.AppID.String()); err != nil {
			return gone("the app", err)
		}
		if err := roomFor(ctx, w, d.Credential.AppID); err != nil {
			return err
		}
		v := d.Values
		if d.Grant != nil {
			if err := typed(ctx, w, d.Grant); err != nil {
				return err
			}
			v = d.Grant.Values
		}
		c, err := s.filled(d.Credential, v)
		if err == nil {
			c, err = portal.Add(ctx, w, Credentials, at, c)
		}
		if err == nil {
			d.Credential.ID = c.ID
		}
		return err
	}}
	if d.Grant != nil {
		p.Steps = s.Issuers[d.Credential.Method].Steps(org, issuers.Issue, d.Grant)
	}
	return p
}

func (s *Service) renameCustom(ctx context.Context, in customRenaming) (out ShownCustom, err error) {
	_, err = s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		c, err := s.custom(ctx, w, in.customNamed)
		if err != nil {
			return err
		}
		name := credential.Renamed{Alias: c.Custom.Alias}
		if err := in.Body.Apply(&name, false, portal.Resolver(ctx, w)); err != nil {
			return err
		}
		c, err = portal.Edit(ctx, w, Credentials, c.ID, s.Stamp(s.Scope), func(old credential.Credential) (credential.Credential, error) {
			said := *old.Custom
			said.Alias, old.Custom = name.Alias, &said
			return old, nil
		})
		if err == nil {
			out, err = s.showCustom(c)
		}
		return err
	})
	return out, err
}

// CodeElsewhere is the fault code for a credential that is managed elsewhere.
const CodeElsewhere = "portal_access.elsewhere"

func (s *Service) rotateCustom(ctx context.Context, in customNamed) (portal.Done, error) {
	c, err := s.customOf(ctx, in)
	switch {
	case err != nil:
	case c.Custom.Type == credential.Elsewhere:
		err = fault.New(fault.Invalid, CodeElsewhere, "the credential is managed elsewhere: rotate it there, delete this one, and make another one")
	default:
		err = s.Rotate(ctx, in.Scope, c.ID)
	}
	return portal.Executed("Rotate"), err
}

// customEnding is a custom credential to delete.
type customEnding struct {
	customNamed
	insisting `params:""`
}

func (s *Service) deleteCustom(ctx context.Context, in customEnding) (portal.Done, error) {
	c, err := s.customOf(ctx, in.customNamed)
	if err == nil {
		err = s.remove(ctx, in.Scope, removal{App: c.AppID, Credential: c.ID, Force: in.force()})
	}
	return portal.Executed("Delete"), err
}

// ListedCustom is a custom credential in lists.
type ListedCustom struct {
	ID                   table.ID   `json:"ID"`
	Alias                string     `json:"Alias"`
	Type                 string     `json:"Type"`
	PlanID               string     `json:"PlanID" doc:"Number of the plan as a string."`
	ProductIDs           []table.ID `json:"ProductIDs"`
	AuthenticationMethod string     `json:"AuthenticationMethod"`
	AuthTokenType        string     `json:"AuthTokenType" doc:"Type of a managed token. Empty for other credentials."`
	KeyID                string     `json:"KeyID" doc:"Value that API clients send: the token, or the identifier of the client."`
	ProviderID           table.ID   `json:"ProviderID" doc:"Identity provider."`
	ClientTypeID         table.ID   `json:"ClientTypeID"`
}

// ShownCustom is the full representation of a custom credential.
type ShownCustom struct {
	ListedCustom
	CreatedAt string `json:"CreatedAt"`
	UpdatedAt string `json:"UpdatedAt"`
}

var exampleCustom = ShownCustom{ListedCustom{ID: 4, Alias: "Till of old", Type: credential.Managed, PlanID: "1", ProductIDs: []table.ID{1}, AuthenticationMethod: "authToken",
	AuthTokenType: credential.ChosenToken, KeyID: "till-of-old"}, "2026-01-02 03:04", "2026-01-02 03:04"}

func (s *Service) showCustom(c credential.Credential) (out ShownCustom, err error) {
	v, err := s.opened(c)
	out = ShownCustom{ListedCustom{
		ID: c.ID, Alias: c.Custom.Alias, Type: c.Custom.Type, ProductIDs: append([]table.ID{}, c.Products...), AuthenticationMethod: c.Custom.Means, AuthTokenType: c.Custom.TokenType,
		KeyID: v.Chosen, ProviderID: c.Custom.IdP, ClientTypeID: c.Custom.ClientType,
	}, table.Stamp(c.CreatedAt), table.Stamp(c.UpdatedAt)}
	if c.Custom.Type == credential.Managed {
		out.KeyID = cmp.Or(v.Chosen, v.Key, v.ClientID)
		out.AuthTokenType = c.TokenType(v.Chosen != "")
	}
	if c.PlanID != 0 {
		out.PlanID = c.PlanID.String()
	}
	return out, err
}
