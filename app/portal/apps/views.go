package apps

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Listed is an app in lists.
type Listed struct {
	ID           table.ID `json:"ID"`
	Name         string   `json:"Name"`
	Description  string   `json:"Description"`
	RedirectURLs string   `json:"RedirectURLs"`
	UserID       table.ID `json:"UserID"`
	Visibility   string   `json:"Visibility"`
	CreatedAt    string   `json:"CreatedAt"`
}

// Shown is the full representation of an app, which gateways also read.
type Shown struct {
	Listed
	AccessRequests []Within `json:"AccessRequests"`
}

// common are the members of every representation of an access request.
type common struct {
	ID                   table.ID `json:"ID"`
	Status               string   `json:"Status,omitempty"`
	Client               string   `json:"Client"`
	Catalogue            string   `json:"Catalogue"`
	Plan                 string   `json:"Plan"`
	User                 string   `json:"User"`
	AuthType             string   `json:"AuthType"`
	DCREnabled           bool     `json:"DCREnabled"`
	ProvisionImmediately bool     `json:"ProvisionImmediately"`
	CreatedAt            string   `json:"CreatedAt"`
	UpdatedAt            string   `json:"UpdatedAt"`
	DeletedAt            string   `json:"DeletedAt"`
}

// ListedRequest is an access request in the list of all requests.
type ListedRequest struct {
	common
	Products string `json:"Products" doc:"Names, separated by commas."`
}

// ShownRequest is the full representation of an access request.
type ShownRequest struct {
	ListedRequest
	Credentials []Credential `json:"Credentials"`
}

// Within is an access request inside an app.
type Within struct {
	common
	Products          []string     `json:"Products"`
	Credentials       []Credential `json:"Credentials"`
	DCRTemplateID     table.ID     `json:"DCRTemplateID"`
	ProviderID        table.ID     `json:"ProviderID"`
	PolicyService     []string     `json:"PolicyService" doc:"Always empty."`
	WebhookEventTypes string       `json:"WebhookEventTypes" doc:"Event types, separated by commas."`
	WebhookSecret     string       `json:"WebhookSecret"`
	WebhookURL        string       `json:"WebhookURL"`
}

// Credential is a credential as administrators see it.
type Credential struct {
	ID                         table.ID `json:"ID"`
	AccessRequest              string   `json:"AccessRequest"`
	Credential                 string   `json:"Credential"`
	CredentialHash             string   `json:"CredentialHash"`
	Expires                    string   `json:"Expires" doc:"Expiry. The beginning of 1970 in the time zone of the server means never."`
	OAuthClientID              string   `json:"OAuthClientID"`
	OAuthClientSecret          string   `json:"OAuthClientSecret"`
	DCRRegistrationAccessToken string   `json:"DCRRegistrationAccessToken"`
	DCRRegistrationClientURI   string   `json:"DCRRegistrationClientURI"`
	DCRResponse                string   `json:"DCRResponse"`
	GrantType                  string   `json:"GrantType"`
	ResponseType               string   `json:"ResponseType"`
	TokenEndpoints             string   `json:"TokenEndpoints"`
	Scope                      string   `json:"Scope"`
	RedirectURI                string   `json:"RedirectURI"`
	JWKSURI                    string   `json:"JWKSURI"`
	CertificateID              string   `json:"CertificateID,omitempty" doc:"ID at the dashboard of the certificate that clients must present."`
	CertificateIDs             []string `json:"CertificateIDs,omitempty" doc:"IDs at the dashboard of the certificates that administrators manage; clients must present one of them."`
}

func list(_ context.Context, _ store.Reader, a application.App) (Listed, error) {
	created := ""
	if !a.CreatedAt.IsZero() {
		created = a.CreatedAt.Format(time.DateTime)
	}
	return Listed{a.ID, a.Name, a.Description, string(a.RedirectURLs), a.UserID, a.Visibility, created}, nil
}

func (s *Service) show(ctx context.Context, r store.Reader, a application.App) (Shown, error) {
	listed, _ := list(ctx, r, a)
	out := Shown{listed, []Within{}}
	all, err := requestsOf(ctx, r, a.ID)
	for _, req := range all {
		one, err := s.inside(ctx, r, a, req)
		if err != nil {
			return out, err
		}
		out.AccessRequests = append(out.AccessRequests, one)
	}
	return out, err
}

// inside returns an access request for its app.
func (s *Service) inside(ctx context.Context, r store.Reader, a application.App, req request.Request) (out Within, err error) {
	if req, err = s.subscription(req); err != nil {
		return out, err
	}
	list, err := existing(ctx, r, req.ProductIDs)
	if err != nil {
		return out, err
	}
	if req.WebhookURL != "" {
		req.Subscription = req.Open(list)
	}
	out = Within{DCRTemplateID: req.ClientTypeID, ProviderID: req.ProviderID, PolicyService: []string{},
		WebhookEventTypes: strings.Join(req.WebhookEventTypes, ","), WebhookSecret: req.WebhookSecret, WebhookURL: req.WebhookURL}
	if out.common, err = shared(ctx, r, a.Name, req); err != nil {
		return out, err
	}
	out.Products = req.Products(list)
	out.Credentials, err = s.credentials(ctx, r, req)
	return out, err
}

func shared(ctx context.Context, r store.Reader, app string, req request.Request) (out common, err error) {
	out = common{ID: req.ID, Status: string(req.Status), Client: app, User: "User#" + req.UserID.String(), AuthType: req.AuthType, DCREnabled: req.DCREnabled,
		ProvisionImmediately: req.ProvisionImmediately, CreatedAt: table.Stamp(req.CreatedAt), UpdatedAt: table.Stamp(req.UpdatedAt)}
	if out.Plan, err = nameOf(ctx, r, plans.Kind, req.PlanID, func(p planOf) string { return p.Name }); err != nil {
		return out, err
	}
	out.Plan = cmp.Or(out.Plan, req.PlanName)
	out.Catalogue, err = nameOf(ctx, r, catalogues.Kind, req.CatalogueID, func(c catalogueOf) string { return c.Name })
	return out, err
}

// nameOf returns the name of a record, also of a hidden one; "" if there is none.
func nameOf[T any](ctx context.Context, r store.Reader, k *store.Kind[T], id table.ID, name func(T) string) (string, error) {
	if id == 0 {
		return "", nil
	}
	v, err := k.Get(ctx, r, id.Key())
	if fault.KindOf(err) == fault.NotFound {
		return "", nil
	}
	return name(v.Value), err
}

func (s *Service) listRequest(ctx context.Context, r store.Reader, req request.Request) (out ListedRequest, err error) {
	app, err := nameOf(ctx, r, Kind, req.AppID, func(a application.App) string { return a.Name })
	if err != nil {
		return out, err
	}
	if out.common, err = shared(ctx, r, app, req); err != nil {
		return out, err
	}
	list, err := existing(ctx, r, req.ProductIDs)
	out.Products = strings.Join(req.Products(list), ",")
	return out, err
}

func (s *Service) showRequest(ctx context.Context, r store.Reader, req request.Request) (out ShownRequest, err error) {
	if out.ListedRequest, err = s.listRequest(ctx, r, req); err == nil {
		out.Credentials, err = s.credentials(ctx, r, req)
	}
	return out, err
}

// credentials returns the credentials that an access request uses.
func (s *Service) credentials(ctx context.Context, r store.Reader, req request.Request) ([]Credential, error) {
	out := []Credential{}
	all, err := usedBy(ctx, r, req.ID)
	for _, c := range all {
		shown, err := s.credential(c)
		if err != nil {
			return nil, err
		}
		out = append(out, shown)
	}
	return out, err
}

func (s *Service) credential(c credential.Credential) (Credential, error) {
	v, err := s.opened(c)
	expires := v.Expires
	if expires.IsZero() {
		expires = time.Unix(0, 0)
	}
	return Credential{
		ID: c.ID, AccessRequest: "AccessRequest#" + c.RequestID.String(), Credential: v.Key, CredentialHash: v.Hash, Expires: table.Stamp(expires.In(s.Now().Location())),
		OAuthClientID: v.ClientID, OAuthClientSecret: v.ClientSecret, DCRRegistrationAccessToken: v.RegistrationToken, DCRRegistrationClientURI: v.RegistrationURI, DCRResponse: v.Response,
		GrantType: v.GrantType, ResponseType: v.ResponseType, TokenEndpoints: v.TokenEndpoints, Scope: v.Scope, RedirectURI: v.RedirectURI, JWKSURI: v.JWKSURI, CertificateID: v.CertificateID, CertificateIDs: v.Pool,
	}, err
}
