package record

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxList is the number of entries that a record keeps of a list: tags, types, fields, errors.
const MaxList = 256

// Limits of one record. Clients choose paths, headers, versions and queries.
const (
	maxShort   = 8 << 10      // bytes of a text that is not a message
	maxMillis  = 1e9          // eleven days
	maxTraffic = 1e14         // bytes, or connections, of one record
	maxStamp   = 253402300799 // the last second of the year 9999
)

// Clean prepares a record for storage, because clients choose many of its values: it removes
// NUL and invalid UTF-8, limits numbers so that sums do not overflow, and limits the length of
// texts and lists.
func (r *Record) Clean() {
	clean(maxShort, &r.Method, &r.Host, &r.Path, &r.RawPath, &r.OriginalPath, &r.ListenPath, &r.UserAgent, &r.IPAddress, &r.APIVersion, &r.APIName, &r.APIID,
		&r.OrgID, &r.OauthID, &r.Alias, &r.APIKey, &r.Geo.Country, &r.Geo.TimeZone, &r.GraphQL.Variables, &r.MCP.Method, &r.MCP.PrimitiveType, &r.MCP.PrimitiveName)
	clean(0, &r.RawRequest, &r.RawResponse, &r.APISchema)
	r.Tags, r.GraphQL.RootFields, r.GraphQL.Errors = cleanList(r.Tags), cleanList(r.GraphQL.RootFields), cleanList(r.GraphQL.Errors)
	r.GraphQL.Types = r.GraphQL.Types[:min(len(r.GraphQL.Types), MaxList)]
	for i := range r.GraphQL.Types {
		t := &r.GraphQL.Types[i]
		clean(maxShort, &t.Name)
		t.Fields = cleanList(t.Fields)
	}
	r.Geo.CityNames = cleanMap(r.Geo.CityNames)
	r.Geo.Latitude, r.Geo.Longitude = finite(r.Geo.Latitude), finite(r.Geo.Longitude)
	limit(0, maxMillis, &r.RequestTime, &r.Latency.Total, &r.Latency.Upstream, &r.Latency.Gateway)
	limit(0, maxTraffic, &r.Network.Open, &r.Network.Closed, &r.Network.In, &r.Network.Out)
	r.ExpireAt = before(r.ExpireAt)
}

// Clean prepares the result of an uptime check for storage.
func (u *Uptime) Clean() {
	clean(maxShort, &u.URL, &u.APIID, &u.OrgID)
	limit(0, maxMillis, &u.RequestTime)
	u.ExpireAt = before(u.ExpireAt)
}

// clean shortens each text to at most most bytes; 0: no limit.
func clean(most int, texts ...*string) {
	for _, s := range texts {
		*s = Text(*s, most)
	}
}

// Text returns a text that databases accept: without NUL, valid UTF-8, at most most bytes
// long; 0: no limit.
func Text(s string, most int) string {
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		s = strings.ReplaceAll(strings.ToValidUTF8(s, string(utf8.RuneError)), "\x00", "")
	}
	if most == 0 || len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

func cleanList(list []string) []string {
	list = list[:min(len(list), MaxList)]
	for i := range list {
		clean(maxShort, &list[i])
	}
	return list
}

func cleanMap(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, min(len(m), MaxList))
	for name, val := range m {
		if len(out) == MaxList {
			break
		}
		out[Text(name, maxShort)] = Text(val, maxShort)
	}
	return out
}

func limit(low, high int64, numbers ...*int64) {
	for _, n := range numbers {
		*n = max(low, min(*n, high))
	}
}

// before moves a time into the range that databases can store.
func before(at time.Time) time.Time {
	return time.Unix(max(0, min(at.Unix(), maxStamp)), int64(at.Nanosecond()))
}

func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}
