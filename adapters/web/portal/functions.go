package portal

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
)

// functions are what templates may call besides those that the engine has
// (docs/wire/portal-content.md#functions). Those about the viewer take req, and need not.
func (v *visit) functions() map[string]any {
	yes := func(b bool) func(...any) bool { return func(...any) bool { return b } }
	return map[string]any{
		"req":         func() *visit { return nil },
		"CurrentUser": func(...any) *user { return v.site.Viewer },
		"GetMenus":    v.menus, "GetProducts": func(...any) []product { return v.products(url.Values{}) },
		"FeaturedProducts":        func(...any) []product { return v.products(url.Values{"featured": {"true"}}) },
		"GetCatalogueList":        func(...any) []shelf { return v.found(url.Values{}).Catalogues },
		"GetCataloguesForProduct": shelvesOf,
		"IsPortalDisabled":        yes(v.site.Visibility == hidden), "IsPortalPrivate": yes(v.site.Visibility == private),
		"IsShoppingCartEnabled": yes(v.site.APIAccessFlow == "cart"), "IsAuthPath": yes(v.entrance()), "IsFullstoryEnabled": yes(false),
		"CanCreateOrganisation":  yes(v.site.OrganisationRequestsEnabled && v.site.Viewer != nil),
		"GetUserInvitationRoles": func(...any) []string { return roles },
		"GetCart":                func(...any) []item { return v.cart() },
		"GetClientName":          func(args ...any) string { return v.clientOf(args).Name },
		"GetClientDescription":   func(args ...any) string { return v.clientOf(args).Description },
		"FilterUserInvites":      func(args ...any) []*member { return pending(args) },
		"TypeOfCredential":       func(args ...any) string { return kindOf(args) },
		"Clients":                func(...any) []*client { list, _ := v.clients(""); return v.wholes(list) },
		"PageTitle":              func(...any) string { return v.title },
		"LoginURL":               func(...any) string { return cmp.Or(v.LoginURL, "/auth/password/login") },
		"HomeURL":                func(...any) string { return v.Home },
		"AuthURL":                func(args ...any) string { return "/auth/" + strings.TrimPrefix(text(args), "/") },
		"ProductDocRenderer":     func(...any) string { return v.Renderer }, "ProductDocTemplate": func(...any) string { return v.docView() },
		"ProviderUpstreamURL": func(...any) string { return "" },
		"AssetURL":            v.assetAt,
		"safe":                safe, "safe_md": safeMarkdown,
	}
}

// shelvesOf returns the catalogues of the product among the arguments of a function.
func shelvesOf(args ...any) []shelf {
	for _, a := range args {
		if p, ok := a.(product); ok {
			return p.Shelves
		}
	}
	return nil
}

// text returns the first text among the arguments of a function.
func text(args []any) string {
	for _, a := range args {
		if s, ok := a.(string); ok {
			return s
		}
	}
	return ""
}

// menus returns a menu by its name. What leads to "/" means the start page.
func (v *visit) menus(args ...any) []menuItem {
	items := slices.Clone(v.site.Menus[text(args)])
	for i := range items {
		if items[i].Path == "/" {
			items[i].Path = v.Home
		}
	}
	return items
}

// written is a text that an admin has written. Other texts may be anybody's.
type written string

// safe prints HTML as it is when an admin has written it, and sanitised otherwise.
func safe(value any) template.HTML {
	switch x := value.(type) {
	case nil:
		return ""
	case written:
		return template.HTML(x) //nolint:gosec // admins may write HTML; the policy of pages stops scripts
	case template.HTML:
		return x
	}
	return sanitised(fmt.Sprint(value))
}
