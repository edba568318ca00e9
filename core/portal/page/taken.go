package page

import (
	"slices"
	"strings"
)

// below are the prefixes of paths that never show a content page, because the service itself
// answers them.
var below = []string{
	"portal-api", "portal/api", "api", "tib", "sso", "debug", "live", "ready", "robots.txt", ".well-known", "admin", "system", "assets", "viewers",
}

// own are the paths of the portal's own pages; * is any segment.
var own = []string{
	"licences", "sitemap.xml",
	"blog", "blog/category/*", "blog/category/*/*", "blog/*/*/*/*",
	"portal/catalogue-products", "portal/catalogue-products/*", "portal/catalogue-products/*/*/docs", "portal/catalogue-products/*/*/docs/download", "portal/catalogue-products/*/*/try",
	"auth/logout", "auth/reset/code", "auth/password/login", "auth/password/logout", "auth/password/register", "auth/password/new", "auth/password/recover", "auth/password/edit",
	"auth/password/update", "auth/password/update/code",
	"portal/private/dashboard", "portal/private/analytics", "portal/private/analytics/api/chart/*", "portal/private/organisation",
	"portal/private/apps", "portal/private/apps/*", "portal/private/cart/provision", "portal/private/cart/remove/*/*",
	"portal/private/profile", "portal/private/profile/delete", "portal/private/users", "portal/private/users/*", "portal/private/users/*/edit",
}

// Taken reports whether the portal itself uses a path, so that a content page with this path
// is never shown.
func Taken(path string) bool {
	address := Address(path)
	for _, prefix := range below {
		if address == prefix || strings.HasPrefix(address, prefix+"/") {
			return true
		}
	}
	parts := strings.Split(address, "/")
	for _, pattern := range own {
		if slices.EqualFunc(strings.Split(pattern, "/"), parts, func(want, part string) bool { return want == "*" || want == part }) {
			return true
		}
	}
	return false
}
