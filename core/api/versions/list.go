package versions

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Meta describes one child version (docs/wire/versions.md#list).
type Meta struct {
	ID             string `json:"id"`
	Name           string `json:"name"` // of the API
	VersionName    string `json:"versionName"`
	Internal       bool   `json:"internal"`
	ExpirationDate string `json:"expirationDate"` // as in the definition; "": never
	IsDefault      bool   `json:"isDefaultVersion"`
}

// Metas is a list of child versions; there is one page.
type Metas struct {
	APIs  []Meta `json:"apis"`
	Pages int    `json:"pages"`
}

// Query filters child versions.
type Query struct {
	Search string // part of the version's or the API's name, in any case; "": all
	Access string // internal or external; other values: both
}

// List returns the versions of a base, sorted by version name. find returns the classic
// definition of an API, or nil: then the version is left out.
func (t Table) List(find func(id string) *doc.Node, q Query) Metas {
	out, search := Metas{APIs: []Meta{}, Pages: 1}, strings.ToLower(strings.TrimSpace(q.Search))
	for _, c := range t.Children() {
		classic := find(c.ID)
		if classic == nil {
			continue
		}
		m := Meta{
			ID: c.ID, Name: classic.Get("name").Text(), VersionName: c.Name, Internal: classic.Get("internal").True(),
			ExpirationDate: classic.Get("expiration").Text(), IsDefault: c.Name == t.Default(),
		}
		if q.Access == "internal" && !m.Internal || q.Access == "external" && m.Internal {
			continue
		}
		if strings.Contains(strings.ToLower(m.VersionName), search) || strings.Contains(strings.ToLower(m.Name), search) {
			out.APIs = append(out.APIs, m)
		}
	}
	slices.SortStableFunc(out.APIs, func(a, b Meta) int { return strings.Compare(a.VersionName, b.VersionName) })
	return out
}
