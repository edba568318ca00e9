// Package record holds what gateways report: a record of each request, and a result of each
// uptime check (docs/wire/records.md#records).
package record

import (
	"fmt"
	"time"
)

// Record is what a gateway reports of one request.
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

// Connections is the response code of records that tell of the connections of a TCP
// service, and of no request.
const Connections = -1

// Latency says how long a request took, in milliseconds.
type Latency struct{ Total, Upstream, Gateway int64 }

// Geo says where a client is.
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

// GraphQL tells of a GraphQL request.
type GraphQL struct {
	Variables  string
	RootFields []string
	Types      []Type
	Errors     []string
	Operation  Operation
	HasErrors  bool
	Is         bool
}

// Type is a GraphQL type with those of its fields that a request has asked for.
type Type struct {
	Name   string
	Fields []string
}

// Operation is the type of a GraphQL operation.
type Operation int64

// operations are named as the tables have them.
var operations = [...]string{"Unknown", "Query", "Mutation", "Subscription"}

// String returns the name that the tables have.
func (o Operation) String() string {
	if o < 0 || int(o) >= len(operations) {
		return operations[0]
	}
	return operations[o]
}

// MCP tells of a call of the Model Context Protocol.
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

// Records whose time lies further away are taken for broken: tables are cut by day, and
// each day that a record names costs a table.
const (
	maxAge   = 10 * 366 * 24 * time.Hour
	maxAhead = 48 * time.Hour
)

// Plausible returns an error if a record cannot have been made at this time.
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
