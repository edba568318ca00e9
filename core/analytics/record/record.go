// Package record holds the reports of gateways: a record of each request, and a result of each
// uptime check (docs/wire/records.md#records).
package record

import (
	"fmt"
	"time"
)

// Record is a gateway's report about one request.
type Record struct {
	Method, Host, Path, RawPath, OriginalPath, ListenPath string
	ContentLength                                         int64
	UserAgent, IPAddress                                  string
	Day, Month, Year, Hour                                int64 // in the zone of the gateway
	TimeStamp, ExpireAt                                   time.Time
	ResponseCode                                          int64 // Connections: numbers of a TCP service
	APIVersion, APIName, APIID, OrgID, OauthID, Alias     string
	APIKey                                                string
	Latency                                               Latency
	RequestTime                                           int64
	RawRequest, RawResponse                               string // base64 of the messages
	Geo                                                   Geo
	Network                                               Network
	Tags                                                  []string
	TrackPath                                             bool
	APISchema                                             string
	GraphQL                                               GraphQL
	MCP                                                   MCP
}

// Connections is the response code of records that report connections of a TCP service instead
// of a request.
const Connections = -1

// Latency is the duration of a request, in milliseconds.
type Latency struct{ Total, Upstream, Gateway int64 }

// Geo is the location of a client.
type Geo struct {
	Country   string // ISO code
	CityID    int64
	CityNames map[string]string // by language
	Latitude  float64
	Longitude float64
	TimeZone  string
}

// Network counts connections and bytes of a TCP service.
type Network struct{ Open, Closed, In, Out int64 }

// GraphQL is the data of a GraphQL request.
type GraphQL struct {
	Variables  string
	RootFields []string
	Types      []Type
	Errors     []string
	Operation  Operation
	HasErrors  bool
	Is         bool
}

// Type is a GraphQL type with the fields that a request selects.
type Type struct {
	Name   string
	Fields []string
}

// Operation is the type of a GraphQL operation.
type Operation int64

// operations are the names of operations in the tables.
var operations = [...]string{"Unknown", "Query", "Mutation", "Subscription"}

// String returns the name of the operation in the tables.
func (o Operation) String() string {
	if o < 0 || int(o) >= len(operations) {
		return operations[0]
	}
	return operations[o]
}

// MCP is the data of a Model Context Protocol call.
type MCP struct {
	Is                           bool
	Method                       string
	PrimitiveType, PrimitiveName string
}

// Uptime is the result of one uptime check.
type Uptime struct {
	URL                            string
	RequestTime, ResponseCode      int64
	TCPError, ServerError          bool
	Day, Month, Year, Hour, Minute int64
	TimeStamp, ExpireAt            time.Time
	APIID, OrgID                   string
}

// Records with a time outside these limits count as broken: tables are partitioned by day, and
// each new day in a record costs a table.
const (
	maxAge   = 10 * 366 * 24 * time.Hour
	maxAhead = 48 * time.Hour
)

// Plausible returns an error if a record cannot have this time.
func Plausible(at, now time.Time) error {
	switch {
	case at.Before(now.Add(-maxAge)):
		return fmt.Errorf("its time, %s, is more than ten years ago", stamp(at))
	case at.After(now.Add(maxAhead)):
		return fmt.Errorf("its time, %s, is more than two days ahead; set the clock of the gateway", stamp(at))
	}
	return nil
}

func stamp(at time.Time) string {
	if at.Year() < 0 || at.Year() > 9999 {
		return fmt.Sprintf("second %d", at.Unix())
	}
	return at.UTC().Format(time.RFC3339)
}
