package policy

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// Table is the type of a policy: the members that gateways decode, and those that only clients
// of this service know.
var Table = shape.Object(
	shape.Members("_id", shape.ObjectID),
	shape.Members("id name org_id post_expiry_action last_updated state auth_type", shape.String),
	shape.Members("rate per throttle_interval", shape.Float),
	shape.Members("quota_max quota_renewal_rate throttle_retry_limit max_query_depth key_expires_in post_expiry_grace_period", shape.Int),
	shape.Members("smoothing", Smoothing),
	shape.Members("hmac_enabled enable_http_signature_validation active is_inactive graphql_enabled", shape.Bool),
	shape.Members("access_rights", shape.Map(AccessDefinition)),
	shape.Members("access_rights_array?", shape.List(AccessDefinition)),
	shape.Members("partitions", shape.Object(shape.Members("quota rate_limit complexity acl per_api", shape.Bool))),
	shape.Members("tags? auth_types?", shape.List(shape.String)),
	shape.Members("meta_data", shape.Map(shape.Any)), // data of clients for their plugins: gateways copy it to sessions
	// Older rules, by name: gateways require objects and do not read them.
	shape.Members("graphql_access_rights", shape.Map(shape.Object())),
	shape.Members("date_created", shape.Time),
)

var (
	texts = shape.List(shape.String)
	// Smoothing lets the rate limit of policies and keys grow and shrink.
	Smoothing = shape.Object(
		shape.Members("enabled", shape.Bool), shape.Members("trigger", shape.Float), shape.Members("threshold step delay", shape.Int))
	rateLimit = shape.Object(shape.Members("rate per", shape.Float), shape.Members("smoothing", Smoothing))
	apiLimit  = shape.Object(
		shape.Members("rate per throttle_interval", shape.Float), shape.Members("smoothing", Smoothing), shape.Members("set_by_policy", shape.Bool),
		shape.Members("throttle_retry_limit max_query_depth quota_max quota_renews quota_remaining quota_renewal_rate", shape.Int))
	graphqlType = shape.Object(shape.Members("name", shape.String), shape.Members("fields", texts))
	limited     = shape.Object(shape.Members("name type", shape.String), shape.Members("limit", rateLimit))
	lists       = shape.Object(shape.Members("allowed? blocked?", texts))

	// AccessDefinition is the access to one API, in policies and in keys
	// (docs/wire/policies.md#access-definitions). Clients expect the lists without ? in every
	// definition; the MCP lists would be misleading for other APIs.
	AccessDefinition = shape.Object(
		shape.Members("api_id api_name allowance_scope", shape.String), shape.Members("versions", texts),
		shape.Members("allowed_urls", shape.List(shape.Object(shape.Members("url", shape.String), shape.Members("methods", texts)))),
		shape.Members("restricted_types allowed_types", shape.List(graphqlType)),
		shape.Members("field_access_rights", shape.List(shape.Object(
			shape.Members("type_name field_name", shape.String), shape.Members("limits", shape.Object(shape.Members("max_query_depth", shape.Int)))))),
		shape.Members("disable_introspection", shape.Bool), shape.Members("limit", apiLimit),
		shape.Members("endpoints", shape.List(shape.Object(shape.Members("path", shape.String), shape.Members("methods", shape.List(limited))))),
		shape.Members("json_rpc_methods? mcp_primitives?", shape.List(limited)), shape.Members("json_rpc_methods_access_rights", lists),
		shape.Members("mcp_access_rights", shape.Object(shape.Members("tools resources prompts", lists))),
	)
)

// Entry returns the policy in its form for gateways (docs/wire/feeds.md#policies), and the
// values that a gateway would fail to decode: one of them breaks the whole feed. It gives no
// rights to foreign APIs: each is replaced with a name that no API has, because no rights at
// all would mean every API.
func (p Policy) Entry(foreign ...string) ([]byte, []shape.Problem) {
	n, err := p.Node()
	if err != nil {
		return nil, []shape.Problem{{Want: "a policy", Got: "text that is not JSON"}}
	}
	n.Delete("access_rights_array") // a duplicate that gateways do not know
	for _, id := range foreign {
		n.Delete("access_rights", id)
		nothing := doc.NewObject()
		nothing.Set("api_id", doc.NewString(id+Elsewhere))
		n.Get("access_rights").Set(id+Elsewhere, nothing)
	}
	return n.JSON(), Table.Check(n)
}

// Elsewhere is the suffix of the identifier of another organisation's API in the form for
// gateways.
const Elsewhere = " of another organisation"
