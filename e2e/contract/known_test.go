package contract_test

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/gatehouse-io/gatehouse/app/portal"
)

// known is an error of the file: a place where the service rightly differs from the
// file.
type known struct {
	route    string // "*": any; a path: every path below it
	status   int    // 0: any
	location string // a segment "*" stands for any segment, "**" at the end for all that follow
	reason   string // with the section of docs/wire that decides
	used     atomic.Bool
}

// errata are the known errors of the file.
var errata = []*known{
	{route: "*", location: "/Meta", reason: "envelopes always have Meta, which may be null, as the file's own examples show: docs/wire/errors.md#envelopes"},
	{route: "*", status: 412, location: "status", reason: "If-Match and If-None-Match are an addition of ours (RFC 9110, 13.1)"},

	{route: portal.Prefix, status: 401, location: "status", reason: "a missing credential is 401 everywhere: docs/wire/portal.md#errors"},
	{route: portal.Prefix, status: 404, location: "status", reason: "what is not there is 404, read or deleted, and so is what is below it: docs/wire/portal.md#errors"},
	{route: portal.Prefix, status: 422, location: "status", reason: "a failed validation is 422 everywhere, and so is a change of what is not there: docs/wire/portal.md#errors"},
	{route: "GET " + portal.Prefix + "/plans", status: 200, location: "/", reason: "every list is an array: docs/wire/portal.md#lists"},

	{route: "POST /portal-api/oauth-providers/{}/client-types", status: 201, location: "/ResponseTypes", reason: "id_token is not spelt it_token, and lists are separated by commas: docs/wire/portal-oauth-providers.md#client-types"},
	{route: "PUT /portal-api/oauth-providers/{}/client-types/{}", status: 200, location: "/ResponseTypes", reason: "as above"},
	{route: "POST /portal-api/oauth-providers/{}/client-types", status: 201, location: "/OktaAppType", reason: "a choice that is not made is an empty text: docs/wire/portal-oauth-providers.md#client-types"},
	{route: "POST /portal-api/oauth-providers/{}/client-types", status: 201, location: "/TokenEndpointAuthMethod", reason: "as above"},
	{route: "PUT /portal-api/oauth-providers/{}/client-types/{}", status: 200, location: "/TokenEndpointAuthMethod", reason: "as above"},
	{route: "POST /portal-api/apps/{}/custom_credentials", status: 201, location: "/AuthTokenType", reason: "tokens alone have one, of others it is an empty text: docs/wire/portal-apps.md#custom-credentials"},

	{route: "GET /portal-api/products/{}/spec-details/{}/oas", status: 200, location: "/", reason: "the answer is the document, which the file calls a text: docs/wire/portal-documents.md#documents"},
	{route: "GET /portal-api/products/{}/api-details/{}/oas", status: 200, location: "/", reason: "as above"},
	{route: "GET /portal-api/products/{}/spec-details/{}/graphql/schema", status: 200, location: "", reason: "as above: it is no JSON"},
	{route: "GET /portal-api/products/{}/api-details/{}/graphql/schema", status: 200, location: "", reason: "as above"},
	{route: "POST /portal-api/products/{}/spec-details/{}/oas", status: 400, location: "status", reason: "a file that is no OpenAPI description is 400: docs/wire/portal-documents.md#uploads"},
	{route: "POST /portal-api/products/{}/api-details/{}/oas", status: 400, location: "status", reason: "as above"},
	{route: "POST /portal-api/products/{}/spec-details/graphql/schema", status: 200, location: "/SpecAlias", reason: "a file that was only checked becomes no specification: docs/wire/portal-documents.md#uploads"},
	{route: portal.Prefix + "/products/{}/logo", status: 400, location: "media type", reason: "errors are JSON everywhere: docs/wire/portal.md#errors"},
	{route: portal.Prefix + "/products/{}/preview", status: 400, location: "media type", reason: "as above"},
	{route: "GET " + portal.Prefix + "/products/{}/logo", status: 200, location: "media type", reason: "a picture is answered with its own type: docs/wire/portal-products.md#images"},
	{route: "GET " + portal.Prefix + "/products/{}/preview", status: 200, location: "media type", reason: "as above"},

	{route: "GET /portal-api/sso_profiles", status: 200, location: "/*", reason: "the file says a list of lists; every list is flat: docs/wire/portal.md#lists"},
	{route: "PUT /portal-api/sso_profiles/{}", status: 400, location: "status", reason: "what is invalid is 400, created or changed: docs/wire/portal-sso.md#profiles"},

	{route: "POST /portal-api/themes/upload", location: "media type", reason: "answers are JSON everywhere: docs/wire/portal-content.md#themes"},
	{route: "GET /portal-api/themes/{}/download", status: 200, location: "", reason: "the answer is an archive, which is no JSON: docs/wire/portal-content.md#themes"},

	{route: "POST /portal-api/apps", status: 201, location: "/CreatedAt", reason: "apps tell when they were made to the second: docs/wire/portal-apps.md#apps"},
	{route: "PUT /portal-api/apps/{}", status: 200, location: "/CreatedAt", reason: "as above"},
	{route: "GET /portal-api/apps/{}", status: 200, location: "/CreatedAt", reason: "as above"},
	{route: "GET /portal-api/apps", status: 200, location: "/*/CreatedAt", reason: "as above"},
	{route: "GET /portal-api/apps/{}", status: 200, location: "/AccessRequests/*", reason: "access requests are a list, not a list of lists: docs/wire/portal-apps.md#access-requests"},
	{route: "GET /portal-api/access_requests", status: 200, location: "/*/DeletedAt", reason: "a date that is not set is empty: docs/wire/portal-apps.md#access-requests"},
	{route: "GET /portal-api/access_requests/{}", status: 200, location: "/DeletedAt", reason: "as above"},
	{route: "GET /portal-api/apps/{}/access-requests", status: 200, location: "/*/DeletedAt", reason: "as above"},
	{route: "GET /portal-api/apps/{}/access-requests/{}", status: 200, location: "/DeletedAt", reason: "as above"},

	{route: "GET /api/mcps/{}", status: 401, location: "status", reason: "a missing credential is 401 everywhere: docs/wire/permissions.md#order-of-checks"},
	{route: "PUT /api/mcps/{}", status: 401, location: "status", reason: "as above"},
	{route: "DELETE /api/mcps/{}", status: 401, location: "status", reason: "as above"},
	{route: "POST /api/proxy", status: 401, location: "status", reason: "as above"},
	{route: "GET /api/mcps", status: 403, location: "status", reason: "a missing permission is 403 on every operation, even where a row does not list it: docs/wire/errors.md#standard-errors"},
	{route: "POST /api/mcps", status: 403, location: "status", reason: "as above"},
	{route: "GET /api/mcps/{}", status: 403, location: "status", reason: "as above"},
	{route: "PUT /api/mcps/{}", status: 403, location: "status", reason: "as above"},
	{route: "DELETE /api/mcps/{}", status: 403, location: "status", reason: "as above"},
	{route: "POST /api/apis/migrate", status: 403, location: "status", reason: "as above"},
	{route: "GET /api/schemas/apidefs/mcp", status: 403, location: "status", reason: "as above: it takes the right to read MCP proxies"},

	{route: "GET /api/clientidps", status: 400, location: "status", reason: "a page that is no number is 400 everywhere: docs/wire/paging.md#pages"},
	{route: "GET /api/mcps", status: 400, location: "status", reason: "as above"},
	{route: "GET /api/portal/policies", status: 400, location: "status", reason: "as above"},
	{route: "GET /api/apis/keys", status: 400, location: "status", reason: "as above"},
	{route: "GET /api/apis/{}/keys", status: 400, location: "status", reason: "as above"},
	{route: "GET /api/keys/detailed", status: 400, location: "status", reason: "as above"},
	{route: "POST /api/keys", status: 400, location: "status", reason: "a session that gateways would refuse is 400: docs/wire/keys.md#rules"},
	{route: "POST /api/keys/{}", status: 400, location: "status", reason: "as above"},
	{route: "POST /api/apis/keys/basic/{}", status: 400, location: "status", reason: "as above"},
	{route: "PUT /api/apis/{}/access", status: 400, location: "status", reason: "dry_run, an addition of ours, is true or false"},
	{route: "DELETE /api/assets/{}", status: 400, location: "status", reason: "as above"},
	{route: "DELETE /api/clientidps/{}", status: 400, location: "status", reason: "as above"},
	{route: "DELETE /api/clientidps/{}/mappings/{}", status: 400, location: "status", reason: "as above"},
	{route: "GET /api/apis/oas/{}/categories", status: 400, location: "status", reason: "categories of a classic API are part of its name: it is no OAS API: docs/wire/oas-apis.md#categories"},
	{route: "PUT /api/apis/{}", status: 409, location: "status", reason: "a replacement may carry another api_id, which may be taken: docs/wire/apis.md#create-replace-delete"},

	{route: "/api/usage", status: 200, location: "media type", reason: "type=csv answers a file, of every view: docs/wire/analytics.md#parameters"},
	{route: "/api/activity", status: 200, location: "media type", reason: "as above"},
	{route: "/api/usage", status: 403, location: "status", reason: "a missing permission is 403 on every operation, even where a row does not list it: docs/wire/errors.md#standard-errors"},
	{route: "/api/activity/mcp", status: 403, location: "status", reason: "as above"},
	{route: "GET /api/activity/oauthid/{}/{}/{}/{}/{}/{}/{}", status: 400, location: "status", reason: "a day that there is not, and a page that is no number, are 400: docs/wire/analytics.md#periods"},

	{route: "POST /api/proxy", status: 200, location: "/body", reason: "the body of an answer is an object only if that answer is JSON, as the file's own text says"},
}

// excused reports whether a violation is a known error, and records its use.
func excused(route string, v violation) bool {
	found := false
	for _, k := range errata {
		_, path, _ := strings.Cut(route, " ")
		if (k.route == "*" || k.route == route || k.route[0] == '/' && strings.HasPrefix(path, k.route)) && (k.status == 0 || k.status == v.status) && matches(k.location, v.location) {
			k.used.Store(true)
			found = true
		}
	}
	return found
}

func matches(pattern, location string) bool {
	want, have := strings.Split(pattern, "/"), strings.Split(location, "/")
	for i, w := range want {
		if w == "**" {
			return true
		}
		if i >= len(have) || w != "*" && w != have[i] {
			return false
		}
	}
	return len(want) == len(have)
}

func (k *known) String() string {
	return fmt.Sprintf("%s, %d, %s (%s)", k.route, k.status, k.location, k.reason)
}
