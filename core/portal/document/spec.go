package document

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// SpecKind is the name of specifications in storage, and ProductKind that of the products to
// which they belong.
const (
	SpecKind    = "portal-spec"
	ProductKind = "portal-product"
)

// Spec is one specification of a documentation-only product.
type Spec struct {
	table.Base
	ProductID table.ID
	SpecAlias string
	Name      string `json:",omitempty"`
	OASURL    string `json:",omitempty"`
}

// Table implements table.Row.
func (Spec) Table() *table.Table[Spec] { return specs }

var specs = &table.Table[Spec]{
	Kind: SpecKind, Noun: "specification",
	Base:   func(s *Spec) *table.Base { return &s.Base },
	Parent: func(s Spec) table.ID { return s.ProductID },
	Fields: []table.Field[Spec]{
		{Name: "SpecAlias", At: func(s *Spec) any { return &s.SpecAlias }, Required: true, Max: maxAlias,
			Valid: func(s Spec) bool { return strings.Map(aliased, s.SpecAlias) == s.SpecAlias },
			Doc:   "Letters, digits, _ and -. Must be unique among the specifications of the product."},
		{Name: "Name", At: func(s *Spec) any { return &s.Name }, Max: maxAlias},
		{Name: "OASUrl", At: func(s *Spec) any { return &s.OASURL }, Max: MaxAddress, Valid: func(s Spec) bool { return IsAddress(s.OASURL) },
			Doc: "Address of an OpenAPI description. It replaces a stored description."},
	},
	Unique: []table.Unique[Spec]{{Name: "alias", Taken: "SpecAlias has already been taken",
		Of: func(s Spec) string { return s.ProductID.Key() + "/" + s.SpecAlias }}},
}

const maxAlias = 255

// aliased keeps a character that is valid in aliases, and replaces others.
func aliased(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
		return r
	}
	return '_'
}

// Alias makes an alias from the name of a file: orders.graphql becomes orders.
func Alias(file string) string {
	alias := strings.Map(aliased, strings.TrimSuffix(file, extension(file)))
	if len(alias) > maxAlias {
		alias = alias[:maxAlias]
	}
	if strings.Trim(alias, "_") == "" {
		return "schema"
	}
	return alias
}

// ServedAt returns the URL at which gateways serve an API; "" if their base URL is unknown.
func ServedAt(base, path string) string {
	if base == "" {
		return ""
	}
	at := strings.TrimRight(base, "/") + "/"
	if path = strings.Trim(path, "/"); path != "" {
		at += path + "/"
	}
	return at
}

// API is one API of a product with the data that an administrator sets. The product stores
// this data; the rest comes from the dashboard.
type API struct {
	table.Base
	APIID, Name, ListenPath, TargetURL, APIType string
	Status                                      bool
	Description, OASURL, Endpoint               string
}

// Table implements table.Row.
func (API) Table() *table.Table[API] { return apis }

var apis = &table.Table[API]{
	Kind: "portal-api-detail", Noun: "API detail",
	Base: func(a *API) *table.Base { return &a.Base },
	Fields: []table.Field[API]{
		{Name: "APIID", At: func(a *API) any { return &a.APIID }, Fixed: true},
		{Name: "Name", At: func(a *API) any { return &a.Name }, Fixed: true, Doc: "Ignored: the value comes from the dashboard."},
		{Name: "ListenPath", At: func(a *API) any { return &a.ListenPath }, Fixed: true},
		{Name: "TargetURL", At: func(a *API) any { return &a.TargetURL }, Fixed: true},
		{Name: "APIType", At: func(a *API) any { return &a.APIType }, Fixed: true},
		{Name: "Status", At: func(a *API) any { return &a.Status }, Fixed: true, Doc: "Ignored: the value comes from the dashboard."},
		{Name: "Description", At: func(a *API) any { return &a.Description }},
		{Name: "OASUrl", At: func(a *API) any { return &a.OASURL }, Max: MaxAddress, Valid: func(a API) bool { return IsAddress(a.OASURL) },
			Doc: "Address of an OpenAPI description. It replaces a stored description."},
		{Name: "GraphQLServerEndpoint", At: func(a *API) any { return &a.Endpoint }, Max: MaxAddress, Valid: func(a API) bool { return IsAddress(a.Endpoint) },
			Doc: "Address to which the playground sends queries. Empty: the address at which gateways serve the API."},
	},
}
