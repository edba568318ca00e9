package view

import "strings"

// CallQuery is a query for records of calls, the newest first.
type CallQuery struct {
	Period         Period
	Keys, APIs     []string // nil: all; empty: none
	FailedOnly     bool
	Offset, AtMost int
	// Messages is how many bytes the recorded messages may take in the whole response. From the
	// first call with messages that do not fit, calls come without messages.
	Messages int
}

// Call is the record of a call, with the member names that existing pumps use.
type Call struct {
	Method        string   `json:"method"`
	Host          string   `json:"host"`
	Path          string   `json:"path"`
	RawPath       string   `json:"raw_path"`
	ContentLength int64    `json:"content_length"`
	UserAgent     string   `json:"user_agent"`
	Day           int64    `json:"day"`
	Month         int64    `json:"month"`
	Year          int64    `json:"year"`
	Hour          int64    `json:"hour"`
	ResponseCode  int64    `json:"response_code"`
	APIKey        string   `json:"api_key"`
	TimeStamp     string   `json:"timestamp"` // RFC 3339
	APIVersion    string   `json:"api_version"`
	APIName       string   `json:"api_name"`
	APIID         string   `json:"api_id"`
	OrgID         string   `json:"org_id"`
	OAuthID       string   `json:"oauth_id"`
	RequestTime   int64    `json:"request_time"`
	Latency       Latency  `json:"latency"`
	RawRequest    string   `json:"raw_request"`
	RawResponse   string   `json:"raw_response"`
	IPAddress     string   `json:"ip_address"`
	Country       string   `json:"iso_country"`
	Tags          []string `json:"tags"`
	Alias         string   `json:"alias"`
	TrackPath     bool     `json:"track_path"`
	// LeftOut says that the messages did not fit into the response.
	LeftOut bool `json:"messages_left_out,omitempty" doc:"true: the recorded messages did not fit into the response. Request fewer calls to get them."`
}

// Latency is how long a call took, in milliseconds.
type Latency struct {
	Total    int64 `json:"total"`
	Upstream int64 `json:"upstream"`
}

var callColumns = []string{"timestamp", "method", "host", "path", "raw_path", "response_code", "request_time", "latency", "upstream_latency", "api_id", "api_name", "api_version",
	"api_key", "oauth_id", "alias", "ip_address", "iso_country", "user_agent", "content_length", "tags"}

// CallsCSV encodes calls as CSV. Recorded messages are left out, because they do not suit a
// cell.
func CallsCSV(calls []Call) []byte {
	return table(callColumns, calls, func(c Call) []string {
		return []string{
			c.TimeStamp, Cell(c.Method), Cell(c.Host), Cell(c.Path), Cell(c.RawPath), whole(c.ResponseCode), whole(c.RequestTime), whole(c.Latency.Total), whole(c.Latency.Upstream),
			Cell(c.APIID), Cell(c.APIName), Cell(c.APIVersion), Cell(c.APIKey), Cell(c.OAuthID), Cell(c.Alias), Cell(c.IPAddress), Cell(c.Country), Cell(c.UserAgent), whole(c.ContentLength),
			Cell(strings.Join(c.Tags, " ")),
		}
	})
}
