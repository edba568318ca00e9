package apps

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/showcase"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// OwnApp is an app as its users see it.
type OwnApp struct {
	ID           table.ID `json:"ID"`
	UserID       table.ID `json:"UserID" doc:"User who owns the app."`
	Name         string   `json:"Name"`
	Description  string   `json:"Description"`
	RedirectURLs string   `json:"RedirectURLs"`
	Visibility   string   `json:"Visibility"`
	CreatedAt    string   `json:"CreatedAt"`
	Owner        string   `json:"Owner" doc:"Name of the app's owner."`
	Own          bool     `json:"Own" doc:"true: the caller owns the app."`
	Changeable   bool     `json:"Changeable" doc:"true: the caller may change and delete the app."`
}

// OwnShown is an app as its users see it, with its access.
type OwnShown struct {
	OwnApp
	AccessRequests []OwnRequest    `json:"AccessRequests" doc:"Newest first."`
	Credentials    []OwnCredential `json:"Credentials" doc:"Newest first. Credentials that administrators have created are included."`
}

// OwnRequest is an access request as users of the app see it.
type OwnRequest struct {
	ID                   table.ID      `json:"ID"`
	UserID               table.ID      `json:"UserID" doc:"User who owned the app at the time of the request."`
	Status               string        `json:"Status"`
	AuthType             string        `json:"AuthType"`
	DCREnabled           bool          `json:"DCREnabled"`
	ProvisionImmediately bool          `json:"ProvisionImmediately"`
	DCRTemplateID        table.ID      `json:"DCRTemplateID" doc:"Client type; 0: none."`
	Catalogue            string        `json:"Catalogue"`
	CatalogueID          table.ID      `json:"CatalogueID"`
	ProviderID           table.ID      `json:"ProviderID" doc:"Provider of the products; 0: all products have been deleted."`
	Plan                 showcase.Plan `json:"Plan" doc:"Plan; its number is absent if the plan has been deleted."`
	PlanAway             bool          `json:"PlanAway" doc:"true: the plan, or its policy at the dashboard, has been deleted."`
	Products             []OwnProduct  `json:"Products"`
	CreatedAt            string        `json:"CreatedAt"`
	UpdatedAt            string        `json:"UpdatedAt"`
	EventTypes           []string      `json:"EventTypes" doc:"Event types to which the access request can subscribe, if its products name any. A long list is cut after one or two thousand."`
	WebhookURL           string        `json:"WebhookURL"`
	WebhookEventTypes    []string      `json:"WebhookEventTypes"`
	WebhookSigned        bool          `json:"WebhookSigned" doc:"true: the webhook has a secret."`
}

// OwnProduct is a product of an access request.
type OwnProduct struct {
	ID   table.ID `json:"ID"`
	Name string   `json:"Name"`
	Path string   `json:"Path"`
	Away bool     `json:"Away" doc:"true: the product, or its policy at the dashboard, has been deleted."`
	Idle bool     `json:"Idle" doc:"true: the product has no APIs at present, and its policy is inactive."`
}

// OwnCredential is a credential as users of the app see it. Secrets are masked.
type OwnCredential struct {
	ID                table.ID      `json:"ID"`
	AccessRequestID   table.ID      `json:"AccessRequestID" doc:"Access request of the credential. 0: an administrator created the credential for the app."`
	AccessRequests    []table.ID    `json:"AccessRequests" doc:"All access requests that use the credential."`
	Alias             string        `json:"Alias"`
	Custom            bool          `json:"Custom" doc:"true: an administrator created the credential for the app."`
	Type              string        `json:"Type" doc:"For a custom credential: CREDENTIAL_TYPE_TYK_MANAGED (the portal creates and deletes it) or CREDENTIAL_TYPE_CUSTOM (it is managed elsewhere). Otherwise empty."`
	PlanID            table.ID      `json:"PlanID"`
	Plan              showcase.Plan `json:"Plan" doc:"Plan; its number is absent if the plan has been deleted."`
	PlanAway          bool          `json:"PlanAway" doc:"true: the plan, or its policy at the dashboard, has been deleted. Gateways refuse the credential."`
	Products          []OwnProduct  `json:"Products"`
	AuthType          string        `json:"AuthType"`
	Credential        string        `json:"Credential" doc:"Four characters of the token that distinguish it from others."`
	CredentialHash    string        `json:"CredentialHash" doc:"Hash that identifies the token at gateways and in analytics. Empty if gateways do not hash tokens."`
	CustomKeyID       string        `json:"CustomKeyID" doc:"Four characters of the token, if an administrator has chosen it."`
	Expires           string        `json:"Expires" doc:"Expiry; empty: never."`
	Expired           bool          `json:"Expired"`
	OAuthClientID     string        `json:"OAuthClientID"`
	OAuthClientSecret string        `json:"OAuthClientSecret" doc:"Four characters of the secret."`
	GrantType         string        `json:"GrantType"`
	ResponseType      string        `json:"ResponseType"`
	TokenEndpoints    string        `json:"TokenEndpoints"`
	Scope             string        `json:"Scope"`
	RedirectURI       string        `json:"RedirectURI"`
	JWKSURI           string        `json:"JWKSURI"`
	TokenURL          string        `json:"TokenURL" doc:"Token endpoint of the identity provider. Empty if the provider has not announced one."`
	Rotatable         bool          `json:"Rotatable" doc:"true: the credential can be rotated."`
	Certificate       *Certificate  `json:"Certificate" doc:"Certificate that clients must present; null: none."`
	Certified         bool          `json:"Certified" doc:"true: the credential needs a certificate of the developer."`
	CreatedAt         string        `json:"CreatedAt"`
}

// Revealed are the secrets of a credential.
type Revealed struct {
	ID                table.ID `json:"ID"`
	Credential        string   `json:"Credential"`
	OAuthClientID     string   `json:"OAuthClientID"`
	OAuthClientSecret string   `json:"OAuthClientSecret"`
}

var (
	exampleOwn        = OwnApp{2, 7, "Checkout", "Pays at the till.", "https://shop.example.com/back", application.Team, "2026-01-02 03:04", "Ada Lovelace", true, true}
	exampleProduct    = OwnProduct{ID: 1, Name: "Payment API", Path: "payment-api"}
	exampleOwnPlan    = showcase.Plan{ID: 1, Name: "Free", Description: "For a start.", RateLimit: 10, Per: 60, Quota: 1000, QuotaRenewalRate: 3600, AutoApprove: true, Catalogues: []table.ID{}}
	exampleOwnRequest = OwnRequest{ID: 3, UserID: 7, Status: string(request.Approved), AuthType: request.AuthToken, Catalogue: "Public Catalogue", CatalogueID: 1, ProviderID: 1, Plan: exampleOwnPlan,
		Products: []OwnProduct{exampleProduct}, CreatedAt: "2026-01-02 03:04", UpdatedAt: "2026-01-02 03:04", EventTypes: []string{"order.created"}, WebhookEventTypes: []string{}}
	exampleOwnCredential = OwnCredential{ID: 4, AccessRequestID: 3, AccessRequests: []table.ID{3}, PlanID: 1, Plan: exampleOwnPlan, Products: []OwnProduct{exampleProduct}, AuthType: request.AuthToken,
		Credential: "••••••••IjlD…", CredentialHash: "1de461e9ee0777bf", Expires: "2026-02-01 03:04", Rotatable: true, CreatedAt: "2026-01-02 03:04"}
	exampleOwnShown = OwnShown{exampleOwn, []OwnRequest{exampleOwnRequest}, []OwnCredential{exampleOwnCredential}}
	exampleRevealed = Revealed{ID: 4, Credential: exampleCredential.Credential}
)

func (v usable) listed() OwnApp {
	a := v.app
	return OwnApp{a.ID, a.UserID, a.Name, a.Description, string(a.RedirectURLs), a.Visibility, table.Stamp(a.CreatedAt),
		strings.TrimSpace(v.owner.First + " " + v.owner.Last), v.viewer.ID == v.owner.ID, v.changeable()}
}

func (s *Service) ownShow(ctx context.Context, r store.Reader, v usable) (OwnShown, error) {
	out := OwnShown{v.listed(), []OwnRequest{}, []OwnCredential{}}
	all, err := requestsOf(ctx, r, v.app.ID)
	for _, req := range slices.Backward(all) {
		one, err := ownRequest(ctx, r, req)
		if err != nil {
			return out, err
		}
		out.AccessRequests = append(out.AccessRequests, one)
	}
	if err != nil {
		return out, err
	}
	given, err := credentialsOf(ctx, r, v.app.ID)
	for _, c := range slices.Backward(given) {
		one, err := s.ownCredential(ctx, r, c)
		if err != nil {
			return out, err
		}
		out.Credentials = append(out.Credentials, one)
	}
	return out, err
}

// maxTypes is how many event types an access request may show: an app has many requests, each of
// which may be about many products with long lists.
const maxTypes = 1000

func ownRequest(ctx context.Context, r store.Reader, req request.Request) (out OwnRequest, err error) {
	out = OwnRequest{ID: req.ID, UserID: req.UserID, Status: string(req.Status), AuthType: req.AuthType, DCREnabled: req.DCREnabled, DCRTemplateID: req.ClientTypeID, ProvisionImmediately: req.ProvisionImmediately, CatalogueID: req.CatalogueID,
		CreatedAt: table.Stamp(req.CreatedAt), UpdatedAt: table.Stamp(req.UpdatedAt), EventTypes: []string{},
		WebhookURL: req.WebhookURL, WebhookEventTypes: append([]string{}, req.WebhookEventTypes...), WebhookSigned: req.SealedSecret != ""}
	if out.Catalogue, err = nameOf(ctx, r, catalogues.Kind, req.CatalogueID, func(c catalogueOf) string { return c.Name }); err != nil {
		return out, err
	}
	if out.Plan, out.PlanAway, err = ownPlan(ctx, r, req.PlanID); err != nil {
		return out, err
	}
	out.Products, err = ownProducts(ctx, r, req.ProductIDs, func(p productOf) {
		out.ProviderID = p.ProviderID
		if len(out.EventTypes) < maxTypes {
			out.EventTypes = append(out.EventTypes, p.WebhookEventTypes...)
		}
	})
	slices.Sort(out.EventTypes)
	out.EventTypes = slices.Compact(out.EventTypes)
	return out, err
}

// ownPlan returns a plan, or one without a number when it was deleted, and reports whether it can
// no longer be used. It names no catalogues: the viewer may not see some of those that have the
// plan.
func ownPlan(ctx context.Context, r store.Reader, id table.ID) (out showcase.Plan, away bool, err error) {
	p, err := plans.Kind.Get(ctx, r, id.Key())
	if fault.KindOf(err) == fault.NotFound {
		return showcase.Plan{Catalogues: []table.ID{}}, id != 0, nil
	}
	if err != nil {
		return out, false, err
	}
	return showcase.ShowPlan(p.Value, nil), p.Value.Away(), nil
}

// ownProducts returns products, and calls each for those that exist.
func ownProducts(ctx context.Context, r store.Reader, ids []table.ID, each func(productOf)) ([]OwnProduct, error) {
	out := []OwnProduct{}
	for _, id := range ids {
		v, err := products.Kind.Get(ctx, r, id.Key())
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		each(v.Value)
		out = append(out, OwnProduct{ID: v.Value.ID, Name: v.Value.Title(), Path: v.Value.Path, Away: v.Value.Away(), Idle: v.Value.IsDocumentationOnly})
	}
	return out, nil
}

func (s *Service) ownCredential(ctx context.Context, r store.Reader, c credential.Credential) (out OwnCredential, err error) {
	v, err := s.opened(c)
	if err != nil {
		return out, err
	}
	_, ended := c.State(s.Now()).On(credential.Rotate)
	rotatable := ended == nil && (c.Method == issuers.Tokens || c.Method == issuers.Certified) && (c.Custom == nil || c.Custom.Type != credential.Elsewhere)
	out = OwnCredential{
		ID: c.ID, AccessRequestID: c.RequestID, AccessRequests: append([]table.ID{}, c.Requests()...), PlanID: c.PlanID, AuthType: c.AuthType,
		Credential: credential.Masked(cmp.Or(v.Chosen, v.Key)), Expires: table.Stamp(v.Expires.In(s.Now().Location())), Expired: !v.Expires.IsZero() && !s.Now().Before(v.Expires),
		OAuthClientID: v.ClientID, OAuthClientSecret: credential.Masked(v.ClientSecret), GrantType: v.GrantType, ResponseType: v.ResponseType, TokenEndpoints: v.TokenEndpoints,
		Scope: v.Scope, RedirectURI: v.RedirectURI, JWKSURI: v.JWKSURI, TokenURL: v.TokenURL, Rotatable: rotatable, Certified: c.Method == issuers.Certified && !c.Managed, CustomKeyID: credential.Masked(v.Chosen), CreatedAt: table.Stamp(c.CreatedAt),
	}
	if c.Custom != nil {
		out.Custom, out.Type, out.Alias, out.AccessRequestID, out.AuthType = true, c.Custom.Type, c.Custom.Alias, 0, cmp.Or(c.AuthType, c.Custom.Means)
	}
	if v.Hash != v.Key && v.Hash != v.Chosen {
		out.CredentialHash = v.Hash
	}
	if v.Certificate != "" {
		shown, err := certificateOf(c.Public, s.Now())
		if err != nil {
			return out, err
		}
		out.Certificate = &shown
	}
	if out.Plan, out.PlanAway, err = ownPlan(ctx, r, c.PlanID); err != nil {
		return out, err
	}
	out.Products, err = ownProducts(ctx, r, c.Products, func(productOf) {})
	return out, err
}
