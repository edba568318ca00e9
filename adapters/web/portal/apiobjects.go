package portal

import "net/url"

// api is an API of a product, as themes know it.
type api struct {
	Alias, Name, Description, APIType, ListenPath, Document, Address string
	GraphQLServerEndpoint, ServedAt                                  string
	Active                                                           bool

	of string // path of the product
}

// SpecAlias returns by which name addresses know a specification.
func (a api) SpecAlias() string { return a.Alias }

// TargetURL is empty: where an API really is, is nothing for visitors.
func (api) TargetURL() string { return "" }

// OASUrl returns where the description is, if it is not kept here.
func (a api) OASUrl() string { return a.Address }

// GetAPITypeFormatted returns in a word of what sort the API is.
func (a api) GetAPITypeFormatted() string {
	if a.IsGraphQLAPI() {
		return "GraphQL"
	}
	return "REST"
}

// IsGraphQLAPI reports whether a schema of GraphQL describes the API.
func (a api) IsGraphQLAPI() bool { return a.Document == "graphqlSDL" }

// IsMCPAPI is false: no product has a proxy of the Model Context Protocol.
func (api) IsMCPAPI() bool { return false }

// DocumentationType returns what the description is: oas, graphqlSDL, or nothing.
func (a api) DocumentationType() string { return a.Document }

// OASDocument returns where an OpenAPI description is fetched; "": there is none.
func (a api) OASDocument() kept { return a.download("oas") }

// GraphQLSDL returns where a schema is fetched; "": there is none.
func (a api) GraphQLSDL() kept { return a.download("graphqlSDL") }

func (a api) download(form string) kept {
	if a.Document != form || a.Address != "" {
		return ""
	}
	return kept(productPage(a.of) + "/" + url.PathEscape(a.Alias) + "/docs/download")
}

// kept is the address of a file that the portal keeps. Themes print it, or ask for Base.Url.
type kept string

// Base returns what knows the address as Url.
func (k kept) Base() map[string]string { return map[string]string{"Url": string(k)} }
