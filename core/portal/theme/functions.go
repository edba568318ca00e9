package theme

// Functions are the names of the functions that templates may call besides those of the
// template language (docs/wire/portal-content.md#functions).
var Functions = []string{
	// Data of the viewer and of the portal.
	"CurrentUser", "Clients", "GetCart", "GetMenus", "GetProducts", "GetCatalogueList", "GetCataloguesForProduct", "GetClientName", "GetClientDescription",
	"FeaturedProducts", "FilterUserInvites", "GetUserInvitationRoles", "CanCreateOrganisation", "TypeOfCredential", "ProviderUpstreamURL", "ProductDocRenderer", "ProductDocTemplate",
	// State of the request.
	"req", "IsPortalDisabled", "IsPortalPrivate", "IsShoppingCartEnabled", "IsAuthPath", "IsFullstoryEnabled", "PageTitle", "LoginURL", "HomeURL", "AuthURL", "AssetURL",
	// Mails.
	"site", "current_user", "reset_password_url", "confirm_url", "login_url", "user", "team", "invite_url",
	// Markdown.
	"safe_md", "safe_md_sanitized",
}
