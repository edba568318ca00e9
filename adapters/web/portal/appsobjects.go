package portal

import (
	"cmp"
	"slices"
	"strconv"
)

// client is an app.
type client struct {
	ID, UserID                                                    int
	Name, Description, RedirectURLs, Visibility, CreatedAt, Owner string
	Own, Changeable                                               bool
	AccessRequests                                                []accessRequest
	Credentials                                                   []credential
	oldest                                                        *accessRequest // of all access requests, also those not in AccessRequests
}

// visibilityNames are the words for the visibilities of apps.
var visibilityNames = map[string]string{"personal": "Personal", "team": "Team", "organisation": "Organisation"}

// VisibilityLabel returns the word for who may use the app.
func (c client) VisibilityLabel() string { return cmp.Or(visibilityNames[c.Visibility], c.Visibility) }

// GetFirstAccessRequest returns the oldest access request of the app; nil: there is none.
func (c client) GetFirstAccessRequest() *accessRequest {
	if n := len(c.AccessRequests); n > 0 && c.oldest == nil {
		return &c.AccessRequests[n-1] // the newest come first
	}
	return c.oldest
}

// excerpt returns the app with a part of its access requests and credentials. Both still refer to
// the whole app.
func (c client) excerpt(from, to int) client {
	c.oldest = c.GetFirstAccessRequest()
	c.AccessRequests = c.AccessRequests[min(from, len(c.AccessRequests)):min(to, len(c.AccessRequests))]
	c.Credentials = c.Credentials[min(from, len(c.Credentials)):min(to, len(c.Credentials))]
	return c
}

// perPage returns how many credentials and access requests a page of the app shows: fewer where one
// of them has many products, since the page repeats each product several times.
func (c client) perPage() int {
	most := 1
	for _, one := range c.Credentials {
		most = max(most, len(one.Products))
	}
	for _, r := range c.AccessRequests {
		most = max(most, len(r.Products)+len(r.EventTypes))
	}
	return min(itemsPerPage, max(1, partsPerPage/most))
}

// maxTypes is how many event types a page offers for subscription.
const maxTypes = 200

// offeredTypes returns the event types that a page offers for an access request; they always
// include the chosen ones.
func offeredTypes(all, chosen []string) []string {
	if len(all) <= maxTypes {
		return all
	}
	out := slices.Clone(chosen)
	for _, one := range all {
		if len(out) < maxTypes && !slices.Contains(chosen, one) {
			out = append(out, one)
		}
	}
	return out
}

// settle sets the references from credentials and access requests to the app.
func (c *client) settle() {
	certs := c.certificates()
	for i := range c.AccessRequests {
		r := &c.AccessRequests[i]
		r.ClientID, r.EventTypes = c.ID, offeredTypes(r.EventTypes, r.WebhookEventTypes)
		if cert := certs[r.ID]; cert != nil {
			r.CertificateID = cert.ID
		}
	}
	for i := range c.Credentials {
		c.Credentials[i].of = c
	}
}

// productsOf returns the products of an access request.
func (c client) productsOf(request string) []product {
	for _, r := range c.AccessRequests {
		if strconv.Itoa(r.ID) == request {
			return r.Products
		}
	}
	return nil
}

// Parting returns the access request through which the credential got a product.
func (c credential) Parting(id int) int {
	for _, n := range c.AccessRequests {
		if c.of != nil && slices.ContainsFunc(c.of.productsOf(strconv.Itoa(n)), func(p product) bool { return p.ID == id }) {
			return n
		}
	}
	return c.AccessRequestID
}

// certificates returns the certificates by number of the access request. For requests without one,
// templates get nil.
func (c client) certificates() map[int]*certificate {
	out := map[int]*certificate{}
	for _, one := range c.Credentials {
		if one.Certificate == nil {
			continue
		}
		for _, id := range one.AccessRequests {
			out[id] = one.Certificate
		}
	}
	return out
}

// accessRequest is a request for access to products under a plan.
type accessRequest struct {
	ID                               int
	Status, AuthType                 string
	DCREnabled, ProvisionImmediately bool
	Catalogue                        string
	CatalogueID, ClientID, UserID    int
	ProviderID, DCRTemplateID        int
	Plan                             plan
	PlanAway                         bool
	Products                         []product
	CreatedAt, UpdatedAt             string
	EventTypes, WebhookEventTypes    []string
	WebhookURL, CertificateID        string
	WebhookSigned                    bool
}

// PlanID is the number of the plan.
func (r accessRequest) PlanID() int { return r.Plan.ID }

// Product returns the first product, for themes from a time when requests had exactly one.
func (r accessRequest) Product() product {
	if len(r.Products) == 0 {
		return product{}
	}
	return r.Products[0]
}

// Open reports whether the request still awaits a decision.
func (r accessRequest) Open() bool { return r.Status == "pending" }

// CurrentlySubscribed reports whether messages are sent to a webhook.
func (r accessRequest) CurrentlySubscribed() bool { return r.WebhookURL != "" }

// Streams reports whether there are events to subscribe to.
func (r accessRequest) Streams() bool {
	return r.Status == "approved" && (len(r.EventTypes) > 0 || r.WebhookURL != "")
}

// AllowSubscriptions is Streams by another name.
func (r accessRequest) AllowSubscriptions() bool { return r.Streams() }

// credential is what an app uses to call APIs. Its secrets are masked.
type credential struct {
	ID, AccessRequestID                              int
	AccessRequests                                   []int
	Alias                                            string
	Custom                                           bool
	Type                                             string
	PlanID                                           int
	Plan                                             plan
	PlanAway                                         bool // gateways refuse the credential
	Products                                         []product
	AuthType, Credential, CredentialHash, Expires    string
	Expired, Rotatable, Certified                    bool
	OAuthClientID, OAuthClientSecret                 string
	GrantType, ResponseType, TokenEndpoints, Scope   string
	RedirectURI, JWKSURI, CertificateID, CustomKeyID string
	CreatedAt, TokenURL                              string
	Certificate                                      *certificate
	OtherPlans                                       []plan // plans that a client may switch to
	MorePlans                                        bool   // too many to look up here: a page of its own does that

	of *client
}

// Secret reports whether there is a secret to show.
func (c credential) Secret() bool { return c.Credential != "" || c.OAuthClientSecret != "" }

// request returns the access request that the credential was made for; nil: none.
func (c credential) request() *accessRequest {
	if c.of == nil {
		return nil
	}
	for i, r := range c.of.AccessRequests {
		if r.ID == c.AccessRequestID {
			return &c.of.AccessRequests[i]
		}
	}
	return nil
}

// AccessRequest returns the access request that the credential was made for. If an administrator
// made the credential without one, it returns a request without a number: themes read from it what
// the credential gives access to.
func (c credential) AccessRequest() *accessRequest {
	if r := c.request(); r != nil {
		return r
	}
	out := &accessRequest{Status: "approved", AuthType: c.AuthType, Plan: c.Plan, Products: c.Products}
	if c.of != nil {
		out.ClientID = c.of.ID
	}
	return out
}

// CredentialType returns whether the portal makes and deletes the credential.
func (c credential) CredentialType() string {
	if c.Type == "" {
		return "CREDENTIAL_TYPE_TYK_MANAGED"
	}
	return c.Type
}

// CredentialKey and CredentialSecret return the two halves of a credential that is managed
// elsewhere.
func (c credential) CredentialKey() string { return c.Credential }

// CredentialSecret returns the second half of the pair.
func (c credential) CredentialSecret() string { return c.OAuthClientSecret }

// ExpiresAsString returns when the credential expires, as text.
func (c credential) ExpiresAsString() string { return cmp.Or(c.Expires, "Never") }

// AppName is the name of the app.
func (c credential) AppName() string {
	if c.of == nil {
		return ""
	}
	return c.of.Name
}

// GetFirstAccessRequest is AccessRequest by another name.
func (c credential) GetFirstAccessRequest() *accessRequest { return c.AccessRequest() }

// certificate is a TLS client certificate of an app.
type certificate struct {
	ID, Name, Fingerprint, SignatureAlgorithm, Issuer, Subject string
	IsValid                                                    bool
	ValidNotBefore, ValidNotAfter, Certificate                 string
}

// given returns the name that a developer gave the certificate; "": none, then Name is its subject.
func (c certificate) given() string {
	if c.Name == c.Subject {
		return ""
	}
	return c.Name
}

// revealed are secrets that are shown once.
type revealed struct {
	ID                                           int
	Credential, OAuthClientID, OAuthClientSecret string
}

// clientOf returns the app of the credential whose number is among the arguments of a template
// function. A number that no credential has is the number of an app.
func (v *visit) clientOf(args []any) client {
	has := func(c *client, id int) bool {
		return slices.ContainsFunc(c.Credentials, func(one credential) bool { return one.ID == id })
	}
	is := func(c *client, id int) bool { return c.ID == id }
	for _, a := range args {
		id, ok := a.(int)
		for _, match := range []func(*client, int) bool{has, is} {
			if i := slices.IndexFunc(v.ownApps(), func(c *client) bool { return match(c, id) }); ok && i >= 0 {
				return *v.ownApps()[i]
			}
		}
	}
	return client{}
}

// ownApps returns the apps that the viewer may use, with their access.
func (v *visit) ownApps() []*client {
	if v.own == nil {
		list, _ := v.clients(0)
		v.own = append([]*client{}, v.wholes(list)...) // not nil, so that they are requested only once
	}
	return v.own
}

// kindOf returns the word for the kind of a credential.
func kindOf(args ...any) string {
	for _, a := range args {
		switch c, ok := a.(credential); {
		case ok && c.Custom:
			return "custom"
		case ok && c.OAuthClientID != "":
			return "oAuth2.0"
		case ok:
			return "authToken"
		}
	}
	return ""
}

// invited returns the people among the arguments of a template function who have not accepted their
// invitation yet. Without a list among the arguments, it returns all people whom the viewer sees;
// their Active says who has accepted.
func (v *visit) invited(args ...any) (out []*member) {
	given := false
	for _, a := range args {
		list, is := a.([]*member)
		given = given || is
		for _, m := range list {
			if !m.Active {
				out = append(out, m)
			}
		}
	}
	if !given && v.peek("/users", everybody(1), &out) {
		v.colleagues(out...)
	}
	return out
}

// WebhookSecret is empty: no page shows the secret. A form without a secret leaves it unchanged.
func (accessRequest) WebhookSecret() string { return "" }

// Names of plans and their limits that themes use.

// PlanName is the name of the plan.
func (p plan) PlanName() string { return p.Name }

// AuthType is empty: products have it.
func (plan) AuthType() string { return "" }

// Rate returns how many calls are allowed in the time Per.
func (p plan) Rate() int64 { return p.RateLimit }

// QuotaMax returns how many calls are allowed in all.
func (p plan) QuotaMax() int64 { return p.Quota }
