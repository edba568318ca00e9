package view

// CallQuery is a question about records of calls, the newest first.
type CallQuery struct {
	Period         Period
	Keys, APIs     []string // nil: all; empty: none
	FailedOnly     bool
	Offset, AtMost int
}

// Call is the record of a call, under the names that the pump of the field gives its members.
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
}

// Latency is how long a call took, in milliseconds.
type Latency struct {
	Total    int64 `json:"total"`
	Upstream int64 `json:"upstream"`
}
