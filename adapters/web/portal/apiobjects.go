package portal

import "net/url"

// api is an API of a product, for themes.
type api struct {
	Alias, Name, Description, APIType, ListenPath, Document, Address string
	GraphQLServerEndpoint, ServedAt                                  string
	Active                                                           bool

	of string // path of the product
}

// SpecAlias returns the name of a specification in addresses.
func (a api) SpecAlias() string { return a.Alias }

// TargetURL is empty: visitors must not see the upstream address of an API.
func (api) TargetURL() string { return "" }

// OASUrl returns the URL of the description, if the portal does not store it.
func (a api) OASUrl() string { return a.Address }

// GetAPITypeFormatted returns the type of the API as a word.
func (a api) GetAPITypeFormatted() string {
	if a.IsGraphQLAPI() {
		return "GraphQL"
	}
	return "REST"
}

// IsGraphQLAPI reports whether a GraphQL schema describes the API.
func (a api) IsGraphQLAPI() bool { return a.Document == "graphqlSDL" }

// IsMCPAPI is false: no product has a proxy of the Model Context Protocol.
func (api) IsMCPAPI() bool { return false }

// DocumentationType returns the type of the description: oas, graphqlSDL, or nothing.
func (a api) DocumentationType() string { return a.Document }

// OASDocument returns the address of an OpenAPI description; "": there is none.
func (a api) OASDocument() kept { return a.download("oas") }

// GraphQLSDL returns the address of a schema; "": there is none.
func (a api) GraphQLSDL() kept { return a.download("graphqlSDL") }

func (a api) download(form string) kept {
	if a.Document != form || a.Address != "" {
		return ""
	}
	return kept(productPage(a.of) + "/" + url.PathEscape(a.Alias) + "/docs/download")
}

// kept is the address of a file that the portal stores. Themes print it, or use Base.Url.
type kept string

// Base returns a map with the address as Url.
func (k kept) Base() map[string]string { return map[string]string{"Url": string(k)} }
