package showcase

import (
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/products/rows"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/files"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Operations returns the rows; none when there is no portal.
func (s *Service) Operations() []operation.Operation {
	if s.Scope.IsZero() {
		return nil
	}
	g := portal.Group("portal-showcase", "", "showcase")
	g.Path = live.Prefix
	g.Style.Faults[live.CodeUnproven], g.Style.Faults[live.CodeExpired] = operation.Answer{Status: 400}, operation.Answer{}
	g.Style.Faults[live.CodeHidden] = operation.Answer{}
	g.Style.Faults[CodePrivate], g.Style.Faults[CodeHidden] = operation.Answer{}, operation.Answer{}
	absent := operation.Faulting(CodePrivate, CodeHidden, "not_found")
	pictures := g
	pictures.Path = "/system/products" // as product.Product.Address has it
	return append(append(g.Rows(
		operation.GET("site", "/site", "Fetch the data that every page shows", s.Site, operation.Visited(), operation.Faulting(table.CodeInvalid), operation.Redact("CSRFToken"), operation.Example(nil, exampleSite)),
		operation.GET("products", "/catalogue-products", "Search products", s.products, lookUp(operation.Example(nil, Found{[]Card{exampleCard}, []Shelf{exampleShelf}, 1, 1, perPage}),
			operation.Notes("Products are ordered by name; results of a search are ordered by how well they match. The list has only products of catalogues that the visitor may see. Without a session these are the public catalogues."))...),
		operation.GET("product", "/catalogue-products/{product_path}", "Fetch a product with its plans, APIs, tutorials and posts", s.product, lookUp(operation.Example(nil, exampleProduct))...),
		operation.GET("document", "/catalogue-products/{product_path}/{api_alias}/docs", "Fetch the description of an API", s.document, lookUp(operation.Faulting(CodePrivate, CodeHidden, documents.CodeElsewhere), operation.Notes("A description with an address in `OASUrl` is read from there and cached for five minutes."),
			operation.Example(nil, Document{"Payment API", "Payments", "payments", "oas", "application/yaml", "openapi: 3.0.3\n", true, "https://api.example.com/payments/"}))...),
		operation.GET("content", "/content", "Fetch a content page", s.content, lookUp(absent, operation.Example(nil, Content{"About us", "/about-us", "page", map[string]Block{"Content": {Content: "<p>We pay.</p>"}}}))...),
		operation.GET("blog", "/blog", "List posts", s.blog, lookUp(absent, operation.Example(nil, Posts{[]Post{examplePost}, 1, 1, postsPerPage}))...),
		operation.GET("post", "/blog/{post_path}", "Fetch a post", s.post, lookUp(operation.Example(nil, examplePost))...),
	), g.Rows(s.tryRows()...)...), pictures.Rows(
		operation.GET("picture", "/{product_id}/{picture}/{file}", "Fetch a picture of a product that the visitor may see", s.picture,
			lookUp(operation.Faulting(CodePrivate, CodeHidden, "not_found", files.CodeAway), operation.Example(nil, shown{Picture: rows.Picture{Type: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}}))...))...)
}

// Examples.
var (
	exampleSite = Site{"Public", &Viewer{ID: 8, Email: "grace@example.com", First: "Grace", Role: account.Member, OrganisationID: 1, Organisation: "Acme", Teams: []Team{{2, "Acme All users", true}}, Provider: account.OwnPassword, Active: true, CreatedAt: "2026-01-02 03:04", CSRFToken: "6a573a45.kR2n0ZyL"}, true, true, true, true, "cart", setting.Settings{SiteName: "Acme APIs", AccentColour: "#1d4fd8"}.Brand(),
		map[string][]MenuItem{"Primary": {{ID: 1, Title: "Catalogue", Path: "/portal/catalogue-products"}}}}
	exampleCard    = Card{3, "Payment API", "payment-api", "Takes payments.", "authToken", []string{"authToken"}, true, false, []table.ID{1}, "/system/products/3/logo/logo.png", nil, nil}
	exampleShelf   = Shelf{1, "Public Catalogue", "public-catalogue", "Public", true}
	exampleProduct = Product{Card: exampleCard, Logo: exampleCard.Preview, Content: "<p>Takes payments.</p>", APIs: []API{{"payments", "Payments", "", "http", "/payments/", true, "oas", "", "", "https://api.example.com/payments/"}}, BaseURL: "https://api.example.com",
		Plans:   []Plan{{1, "Free", "For a start.", 10, 60, false, 1000, 3600, false, true, []table.ID{1}}},
		Shelves: []Shelf{exampleShelf}, Tutorials: []Tutorial{{"First call", "In a minute.", "first-call", "<p>Send it.</p>", false, ""}}, Posts: []Post{exampleRelated}, Tags: []string{"money"}, Requesting: true,
		Requirements: Requirements{ProviderID: 1, ClientTypes: []ClientType{}}}
	exampleRelated = Post{ID: 4, Author: "Ada Lovelace", Title: "Ten tips", Lede: "In five minutes.", Path: "ten-tips", URL: "/blog/2026/01/02/ten-tips", Categories: []string{"News"}, Tags: []string{"money"}, CreatedAt: "2026-01-02 03:04"}
	examplePost    = Post{ID: 4, Author: "Ada Lovelace", Title: "Ten tips", Lede: "In five minutes.", Content: "<p>First</p>", Path: "ten-tips", URL: "/blog/2026/01/02/ten-tips", Categories: []string{"News"}, Tags: []string{}, CreatedAt: "2026-01-02 03:04"}
)
