package portal

import (
	"fmt"
	"slices"
	"strings"
)

// Objects are what templates see: what operations answer, with the methods that themes
// call (docs/guide-portal-pages.md#themes).

type site struct {
	Visibility                                                                   string
	Viewer                                                                       *user
	RegistrationEnabled, SignInEnabled, BlogEnabled, OrganisationRequestsEnabled bool
	APIAccessFlow                                                                string
	Menus                                                                        map[string][]menuItem
}

type menuItem struct {
	ID          int
	Title, Path string
	ParentID    int
}

type user struct {
	ID                       int
	Email, First, Last, Role string
	OrganisationID           int
	Organisation             string
	Teams                    []string
	Active, ResetPassword    bool
	CSRFToken                string
	CustomAttributes         []attribute
}

// DisplayName returns how a page addresses somebody.
func (u *user) DisplayName() string {
	if u == nil {
		return ""
	}
	return strings.TrimSpace(u.First + " " + u.Last)
}

// IsAdmin reports whether somebody is an admin of the portal.
func (u *user) IsAdmin() bool {
	return u != nil && (u.Role == "super-admin" || u.Role == "provider-admin")
}

// IsOrgAdmin reports whether somebody is an admin of an organisation.
func (u *user) IsOrgAdmin() bool { return u != nil && u.Role == "consumer-admin" }

// GetOrganisationID returns the number of the organisation.
func (u *user) GetOrganisationID() int { return u.OrganisationID }

// IdentityProvider returns where somebody logs in.
func (u *user) IdentityProvider() string { return "password" }

// DisplayRole returns the role in words.
func (u *user) DisplayRole() string {
	words := map[string]string{"super-admin": "Super admin", "provider-admin": "Provider admin", "consumer-admin": "Organisation admin", "consumer-team-member": "Team member"}
	return words[u.Role]
}

// attribute is a field that admins have added to people.
type attribute struct {
	Name, Identifier, Description, Type, DropdownValues, Value string
	Required, Editable                                         bool
}

// Options returns the values of a dropdown.
func (a attribute) Options() []string {
	var out []string
	for o := range strings.SplitSeq(a.DropdownValues, ",") {
		if o = strings.TrimSpace(o); o != "" {
			out = append(out, o)
		}
	}
	return out
}

type shelf struct {
	ID         int
	Name, Slug string
	Cart       bool
}

type found struct {
	Products             []product
	Catalogues           []shelf
	Total, Page, PerPage int
}

type product struct {
	ID                                        int
	Name, Path, Description, AuthType, Scopes string
	AuthTypes                                 []string
	Feature, IsDocumentationOnly, Requesting  bool
	Content                                   written
	APIs                                      []api
	Plans                                     []plan
	Shelves                                   []shelf
	Tutorials                                 []article
}

// authNames are the words for how callers prove who they are.
var authNames = map[string]string{"authToken": "Auth token", "jwt": "JWT", "oauth": "OAuth 2.0", "mtls": "Mutual TLS", "keyless": "Keyless", "basic": "Basic auth", "ba": "Basic auth", "hmac": "HMAC", "custom": "Custom", "multiAuth": "Auth token and mutual TLS"}

// DisplayName returns the name that developers see.
func (p product) DisplayName() string { return p.Name }

// GetAuthTypeBadgeFormatted returns in words how callers prove who they are.
func (p product) GetAuthTypeBadgeFormatted() string {
	if name, known := authNames[p.AuthType]; known {
		return name
	}
	return p.AuthType
}

// GetAPITypeFormatted returns in words what sorts of APIs there are.
func (p product) GetAPITypeFormatted() string {
	var out []string
	for _, a := range p.APIs {
		// Some APIs have nothing to say but how callers prove who they are.
		if kind := strings.ToUpper(a.APIType); kind != "" && !slices.Contains(p.AuthTypes, a.APIType) && !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	return strings.Join(out, ", ")
}

// APIDetails returns the APIs.
func (p product) APIDetails() []api { return p.APIs }

type api struct {
	Alias, Name, Description, APIType, ListenPath, Document, Address string
	Active                                                           bool
}

// APIID returns by which name addresses know the API.
func (a api) APIID() string { return a.Alias }

// Status returns in a word whether the API is served.
func (a api) Status() string {
	if a.Active {
		return "Active"
	}
	return "Inactive"
}

// Title returns the name that a page shows.
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
}

// DisplayName returns the name that developers see.
func (p plan) DisplayName() string { return p.Name }

// FormatRateLimit says how many calls there may be in which time.
func (p plan) FormatRateLimit() string {
	if p.UnlimitedRateLimit || p.RateLimit <= 0 {
		return "unlimited"
	}
	return fmt.Sprintf("%d calls / %s", p.RateLimit, span(int64(p.Per)))
}

// FormatQuota says how many calls there may be in all.
func (p plan) FormatQuota() string {
	if p.UnlimitedQuota || p.Quota <= 0 {
		return "unlimited"
	}
	return fmt.Sprintf("%d calls / %s", p.Quota, span(p.QuotaRenewalRate))
}

// span is a time in the largest unit of which it is a multiple.
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
	Title, Lede, Path, URL, CreatedAt string
	Content, MarkdownContent          written
	MarkdownEnabled                   bool
	Categories, Tags                  []string
}

type block struct {
	Content, MarkdownContent written
	MarkdownEnabled          bool
}
