package portal

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
)

// Objects for templates: the answers of operations, with the methods that themes call
// (docs/guide-portal-pages.md#themes).

type site struct {
	Visibility                                                                   string
	Viewer                                                                       *user
	RegistrationEnabled, SignInEnabled, BlogEnabled, OrganisationRequestsEnabled bool
	APIAccessFlow                                                                string
	Brand                                                                        brand
	Menus                                                                        map[string][]menuItem
}

// brand is the operator's choice of look.
type brand struct {
	Name, Description, Logo, Font, Footer string
	Light, Dark                           accent
}

type accent struct{ Colour, Ink string }

// Picture returns the address of the logo; "": the theme's. The API has validated it.
func (b brand) Picture() template.URL {
	if strings.HasPrefix(b.Logo, "data:image/") || strings.HasPrefix(b.Logo, "/") {
		return template.URL(b.Logo) //nolint:gosec // a picture, or a path here
	}
	return ""
}

// Style returns the changed tokens of the style sheet. The API has validated them.
func (b brand) Style() template.CSS {
	out := ""
	if b.Font != "" {
		out += ":root{--font:" + b.Font + "}"
	}
	if b.Light.Colour != "" {
		out += ":root{--accent:" + b.Light.Colour + ";--accent-ink:" + b.Light.Ink + "}@media(prefers-color-scheme:dark){:root{--accent:" + b.Dark.Colour + ";--accent-ink:" + b.Dark.Ink + "}}"
	}
	return template.CSS(out) //nolint:gosec // colours and names of fonts
}

// menu is a menu as a tree.
type menu struct {
	Name     string
	Children []menuItem
}

type menuItem struct {
	ID          int
	Title, Path string
	ParentID    int
	Children    []menuItem // for themes that ask for a tree
}

// Tag returns the title, for other themes.
func (m menuItem) Tag() string { return m.Title }

// named is an object of which pages use only the name: themes print it, or use Name.
type named string

// Name returns the name.
func (n named) Name() string { return string(n) }

// Segment returns the name as a path segment.
func (n named) Segment() string { return url.PathEscape(string(n)) }

type shelf struct {
	ID         int
	Name, Slug string
	// VisibilityStatus says whether visitors without login see it: Public or Private.
	VisibilityStatus string
	Cart, Selected   bool // Selected: the page shows only the products in it
}

type found struct {
	Products             []product
	Catalogues           []shelf
	Total, Page, PerPage int
}

// UnmarshalJSON also sets the catalogues of each product.
func (f *found) UnmarshalJSON(text []byte) error {
	type plain found
	if err := json.Unmarshal(text, (*plain)(f)); err != nil {
		return err
	}
	for i := range f.Products {
		p := &f.Products[i]
		for _, s := range f.Catalogues {
			if slices.Contains(p.In, s.ID) {
				p.Shelves = append(p.Shelves, s)
			}
		}
	}
	return nil
}

// authMethod is an authentication method of APIs. Themes print it, or use AuthType.
type authMethod string

// AuthType returns the name of the method.
func (m authMethod) AuthType() string { return string(m) }

// picture is the address of a picture, or "".
type picture string

// URL returns the address.
func (p picture) URL() string { return string(p) }

type product struct {
	ID                                        int
	Name, Path, Description, AuthType, Scopes string
	AuthTypes                                 []authMethod
	Feature, IsDocumentationOnly, Requesting  bool
	Content                                   written
	APIs                                      []api
	Plans                                     []plan
	In                                        []int `json:"Catalogues"` // numbers of Shelves
	Shelves                                   []shelf
	Tutorials                                 []article
	Posts                                     []article
	ProviderID                                int
	AuthTypeMode                              string
	DCREnabled, NeedsCertificate              bool
	WebhooksEnabled                           bool
	Away, Idle                                bool   // in an app: the product was deleted; it has no APIs
	BaseURL                                   string // of the APIs of the provider
	ClientTypes                               []clientType
	Tags                                      []named
	Preview, Logo                             picture
	Match                                     *match // in searches: what matched

	later func() map[int][]api // in a list: returns the APIs of its products, by number
}

// match is a search match, in pieces: matching words, and the text between them.
type match struct {
	Name, Description []piece
	Entries           []matched
}

type piece struct {
	Text string
	Hit  bool
}

// matched is an API, an operation or a tutorial that matches a search.
type matched struct {
	Sort, API, Anchor string
	Title, Text       []piece
}

// At returns the address of an entry, below the page of its product.
func (m matched) At() string {
	switch {
	case m.API == "":
		return ""
	case m.Anchor == "":
		return "/" + url.PathEscape(m.API) + "/docs"
	}
	return "/" + url.PathEscape(m.API) + "/docs#" + m.Anchor
}

// authNames are the display names of authentication methods.
var authNames = map[string]string{"authToken": "Auth token", "jwt": "JWT", "oauth": "OAuth 2.0", "mtls": "Mutual TLS", "keyless": "Keyless", "basic": "Basic auth", "ba": "Basic auth", "hmac": "HMAC", "custom": "Custom", "multiAuth": "Auth token and mutual TLS"}

// DisplayName returns the name that developers see.
func (p product) DisplayName() string { return p.Name }

// ProductName returns the name, for other themes.
func (p product) ProductName() string { return p.Name }

// GetAuthTypeBadgeFormatted returns the display names of the authentication methods.
func (p product) GetAuthTypeBadgeFormatted() string {
	if name, known := authNames[p.AuthType]; known {
		return name
	}
	return p.AuthType
}

// GetAPITypeFormatted returns the display names of the types of APIs.
func (p product) GetAPITypeFormatted() string {
	var out []string
	for _, a := range p.described() {
		// The type of some APIs is only their authentication method.
		if kind := strings.ToUpper(a.APIType); kind != "" && authNames[a.APIType] == "" && !slices.Contains(p.AuthTypes, authMethod(a.APIType)) && !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	return strings.Join(out, ", ")
}

// APIDetails returns the APIs.
func (p product) APIDetails() []api {
	if p.IsDocumentationOnly {
		return nil
	}
	return p.described()
}

// SpecDetails returns the specifications of a documentation-only product.
func (p product) SpecDetails() []api {
	if !p.IsDocumentationOnly {
		return nil
	}
	return p.described()
}

// described returns the APIs, with their product set.
func (p product) described() []api {
	out := slices.Clone(p.APIs)
	if out == nil && p.later != nil {
		out = slices.Clone(p.later()[p.ID])
	}
	for i := range out {
		out[i].of = p.Path
	}
	return out
}

// Catalogues returns the catalogues with the product that the viewer sees.
func (p product) Catalogues() []shelf { return p.Shelves }

// Templates returns the client types.
func (p product) Templates() []clientType { return p.ClientTypes }

// Docs returns the tutorials.
func (p product) Docs() []article { return p.Tutorials }

// ReferenceID is empty: it names a policy of the dashboard, which visitors must not see.
func (product) ReferenceID() string { return "" }

// cataloguePage is the page of the catalogue.
const cataloguePage = "/portal/catalogue-products"

// productPage returns the address of a product's page.
func productPage(path string) string { return cataloguePage + "/" + url.PathEscape(path) }

// APIID returns the name of the API in addresses.
func (a api) APIID() string { return a.Alias }

// Status returns a word for whether the API is served.
func (a api) Status() string {
	if a.Active {
		return "Active"
	}
	return "Inactive"
}

// Title returns the name for pages.
func (a api) Title() string {
	if a.Name == "" {
		return a.Alias
	}
	return a.Name
}

type plan struct {
	ID                                 int
	Name, Description                  string
	RateLimit                          int64
	Per                                float64
	Quota, QuotaRenewalRate            int64
	UnlimitedRateLimit, UnlimitedQuota bool
	AutoApproveAccessRequests          bool
	Catalogues                         []int
	OfferedIn                          int // the catalogue in which the viewer may request it; 0: none
}

// DisplayName returns the name that developers see.
func (p plan) DisplayName() string { return p.Name }

// FormatRateLimit returns the rate limit as text.
func (p plan) FormatRateLimit() string {
	if p.UnlimitedRateLimit || p.RateLimit <= 0 {
		return "unlimited"
	}
	return fmt.Sprintf("%d calls / %s", p.RateLimit, span(int64(p.Per)))
}

// FormatQuota returns the quota as text.
func (p plan) FormatQuota() string {
	if p.UnlimitedQuota || p.Quota <= 0 {
		return "unlimited"
	}
	return fmt.Sprintf("%d calls / %s", p.Quota, span(p.QuotaRenewalRate))
}

// span formats a duration in the largest unit of which it is a multiple.
func span(seconds int64) string {
	for _, unit := range []struct {
		name string
		of   int64
	}{{"day(s)", 86400}, {"hour(s)", 3600}, {"minute(s)", 60}} {
		if seconds > 0 && seconds%unit.of == 0 {
			return fmt.Sprintf("%d %s", seconds/unit.of, unit.name)
		}
	}
	return fmt.Sprintf("%d second(s)", seconds)
}

// article is a post or a tutorial.
type article struct {
	ID                                int
	Author                            author
	Title, Lede, Path, URL, CreatedAt string
	prose
	Categories, Tags    []named
	AuthorID, ProductID int
}

// author is the author of a post. Themes print the name, or use DisplayName.
type author string

// DisplayName returns the name.
func (a author) DisplayName() string { return string(a) }

// HeaderImage is empty: posts have no picture.
func (article) HeaderImage() picture { return "" }

// BlogSiteID is 1: a portal has one blog.
func (article) BlogSiteID() int { return 1 }

type block struct{ prose }

// prose is a text in HTML, in Markdown, or both.
type prose struct {
	Content         written
	Markdown        written `json:"MarkdownContent"`
	MarkdownEnabled bool
}

// Image is empty: blocks contain texts only.
func (prose) Image() picture { return "" }

// MarkdownContent returns the text in Markdown. Some authors have written it into the HTML
// field.
func (p prose) MarkdownContent() written {
	if p.Markdown == "" {
		return p.Content
	}
	return p.Markdown
}
