package records

import "github.com/gatehouse-io/gatehouse/core/analytics/record"

type rec = record.Record

var (
	text   = func(place func(*rec) *string) func(*cursor, *rec) { return into((*cursor).text, place) }
	number = func(place func(*rec) *int64) func(*cursor, *rec) { return into((*cursor).number, place) }
)

// recordMembers are the members of a record in msgpack.
var recordMembers = members[rec]{
	"Method":        text(func(r *rec) *string { return &r.Method }),
	"Host":          text(func(r *rec) *string { return &r.Host }),
	"Path":          text(func(r *rec) *string { return &r.Path }),
	"RawPath":       text(func(r *rec) *string { return &r.RawPath }),
	"OriginalPath":  text(func(r *rec) *string { return &r.OriginalPath }),
	"ListenPath":    text(func(r *rec) *string { return &r.ListenPath }),
	"UserAgent":     text(func(r *rec) *string { return &r.UserAgent }),
	"IPAddress":     text(func(r *rec) *string { return &r.IPAddress }),
	"APIVersion":    text(func(r *rec) *string { return &r.APIVersion }),
	"APIName":       text(func(r *rec) *string { return &r.APIName }),
	"APIID":         text(func(r *rec) *string { return &r.APIID }),
	"OrgID":         text(func(r *rec) *string { return &r.OrgID }),
	"OauthID":       text(func(r *rec) *string { return &r.OauthID }),
	"Alias":         text(func(r *rec) *string { return &r.Alias }),
	"APIKey":        text(func(r *rec) *string { return &r.APIKey }),
	"RawRequest":    text(func(r *rec) *string { return &r.RawRequest }),
	"RawResponse":   text(func(r *rec) *string { return &r.RawResponse }),
	"ApiSchema":     text(func(r *rec) *string { return &r.APISchema }),
	"ContentLength": number(func(r *rec) *int64 { return &r.ContentLength }),
	"Day":           number(func(r *rec) *int64 { return &r.Day }),
	"Month":         number(func(r *rec) *int64 { return &r.Month }),
	"Year":          number(func(r *rec) *int64 { return &r.Year }),
	"Hour":          number(func(r *rec) *int64 { return &r.Hour }),
	"ResponseCode":  number(func(r *rec) *int64 { return &r.ResponseCode }),
	"RequestTime":   number(func(r *rec) *int64 { return &r.RequestTime }),
	"TimeStamp":     func(c *cursor, r *rec) { r.TimeStamp = c.moment() },
	"ExpireAt":      func(c *cursor, r *rec) { r.ExpireAt = c.moment() },
	"Tags":          func(c *cursor, r *rec) { r.Tags = c.list() },
	"TrackPath":     func(c *cursor, r *rec) { r.TrackPath = c.flag() },
	"Latency":       below(latencyMembers, func(r *rec) *record.Latency { return &r.Latency }),
	"Geo":           below(geoMembers, func(r *rec) *record.Geo { return &r.Geo }),
	"Network":       below(networkMembers, func(r *rec) *record.Network { return &r.Network }),
	"GraphQLStats":  below(graphMembers, func(r *rec) *record.GraphQL { return &r.GraphQL }),
	"MCPStats":      below(mcpMembers, func(r *rec) *record.MCP { return &r.MCP }),
}

var latencyMembers = members[record.Latency]{
	"Total":    into((*cursor).number, func(l *record.Latency) *int64 { return &l.Total }),
	"Upstream": into((*cursor).number, func(l *record.Latency) *int64 { return &l.Upstream }),
	"Gateway":  into((*cursor).number, func(l *record.Latency) *int64 { return &l.Gateway }),
}

var geoMembers = members[record.Geo]{
	"Country": below(members[record.Geo]{
		"ISOCode": into((*cursor).text, func(g *record.Geo) *string { return &g.Country }),
	}, same),
	"City": below(members[record.Geo]{
		"GeoNameID": into((*cursor).number, func(g *record.Geo) *int64 { return &g.CityID }),
		"Names":     into((*cursor).names, func(g *record.Geo) *map[string]string { return &g.CityNames }),
	}, same),
	"Location": below(members[record.Geo]{
		"Latitude":  into((*cursor).float, func(g *record.Geo) *float64 { return &g.Latitude }),
		"Longitude": into((*cursor).float, func(g *record.Geo) *float64 { return &g.Longitude }),
		"TimeZone":  into((*cursor).text, func(g *record.Geo) *string { return &g.TimeZone }),
	}, same),
}

// same is the place for members that are nested maps in msgpack and plain fields here.
func same[T any](t *T) *T { return t }

var networkMembers = members[record.Network]{
	"OpenConnections":  into((*cursor).number, func(n *record.Network) *int64 { return &n.Open }),
	"ClosedConnection": into((*cursor).number, func(n *record.Network) *int64 { return &n.Closed }),
	"BytesIn":          into((*cursor).number, func(n *record.Network) *int64 { return &n.In }),
	"BytesOut":         into((*cursor).number, func(n *record.Network) *int64 { return &n.Out }),
}

var graphMembers = members[record.GraphQL]{
	"Variables":     into((*cursor).text, func(g *record.GraphQL) *string { return &g.Variables }),
	"RootFields":    into((*cursor).list, func(g *record.GraphQL) *[]string { return &g.RootFields }),
	"Types":         into((*cursor).types, func(g *record.GraphQL) *[]record.Type { return &g.Types }),
	"OperationType": func(c *cursor, g *record.GraphQL) { g.Operation = record.Operation(c.number()) },
	"HasErrors":     into((*cursor).flag, func(g *record.GraphQL) *bool { return &g.HasErrors }),
	"IsGraphQL":     into((*cursor).flag, func(g *record.GraphQL) *bool { return &g.Is }),
	"Errors": func(c *cursor, g *record.GraphQL) {
		c.each(func() {
			var message string
			walk(c, &message, errorMembers)
			g.Errors = append(g.Errors, message)
		})
	},
}

var errorMembers = members[string]{"Message": into((*cursor).text, same[string])}

var mcpMembers = members[record.MCP]{
	"IsMCP":         into((*cursor).flag, func(m *record.MCP) *bool { return &m.Is }),
	"JSONRPCMethod": into((*cursor).text, func(m *record.MCP) *string { return &m.Method }),
	"PrimitiveType": into((*cursor).text, func(m *record.MCP) *string { return &m.PrimitiveType }),
	"PrimitiveName": into((*cursor).text, func(m *record.MCP) *string { return &m.PrimitiveName }),
}

type check = record.Uptime

// uptimeMembers are the members of the result of an uptime check.
var uptimeMembers = members[check]{
	"URL":          into((*cursor).text, func(u *check) *string { return &u.URL }),
	"APIID":        into((*cursor).text, func(u *check) *string { return &u.APIID }),
	"OrgID":        into((*cursor).text, func(u *check) *string { return &u.OrgID }),
	"RequestTime":  into((*cursor).number, func(u *check) *int64 { return &u.RequestTime }),
	"ResponseCode": into((*cursor).number, func(u *check) *int64 { return &u.ResponseCode }),
	"Day":          into((*cursor).number, func(u *check) *int64 { return &u.Day }),
	"Month":        into((*cursor).number, func(u *check) *int64 { return &u.Month }),
	"Year":         into((*cursor).number, func(u *check) *int64 { return &u.Year }),
	"Hour":         into((*cursor).number, func(u *check) *int64 { return &u.Hour }),
	"Minute":       into((*cursor).number, func(u *check) *int64 { return &u.Minute }),
	"TCPError":     into((*cursor).flag, func(u *check) *bool { return &u.TCPError }),
	"ServerError":  into((*cursor).flag, func(u *check) *bool { return &u.ServerError }),
	"TimeStamp":    func(c *cursor, u *check) { u.TimeStamp = c.moment() },
	"ExpireAt":     func(c *cursor, u *check) { u.ExpireAt = c.moment() },
}
