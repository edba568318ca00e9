package analytics

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/analytics/record"
	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

var exampleCall = view.Call{
	Method: "GET", Host: "orders.internal:8080", Path: "/items/{id}", RawPath: "/items/42", UserAgent: "curl/8.5.0", Day: 31, Month: 1, Year: 2026, Hour: 23, ResponseCode: 200,
	APIKey: "b061d27bfd125233", TimeStamp: "2026-01-31T23:58:02.25Z", APIVersion: "Non Versioned", APIName: "Orders", APIID: "orders", OrgID: "5f1a0c5d8e3b2a1f00000001",
	RequestTime: 25, Latency: view.Latency{Total: 25, Upstream: 21}, IPAddress: "192.0.2.7", Tags: []string{"gold", "key-b061d27bfd125233"},
}

// Bounds of one response: each call may have a request and a response of megabytes.
const (
	maxCalls    = 1000
	maxMessages = 32 << 20 // bytes of recorded messages, in base64
)

type logsIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	operation.Paging
	Start  string `query:"start" required:"true" doc:"Start of the period, in Unix seconds."`
	End    string `query:"end" required:"true" doc:"End of the period, in Unix seconds."`
	Key    string `query:"key" doc:"Only calls with this key; the value is its hash."`
	API    string `query:"api" doc:"Only calls of the API with this API ID."`
	Errors string `query:"errors" doc:"true: only failed calls."`
	Type   string `query:"type" doc:"csv: the response is a CSV file. Without p it has all calls, 1,000 at most."`
}

// Logs lists single calls.
func (s *Service) Logs(ctx context.Context, in logsIn) (calls, error) {
	out := calls{list: []view.Call{}, pages: 1, csv: in.Type == "csv"}
	if out.csv && in.P == "" {
		in.P = "0"
	}
	q, err := s.logged(ctx, in)
	if err != nil {
		return out, err
	}
	from, to, err := in.Bounds(s.PageSize)
	if err != nil {
		return out, err
	}
	whole := to == operation.AllItems
	if q.Offset, q.AtMost = from, to-from; whole {
		q.AtMost = maxCalls + 1
	}
	if !out.csv { // a CSV file has no messages
		q.Messages = maxMessages
	}
	if s.Reader == nil {
		return out, nil
	}
	list, total, err := s.Reader.List(ctx, in.Scope, q)
	if err != nil {
		return out, err
	}
	if len(list) > maxCalls {
		return out, fault.New(fault.Invalid, view.CodeMany, "there are more than %d calls: request pages, or a shorter period", maxCalls).At("p")
	}
	if !whole {
		out.pages = max(1, (total+s.PageSize-1)/s.PageSize)
	}
	out.list = append(out.list, list...)
	return out, s.mask(ctx, in.Scope, out.list)
}

// mask masks the credentials in recorded messages. Stored messages may be unredacted,
// as a gateway reported them, and other programs store some as well.
func (s *Service) mask(ctx context.Context, scope tenant.Scope, list []view.Call) error {
	if s.Unmasked {
		return nil
	}
	var ids []string
	for _, c := range list {
		if c.RawRequest != "" {
			ids = append(ids, c.APIID)
		}
	}
	names, err := s.APIs.Credentials(ctx, scope, ids)
	if err != nil {
		return err
	}
	for i := range list {
		c := &list[i]
		c.RawRequest = record.Hide(c.RawRequest, c.APIKey, names[c.APIID], true)
		c.RawResponse = record.Hide(c.RawResponse, c.APIKey, names[c.APIID], true)
	}
	return nil
}

// logged makes the query for a list of calls.
func (s *Service) logged(ctx context.Context, in logsIn) (q view.CallQuery, err error) {
	if q.Period, err = view.Span(in.Start, in.End); err != nil {
		return q, err
	}
	if in.Key != "" {
		if err := decoded(in.Key); err != nil {
			return q, err
		}
		q.Keys = []string{in.Key}
	}
	switch in.Errors {
	case "", "0", "false":
	case "1", "true":
		q.FailedOnly = true
	default:
		return q, wrong("errors", "true or false")
	}
	if _, err := texts("api", []string{in.API}); err != nil {
		return q, err
	}
	if !slices.Contains([]string{"", "json", "csv"}, in.Type) {
		return q, wrong("type", "csv or json")
	}
	admitted := question{asked: filters{Scope: in.Scope, Who: in.Who, APIID: in.API}}
	err = s.admit(ctx, &admitted)
	q.APIs = admitted.apis
	return q, err
}

// calls is the response to a list of calls.
type calls struct {
	list  []view.Call
	pages int
	csv   bool
}

// callPage is the JSON form of a page.
type callPage struct {
	Data  []view.Call `json:"data"`
	Pages int         `json:"pages" doc:"Number of pages."`
}

// Like returns a value with the form of the response.
func (calls) Like() any { return callPage{} }

// MediaTypes implements operation.Varied.
func (calls) MediaTypes() []string { return []string{"application/json", "text/csv"} }

// Download implements operation.File.
func (c calls) Download() string {
	if c.csv {
		return "calls.csv"
	}
	return ""
}

// Stream implements operation.Stream.
func (c calls) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	if c.csv {
		return "text/csv", "", [][]byte{view.CallsCSV(c.list)}, nil
	}
	text, _ := json.Marshal(map[string]any{"data": c.list, "pages": c.pages}) // plain values can always be encoded
	return "application/json", "", [][]byte{text, {'\n'}}, nil
}
