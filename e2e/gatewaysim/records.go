package gatewaysim

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/tinylib/msgp/msgp"
	"google.golang.org/protobuf/encoding/protowire"
)

// The lists to which gateways push what they report (docs/wire/records.md#lists).
const (
	RecordList = "analytics-tyk-system-analytics"
	UptimeList = "host-checker:tyk-uptime-analytics"
)

// Record is a gateway's report of one request. Members that tests do not read are
// invented.
type Record struct {
	Time                             time.Time
	Method, Path, RawPath, UserAgent string
	Code, RequestTime, Upstream      int64
	API, APIName, Org, Version       string
	Key, Alias, OAuthClient, Country string
	Tags                             []string
	Track                            bool
	Request, Response                string // base64 of the messages
	In, Out, Open, Closed            int64
	GraphQL                          bool
	Operation                        int64
	GraphErrors                      bool
	RootFields                       []string
	Types                            map[string][]string
	MCPMethod, MCPPrimitive, MCPName string // MCP when there is a method
}

// Msgpack encodes the record as gateways do by default.
func (r Record) Msgpack() []byte {
	at := r.Time
	graph := []any{}
	if r.GraphErrors {
		graph = append(graph, map[string]any{"Message": "no such field", "Path": nil})
	}
	members := []any{
		"Method", r.Method, "Host", "127.0.0.1:9090", "Path", r.Path, "RawPath", r.RawPath, "ContentLength", int64(7), "UserAgent", r.UserAgent,
		"Day", at.Day(), "Month", int(at.Month()), "Year", at.Year(), "Hour", at.Hour(), "ResponseCode", r.Code, "APIKey", r.Key,
		"TimeStamp", moment(at), "APIVersion", r.Version, "APIName", r.APIName, "APIID", r.API, "OrgID", r.Org, "OauthID", r.OAuthClient,
		"RequestTime", r.RequestTime, "RawRequest", r.Request, "RawResponse", r.Response, "IPAddress", "192.0.2.7",
		"Geo", map[string]any{
			"Country": map[string]any{"ISOCode": r.Country}, "City": map[string]any{"GeoNameID": uint(0), "Names": nil},
			"Location": map[string]any{"Latitude": 0.0, "Longitude": 0.0, "TimeZone": ""},
		},
		"Network", map[string]any{"OpenConnections": r.Open, "ClosedConnection": r.Closed, "BytesIn": r.In, "BytesOut": r.Out},
		"Latency", map[string]any{"Total": r.RequestTime, "Upstream": r.Upstream, "Gateway": r.RequestTime - r.Upstream},
		"Tags", anys(r.Tags), "Alias", r.Alias, "TrackPath", r.Track, "ExpireAt", moment(at.AddDate(100, 0, 0)), "ApiSchema", "",
		"GraphQLStats", map[string]any{
			"Variables": "", "RootFields": anys(r.RootFields), "Types": ofTypes(r.Types), "Errors": graph, "OperationType": r.Operation, "HasErrors": r.GraphErrors, "IsGraphQL": r.GraphQL,
		},
		"MCPStats", map[string]any{"IsMCP": r.MCPMethod != "", "JSONRPCMethod": r.MCPMethod, "PrimitiveType": r.MCPPrimitive, "PrimitiveName": r.MCPName},
		"CollectionName", "", "OriginalPath", r.RawPath, "ListenPath", "/",
	}
	return packed(members)
}

// anys and ofTypes return nil for empty lists, as gateways do.
func anys(list []string) any {
	if list == nil {
		return nil
	}
	return list
}

func ofTypes(types map[string][]string) any {
	if types == nil {
		return nil
	}
	return types
}

// proto builds a protobuf message, which omits zero values.
type proto []byte

func (m proto) text(num protowire.Number, s string) proto {
	if s == "" {
		return m
	}
	return protowire.AppendString(protowire.AppendTag(m, num, protowire.BytesType), s)
}

func (m proto) number(num protowire.Number, n int64) proto {
	if n == 0 {
		return m
	}
	return protowire.AppendVarint(protowire.AppendTag(m, num, protowire.VarintType), uint64(n))
}

func (m proto) flag(num protowire.Number, b bool) proto {
	if !b {
		return m
	}
	return m.number(num, 1)
}

func (m proto) in(num protowire.Number, inner proto) proto {
	return protowire.AppendBytes(protowire.AppendTag(m, num, protowire.BytesType), inner)
}

func (m proto) at(num protowire.Number, t time.Time) proto {
	return m.in(num, proto(nil).number(1, t.Unix()).number(2, int64(t.Nanosecond())))
}

func (m proto) list(num protowire.Number, list []string) proto {
	for _, s := range list {
		m = protowire.AppendString(protowire.AppendTag(m, num, protowire.BytesType), s)
	}
	return m
}

// Protobuf encodes the record as gateways do when they are configured so.
func (r Record) Protobuf() []byte {
	graph := proto(nil).flag(1, r.GraphQL)
	names := make([]string, 0, len(r.Types))
	for name := range r.Types {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		graph = graph.in(2, proto(nil).text(1, name).in(2, proto(nil).list(1, r.Types[name])))
	}
	graph = graph.number(3, r.Operation).list(5, r.RootFields).flag(6, r.GraphErrors)
	if r.GraphErrors {
		graph = graph.list(7, []string{"no such field"})
	}
	m := proto(nil).text(1, "127.0.0.1:9090").text(2, r.Method).text(3, r.Path).text(4, r.RawPath).number(5, 7).text(6, r.UserAgent).
		number(7, int64(r.Time.Day())).number(8, int64(r.Time.Month())).number(9, int64(r.Time.Year())).number(10, int64(r.Time.Hour())).
		number(11, r.Code).text(12, r.Key).at(13, r.Time).text(14, r.Version).text(15, r.APIName).text(16, r.API).text(17, r.Org).number(18, r.RequestTime).
		in(19, proto(nil).number(1, r.RequestTime).number(2, r.Upstream)).text(20, r.Request).text(21, r.Response).text(22, "192.0.2.7").
		in(23, proto(nil).in(1, proto(nil).text(1, r.Country))).
		in(24, proto(nil).number(1, r.Open).number(2, r.Closed).number(3, r.In).number(4, r.Out)).
		list(25, r.Tags).text(26, r.Alias).flag(27, r.Track).at(28, r.Time.AddDate(100, 0, 0)).text(29, r.OAuthClient).text(30, "UTC").
		in(32, graph).in(33, proto(nil).flag(1, r.MCPMethod != "").text(2, r.MCPMethod).text(3, r.MCPPrimitive).text(4, r.MCPName)).
		text(34, r.RawPath).text(35, "/")
	return m
}

// reporting pushes a record of each request to an API, if the gateway is configured so.
func (g *Gateway) reporting(serve http.HandlerFunc) http.HandlerFunc {
	if !g.cfg.Records {
		return serve
	}
	return func(w http.ResponseWriter, r *http.Request) {
		a, began, answer := g.view().apis.route(r.URL.Path), time.Now(), &answered{ResponseWriter: w, status: http.StatusOK}
		serve(answer, r)
		if a == nil || a.DoNotTrack {
			return
		}
		rec := Record{
			Time: time.Now(), Method: r.Method, Path: under(a.listenPath, r.URL.Path), RawPath: r.URL.Path, UserAgent: r.UserAgent(), Code: int64(answer.status),
			RequestTime: time.Since(began).Milliseconds(), API: a.APIID, APIName: a.Name, Org: a.OrgID, Version: "Non Versioned", Key: "00000000",
		}
		if kept, _, ok := g.view().stored(a.OrgID, trimBearer(r.Header.Get(a.tokenHeader()))); ok {
			rec.Key = kept // docs/wire/records.md#records
		}
		rec.Tags = []string{"key-" + rec.Key, "org-" + a.OrgID, "api-" + a.APIID}
		client := redis.NewClient(&redis.Options{Addr: g.cfg.Redis.Addr, Username: g.cfg.Redis.Username, Password: g.cfg.Redis.Password, DB: g.cfg.Redis.DB})
		defer client.Close()
		_ = client.RPush(context.WithoutCancel(r.Context()), RecordList, rec.Msgpack()).Err() // a gateway drops records that it cannot push
	}
}

// answered records the status of an answer.
type answered struct {
	http.ResponseWriter
	status int
}

func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Check is a gateway's report of one uptime check.
type Check struct {
	Time              time.Time
	URL, API, Org     string
	Code, RequestTime int64
}

// Msgpack encodes the check.
func (c Check) Msgpack() []byte {
	members := []any{
		"URL", c.URL, "RequestTime", c.RequestTime, "ResponseCode", c.Code, "TCPError", c.Code == 521, "ServerError", c.Code > 200 && c.Code != 521,
		"Day", c.Time.Day(), "Month", int(c.Time.Month()), "Year", c.Time.Year(), "Hour", c.Time.Hour(), "Minute", c.Time.Minute(),
		"TimeStamp", moment(c.Time), "ExpireAt", moment(c.Time.AddDate(0, 0, 1)), "APIID", c.API, "OrgID", c.Org,
	}
	return packed(members)
}

// packed encodes a map of members.
func packed(members []any) []byte {
	out := msgp.AppendMapHeader(nil, uint32(len(members)/2))
	for _, m := range members {
		var err error
		if out, err = msgp.AppendIntf(out, m); err != nil {
			panic(err) // all values have types that the format supports
		}
	}
	return out
}

func moment(t time.Time) []any { return []any{t.Unix(), t.Nanosecond()} }
