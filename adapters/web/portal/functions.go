package portal

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// functions returns the functions for templates, besides those of the engine
// (docs/wire/portal-content.md#functions). Functions about the viewer accept req as an
// argument, but do not need it.
func (v *visit) functions() map[string]any {
	yes := func(b bool) func(...any) bool { return func(...any) bool { return b } }
	admin := v.site.Viewer.IsAdmin() // admins see every portal
	return map[string]any{
		"req":         func() *visit { return nil },
		"CurrentUser": func(...any) *user { return v.site.Viewer },
		"GetMenus":    v.menus, "GetProducts": func(...any) []product { return v.products(v.searched()) },
		"FeaturedProducts":        func(...any) []product { return v.products(url.Values{"featured": {"true"}}) },
		"GetCatalogueList":        func(...any) map[string]shelf { return v.shelves() },
		"GetCataloguesForProduct": v.shelvesOf,
		"IsPortalDisabled":        yes(v.site.Visibility == hidden && !admin), "IsPortalPrivate": yes(v.site.Visibility == private && !admin),
		"IsShoppingCartEnabled": yes(v.site.APIAccessFlow == "cart"), "IsAuthPath": yes(v.entrance()), "IsFullstoryEnabled": yes(false),
		"CanCreateOrganisation":  yes(v.mayFound()),
		"GetUserInvitationRoles": func(...any) []role { return roles },
		"GetCart":                func(...any) []item { return v.cart() },
		"GetClientName":          func(args ...any) string { return v.clientOf(args).Name },
		"GetClientDescription":   func(args ...any) string { return v.clientOf(args).Description },
		"FilterUserInvites":      v.invited,
		"TypeOfCredential":       kindOf,
		"Clients":                func(...any) []*client { return v.ownApps() },
		"PageTitle":              func(...any) string { return v.title },
		"LoginURL":               func(...any) string { return cmp.Or(v.LoginURL, "/auth/password/login") },
		"HomeURL":                func(...any) string { return v.Home },
		"AuthURL":                func(args ...any) string { return "/auth/" + strings.TrimPrefix(text(args), "/") },
		"ProductDocRenderer":     func(...any) string { return v.Renderer }, "ProductDocTemplate": func(...any) string { return v.docView() },
		"ProviderUpstreamURL": v.baseOf,
		"AssetURL":            v.assetAt,
		"safe":                safe, "safe_md": safeMarkdown, "safe_md_sanitized": safeMarkdown,
	}
}

// baseOf returns the base address of a provider's APIs, given the provider's number, for the
// product of the page. For other providers it returns "".
func (v *visit) baseOf(args ...any) string {
	if slices.Contains(args, any(v.subject.ProviderID)) {
		return v.subject.BaseURL
	}
	return ""
}

// searched returns the query of a catalogue page; for other pages it is empty.
func (v *visit) searched() url.Values {
	out := url.Values{}
	if v.r.URL.Path == cataloguePage {
		for _, name := range []string{"search", "catalogue", "page"} {
			out.Set(name, v.r.URL.Query().Get(name))
		}
	}
	return out
}

// shelves returns the catalogues by slug, for a field that chooses one; "" stands for all.
func (v *visit) shelves() map[string]shelf {
	chosen := v.searched().Get("catalogue")
	out := map[string]shelf{"": {Name: "All catalogues", Selected: chosen == ""}}
	for _, s := range v.found(url.Values{}).Catalogues {
		s.Selected = chosen != "" && (chosen == s.Slug || chosen == strconv.Itoa(s.ID))
		out[s.Slug] = s
	}
	return out
}

// shelvesOf returns the catalogues visible to the viewer that contain a product: the product,
// or its number, is among the arguments of a template function.
func (v *visit) shelvesOf(args ...any) []shelf {
	for _, a := range args {
		switch a := a.(type) {
		case product:
			if a.Shelves == nil {
				return v.shelvesOf(a.ID)
			}
			return a.Shelves
		case int:
			if list := v.found(url.Values{"product": {strconv.Itoa(a)}}).Products; len(list) > 0 {
				return list[0].Shelves
			}
			return nil
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

// menus returns the items of a menu by its name or, without a name, all menus as trees. The
// address "/" is replaced by the start page.
func (v *visit) menus(args ...any) any {
	if name := text(args); name != "" {
		return v.itemsOf(name)
	}
	out := map[string]menu{}
	for name := range v.site.Menus {
		below := map[int][]menuItem{}
		for _, i := range v.itemsOf(name) {
			below[i.ParentID] = append(below[i.ParentID], i)
		}
		if len(below[0]) > 0 {
			out[name] = menu{name, grown(below, 0)}
		}
	}
	return out
}

func (v *visit) itemsOf(menu string) []menuItem {
	items := slices.Clone(v.site.Menus[menu])
	for i := range items {
		if items[i].Path == "/" {
			items[i].Path = v.Home
		}
	}
	return items
}

// grown returns the items below a parent, with their descendants. The API prevents cycles.
func grown(below map[int][]menuItem, parent int) []menuItem {
	out := below[parent]
	for i := range out {
		out[i].Children = grown(below, out[i].ID)
	}
	return out
}

// written is a text by an admin. Other texts may come from any user.
type written string

// safe prints HTML by an admin unchanged, and sanitises other HTML.
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
