// Package request models the requests of developers for access to products under a plan: their
// contents and states, and how many a plan allows (docs/wire/portal-apps.md#access-requests).
package request

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Kinds in storage: requests, and the credentials that a request may reuse.
const (
	Kind           = "portal-access-request"
	CredentialKind = "portal-credential"
)

// Request is one access request.
type Request struct {
	table.Base
	Status               Status
	AppID                table.ID
	UserID               table.ID
	AskedBy              table.ID `json:",omitempty"` // a user of another user's app who requested the products
	PlanID               table.ID
	ProductIDs           []table.ID
	CatalogueID          table.ID
	ClientTypeID         table.ID // for clients that are registered
	CredentialID         table.ID // credential that also gets the products; 0: a new one
	ProviderID           table.ID
	AuthType             string
	DCREnabled           bool
	ProvisionImmediately bool
	Certificate          string `json:",omitempty"` // client certificate in PEM
	CertificateName      string `json:",omitempty"` // its name for the developer
	// Names of the plan and the products, for when their provider and they are deleted.
	PlanName     string              `json:",omitempty"`
	ProductNames map[table.ID]string `json:",omitempty"`
	Ticket       string              `json:",omitempty"` // identifies the call that made the request; repeating this call makes no second request
	TicketFor    string              `json:",omitempty"` // hash of the body of that call
	Subscription
}

// Subscription is the webhook for messages of streaming products.
type Subscription struct {
	WebhookURL        string
	WebhookSecret     string `json:"-"` // stored encrypted
	WebhookEventTypes []string
	SealedSecret      string `json:",omitempty"`
}

// Table implements table.Row.
func (Request) Table() *table.Table[Request] { return rows }

var rows = &table.Table[Request]{
	Kind: Kind, Noun: "access request",
	Base: func(r *Request) *table.Base { return &r.Base },
	Fields: []table.Field[Request]{
		{Name: "Status", At: func(r *Request) any { return (*string)(&r.Status) }, Fixed: true},
		{Name: "AuthType", At: func(r *Request) any { return &r.AuthType }, Fixed: true},
	},
}

// Order is the body of an access request.
type Order struct {
	table.Base
	PlanID          table.ID
	ProductIDs      []table.ID
	ClientTypeID    table.ID
	CatalogueID     table.ID
	CredentialID    table.ID
	Certificate     string
	CertificateName string
}

// clientType is the member of an order with a client type.
const clientType = "DCRTemplateID"

// Untyped returns an order without its client type, which counts only if clients register.
func Untyped(sent table.Body[Order]) table.Body[Order] { return sent.Without(clientType) }

// Register reports whether one of the products requires registered clients.
func Register(list []product.Product) bool {
	return slices.ContainsFunc(list, func(v product.Product) bool { return v.DCREnabled })
}

// Table implements table.Row.
func (Order) Table() *table.Table[Order] { return orders }

var orders = &table.Table[Order]{
	Kind: "portal-order", Noun: "order",
	Base: func(o *Order) *table.Base { return &o.Base },
	Fields: []table.Field[Order]{
		{Name: "PlanID", Also: []string{"Plan"}, At: func(o *Order) any { return &o.PlanID }, Required: true, Target: plan.Kind},
		{Name: "ProductIDs", Also: []string{"Products"}, At: func(o *Order) any { return &o.ProductIDs }, Required: true, Target: product.Kind, Doc: "Products. All must have the same provider and the same authentication method."},
		{Name: clientType, At: func(o *Order) any { return &o.ClientTypeID }, Target: product.TemplateKind, Doc: "Client type, for products whose clients register with an identity provider. Otherwise ignored."},
		{Name: "CatalogueID", At: func(o *Order) any { return &o.CatalogueID }, Target: catalogue.Kind, Doc: "Catalogue from which the products come."},
		{Name: "CredentialID", At: func(o *Order) any { return &o.CredentialID }, Target: CredentialKind, Doc: "Credential of the app with the same plan, to which the products are added; or a client whose products get another plan. When absent, a new credential is created."},
		{Name: "Certificate", At: func(o *Order) any { return &o.Certificate }, Max: MaxCertificate, Doc: "PEM without a private key. For products that need a token and a certificate of the developer, unless administrators manage the certificates."},
		{Name: "CertificateName", At: func(o *Order) any { return &o.CertificateName }, Max: MaxCertificateName, Doc: "Name of the certificate. Default: its subject."},
	},
	Check: func(o Order, wrong *table.Problems) {
		if len(o.ProductIDs) > MaxProducts {
			*wrong = append(*wrong, fmt.Sprintf("ProductIDs is too long (the maximum is %d products)", MaxProducts))
		}
	},
}

// MaxCertificate is the maximum length of a certificate with its chain in characters, and
// MaxCertificateName that of its name.
const (
	MaxCertificate     = 20_000
	MaxCertificateName = 255
)

// MaxProducts is the maximum number of products in a request, and in a credential.
const MaxProducts = 50

// Authentication methods, with the names in products.
const (
	AuthToken = "authToken"
	MultiAuth = "multiAuth"
	JWT       = "jwt"
	OAuth     = "oauth"
)

// unrequestable are methods for which the portal cannot issue credentials.
var unrequestable = []string{"", "basic", "ba", "basicAuth", "custom", "hmac", "keyless"}

// Checked returns the problems of an order of products under a plan.
func (o Order) Checked(p plan.Plan, list []product.Product) (wrong table.Problems) {
	for _, v := range list {
		switch {
		case v.IsDocumentationOnly:
			wrong = append(wrong, fmt.Sprintf("product %s is documentation only: access to it can't be requested", v.Title()))
		case v.ProviderID != p.ProviderID:
			wrong = append(wrong, fmt.Sprintf("product %s and plan %s belong to different providers", v.Title(), p.Title()))
		case slices.Contains(unrequestable, v.AuthType()), v.AuthType() == MultiAuth && !slices.Equal(slices.Sorted(slices.Values(v.Methods())), []string{AuthToken, "mutualTLS"}): // of several methods, only a token with a certificate is possible
			wrong = append(wrong, fmt.Sprintf("product %s authenticates by %s: access to it can't be requested", v.Title(), strings.Join(v.Methods(), " and ")))
		case v.AuthType() != list[0].AuthType() || v.DCREnabled != list[0].DCREnabled:
			wrong = append(wrong, fmt.Sprintf("products %s and %s have different authentication methods", list[0].Title(), v.Title()))
		case v.AuthType() == MultiAuth && v.Mode() != list[0].Mode():
			wrong = append(wrong, fmt.Sprintf("certificates of products %s and %s come from different people", list[0].Title(), v.Title()))
		}
		if !v.DCREnabled || v.IsDocumentationOnly {
			continue
		}
		if o.ClientTypeID == 0 {
			wrong.Blank(clientType)
		} else if !slices.Contains(v.Templates, o.ClientTypeID) {
			wrong = append(wrong, fmt.Sprintf("DCRTemplateID is not a client type of product %s", v.Title()))
		}
	}
	if v := list[0]; len(wrong) == 0 {
		switch {
		case v.AuthType() != MultiAuth || v.Mode() == product.Managed: // an unneeded certificate is ignored
		case o.CredentialID == 0 && o.Certificate == "":
			wrong.Blank("Certificate")
		case o.CredentialID != 0 && o.Certificate != "":
			wrong = append(wrong, "Certificate is that of the credential: renew it there")
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

// Of returns the request for an order.
func (o Order) Of(app, user table.ID, p plan.Plan, list []product.Product) Request {
	names := map[table.ID]string{}
	for _, v := range list {
		names[v.ID] = v.Name
	}
	if v := list[0]; o.Certificate == "" || v.AuthType() != MultiAuth || v.Mode() == product.Managed { // the product does not use a certificate
		o.Certificate, o.CertificateName = "", ""
	}
	return Request{
		Status: Pending, AppID: app, UserID: user, PlanID: p.ID, ProductIDs: o.ProductIDs, CatalogueID: o.CatalogueID, ClientTypeID: o.ClientTypeID, CredentialID: o.CredentialID,
		ProviderID: p.ProviderID, AuthType: list[0].AuthType(), Certificate: o.Certificate, CertificateName: o.CertificateName, DCREnabled: list[0].DCREnabled, ProvisionImmediately: p.AutoApprove,
		PlanName: p.Name, ProductNames: names,
	}
}

// Renewed returns the request updated to the current authentication method of its products if
// this has changed, or the problems of the change. A product that has lost its APIs is a problem
// as well, because it gives access to nothing.
func (r Request) Renewed(p plan.Plan, list []product.Product) (Request, table.Problems) {
	same := func(v product.Product) bool {
		return !v.IsDocumentationOnly && v.AuthType() == r.AuthType && v.DCREnabled == r.DCREnabled
	}
	if !slices.ContainsFunc(list, func(v product.Product) bool { return !same(v) }) {
		return r, nil
	}
	o := Order{PlanID: r.PlanID, ProductIDs: r.ProductIDs, ClientTypeID: r.ClientTypeID, CatalogueID: r.CatalogueID, CredentialID: r.CredentialID, Certificate: r.Certificate, CertificateName: r.CertificateName}
	if wrong := o.Checked(p, list); len(wrong) > 0 {
		return r, wrong
	}
	now := o.Of(r.AppID, r.UserID, p, list)
	r.AuthType, r.DCREnabled, r.Certificate, r.CertificateName = now.AuthType, now.DCREnabled, now.Certificate, now.CertificateName
	return r, nil
}

// Repeats reports whether only one of two requests for a credential can be approved. They have
// the same plan and a common product: both would add this product, or both would move the
// credential to this plan.
func (r Request) Repeats(other Request) bool {
	return r.CredentialID == other.CredentialID && r.PlanID == other.PlanID && slices.ContainsFunc(r.ProductIDs, func(id table.ID) bool { return slices.Contains(other.ProductIDs, id) })
}

// Products returns the names of the products of the request: their current names and, for
// deleted ones, their last names.
func (r Request) Products(list []product.Product) []string {
	out := make([]string, 0, len(r.ProductIDs))
	for _, id := range r.ProductIDs {
		name := r.ProductNames[id]
		if i := slices.IndexFunc(list, func(p product.Product) bool { return p.ID == id }); i >= 0 {
			name = list[i].Name
		}
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}

// Limits of a subscription.
const (
	maxURL    = 2048
	maxSecret = 1024
	maxTypes  = 100
)

// Subscribed is the request body of a subscription.
type Subscribed struct {
	table.Base
	URL    string
	Secret string
	Types  []string
}

// Table implements table.Row.
func (Subscribed) Table() *table.Table[Subscribed] { return subscriptions }

var subscriptions = &table.Table[Subscribed]{
	Kind: "portal-subscription", Noun: "subscription",
	Base: func(s *Subscribed) *table.Base { return &s.Base },
	Fields: []table.Field[Subscribed]{
		{Name: "WebhookURL", At: func(s *Subscribed) any { return &s.URL }, Max: maxURL, Valid: func(s Subscribed) bool { return address(s.URL) }, Doc: "Address to which gateways send messages. Empty: no messages are sent."},
		{Name: "WebhookSecret", At: func(s *Subscribed) any { return &s.Secret }, Max: maxSecret, Doc: "Secret that signs the messages."},
		{
			Name: "WebhookEventTypes", At: func(s *Subscribed) any { return &s.Types }, Doc: "Names of event types, as a list or separated by commas.",
			Valid: func(s Subscribed) bool {
				return len(s.Types) <= maxTypes && !slices.ContainsFunc(s.Types, func(t string) bool { return !eventType(t) })
			},
		},
	},
	Check: func(s Subscribed, wrong *table.Problems) {
		if s.URL != "" && len(s.Types) == 0 {
			wrong.Blank("WebhookEventTypes")
		}
	},
}

// address reports whether gateways may send messages to a URL. Developers choose it, so
// link-local addresses are refused, where clouds publish the credentials of machines.
func address(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return false
	}
	at, err := netip.ParseAddr(u.Hostname())
	return err != nil || !at.Unmap().IsLinkLocalUnicast()
}

// eventType reports whether a text can be in a list that is separated by commas and has no
// spaces.
func eventType(t string) bool {
	return t != "" && len(t) <= 255 && !strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r == ',' || r == 0x7f })
}

// Offered returns problems for event types that the products do not offer. A product without
// event types offers all types except those of other products: gateways send a message to
// every subscriber with a type that contains the message's type.
func (s Subscribed) Offered(list []product.Product, others [][]string) (wrong table.Problems) {
	for _, t := range s.Types {
		taken := slices.ContainsFunc(others, func(types []string) bool {
			return slices.ContainsFunc(types, func(other string) bool { return strings.Contains(t, other) })
		})
		if !slices.ContainsFunc(list, func(p product.Product) bool { return offers(p, t) && (len(p.WebhookEventTypes) > 0 || !taken) }) {
			wrong = append(wrong, fmt.Sprintf("WebhookEventTypes: no product of the access request has the event type %s", t))
		}
	}
	return wrong
}

func offers(p product.Product, t string) bool {
	return len(p.WebhookEventTypes) == 0 || slices.Contains(p.WebhookEventTypes, t)
}

// Open returns the subscription with only the event types that the products still offer;
// without any, an empty subscription.
func (s Subscription) Open(list []product.Product) Subscription {
	s.WebhookEventTypes = slices.DeleteFunc(slices.Clone(s.WebhookEventTypes), func(t string) bool {
		return !slices.ContainsFunc(list, func(p product.Product) bool { return !p.Away() && offers(p, t) })
	})
	if len(s.WebhookEventTypes) == 0 {
		return Subscription{}
	}
	return s
}
