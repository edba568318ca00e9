package records

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gatehouse-io/gatehouse/core/analytics/record"
)

// field is the value of a field of a message: bytes, or a number.
type field struct {
	bytes  []byte
	number uint64
}

// places are the destinations of a message's fields, by number; nil: unknown.
type places []any

// read decodes a message into these places. Fields of an unexpected type are ignored.
func (ps places) read(message []byte) error {
	for len(message) > 0 {
		num, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var f field
		switch typ {
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			f.number, n = protowire.ConsumeVarint(message)
		case protowire.Fixed64Type:
			f.number, n = protowire.ConsumeFixed64(message)
		default:
			n = protowire.ConsumeFieldValue(num, typ, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if num < 1 || int(num) >= len(ps) || ps[num] == nil {
			continue
		}
		if err := set(ps[num], typ, f); err != nil {
			return err
		}
	}
	return nil
}

// set stores a field in a place of its type.
func set(place any, typ protowire.Type, f field) error {
	switch p := place.(type) {
	case *string:
		if typ == protowire.BytesType {
			*p = string(f.bytes)
		}
	case *int64:
		if typ == protowire.VarintType {
			*p = int64(f.number)
		}
	case *bool:
		*p = f.number != 0
	case *float64:
		if typ == protowire.Fixed64Type {
			*p = math.Float64frombits(f.number)
		}
	case *[]string:
		if typ == protowire.BytesType && len(*p) < record.MaxList {
			*p = append(*p, string(f.bytes))
		}
	case *time.Time: // a google.protobuf.Timestamp
		if typ == protowire.BytesType {
			var seconds, nanos int64
			if err := (places{nil, &seconds, &nanos}).read(f.bytes); err != nil {
				return err
			}
			*p = time.Unix(seconds, nanos)
		}
	case func([]byte) error:
		if typ == protowire.BytesType {
			return p(f.bytes)
		}
	}
	return nil
}

// readMessage decodes a record in protobuf. The message has no latency of the gateway
// itself, which is computed as the rest.
func readMessage(entry []byte, r *record.Record) error {
	city := func(message []byte) error { // an entry of a map of strings
		var name, val string
		err := (places{nil, &name, &val}).read(message)
		if r.Geo.CityNames == nil {
			r.Geo.CityNames = map[string]string{}
		}
		if len(r.Geo.CityNames) < record.MaxList {
			r.Geo.CityNames[name] = val
		}
		return err
	}
	geo := places{
		nil,
		places{nil, &r.Geo.Country}.read,
		places{nil, city, &r.Geo.CityID}.read,
		places{nil, &r.Geo.Latitude, &r.Geo.Longitude, &r.Geo.TimeZone}.read,
	}
	g := &r.GraphQL
	typ := func(message []byte) error { // an entry of a map from types to their fields
		var t record.Type
		err := places{nil, &t.Name, places{nil, &t.Fields}.read}.read(message)
		if len(g.Types) < record.MaxList {
			g.Types = append(g.Types, t)
		}
		return err
	}
	graph := places{nil, &g.Is, typ, (*int64)(&g.Operation), &g.Variables, &g.RootFields, &g.HasErrors, &g.Errors}
	err := places{
		nil, &r.Host, &r.Method, &r.Path, &r.RawPath, &r.ContentLength, &r.UserAgent, &r.Day, &r.Month, &r.Year, &r.Hour, &r.ResponseCode, &r.APIKey,
		&r.TimeStamp, &r.APIVersion, &r.APIName, &r.APIID, &r.OrgID, &r.RequestTime, places{nil, &r.Latency.Total, &r.Latency.Upstream}.read,
		&r.RawRequest, &r.RawResponse, &r.IPAddress, geo.read, places{nil, &r.Network.Open, &r.Network.Closed, &r.Network.In, &r.Network.Out}.read,
		&r.Tags, &r.Alias, &r.TrackPath, &r.ExpireAt, &r.OauthID, nil, &r.APISchema, graph.read,
		places{nil, &r.MCP.Is, &r.MCP.Method, &r.MCP.PrimitiveType, &r.MCP.PrimitiveName}.read, &r.OriginalPath, &r.ListenPath,
	}.read(entry)
	r.Latency.Gateway = r.Latency.Total - r.Latency.Upstream
	return err
}
