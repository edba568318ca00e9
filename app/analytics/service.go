// Package analytics returns statistics and logs of the traffic that gateways reported,
// as far as the caller may see it (docs/wire/analytics.md).
package analytics

import (
	"context"
	"maps"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/analytics"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Codes of faults.
const (
	CodeForeign = "analytics.foreign"
	CodeKey     = "analytics.key"
	CodeMissing = "analytics.key_not_found"
)

// APIs knows which APIs callers see, and their names.
type APIs interface {
	// Seen reports, by API, whether the caller may see its traffic; all: owners are
	// ignored.
	Seen(ctx context.Context, scope tenant.Scope, who operation.Principal) (seen map[string]bool, all bool, err error)
	// Names returns the names of the APIs with some IDs, as far as they exist.
	Names(ctx context.Context, scope tenant.Scope, ids []string) (map[string]string, error)
	// Credentials returns, by API ID, the names of the headers, cookies and parameters
	// in which APIs expect keys and tokens.
	Credentials(ctx context.Context, scope tenant.Scope, ids []string) (map[string][]string, error)
}

// Service computes the views of traffic.
type Service struct {
	Reader   analytics.Reader // nil: all views are empty
	APIs     APIs
	PageSize int
	// Unmasked shows recorded messages as they are stored, including credentials.
	Unmasked bool
}

// maxAll is how many results one response has at most.
const maxAll = 10_000

// maxTexts and maxText bound the lists in parameters, and their texts.
const (
	maxTexts = 100
	maxText  = 1024
)

type datesIn struct {
	StartDay   string `path:"startDay" doc:"Day of the month of the first day, a plain number."`
	StartMonth string `path:"startMonth" doc:"Month of the first day, 1 to 12."`
	StartYear  string `path:"startYear" doc:"Year of the first day, four digits."`
	EndDay     string `path:"EndDay" doc:"Day of the month of the last day. The last day is part of the period."`
	EndMonth   string `path:"EndMonth" doc:"Month of the last day."`
	EndYear    string `path:"EndYear" doc:"Year of the last day."`
}

// filters are the parameters of all views.
type filters struct {
	Scope tenant.Scope
	Who   operation.Principal
	operation.Paging
	APIID   string   `query:"api_id" doc:"Only traffic of the API with this API ID."`
	Version string   `query:"api_version" doc:"Only traffic of API versions with this name."`
	Tags    []string `query:"tags" doc:"Only traffic with at least one of these tags. Separate tags by commas, or repeat the parameter; 100 at most."`
	Res     string   `query:"res" oneof:"hour,day,month" doc:"Resolution: a result for each hour, day or month."`
	By      string   `query:"by" doc:"Member to sort by: Hits, Success, Error, Request_Time, Latency, Upstream_Latency, Last_Hit, Time or Name."`
	Sort    string   `query:"sort" oneof:"1,-1" doc:"Sort direction. 1: ascending; -1: descending."`
	Type    string   `query:"type" oneof:"json,csv" doc:"csv: the response is a CSV file. Without p it has all results; more than 10,000 are refused with 400."`
	Zone    string   `query:"tz" doc:"Time zone of the days, such as Europe/Berlin. Default: UTC."`
}

// question is a query in the making, with what the caller asked for and may see.
type question struct {
	asked filters
	view.Query
	apis []string // the requested APIs that the caller may see; nil: owners are ignored
	tags []string
	open bool // the caller sees everything, and asked for no API
	csv  bool
	most int // maximum number of results; 0: no bound
}

// begin reads the parameters of all views. A filter on an API that the caller may not
// see is refused.
func (s *Service) begin(ctx context.Context, d datesIn, f filters, res view.Resolution, order view.Order) (q question, err error) {
	q = question{asked: f, csv: f.Type == "csv"}
	if f.Type != "" && f.Type != "csv" && f.Type != "json" {
		return q, wrong("type", "csv or json")
	}
	zone, err := time.LoadLocation(f.Zone) // UTC without a name
	if err != nil || f.Zone == "Local" || len(f.Zone) > 64 {
		return q, wrong("tz", "the name of a time zone such as Europe/Berlin")
	}
	if q.Period, err = (view.Dates{d.StartDay, d.StartMonth, d.StartYear, d.EndDay, d.EndMonth, d.EndYear}).In(zone); err != nil {
		return q, err
	}
	if q.Res, err = view.ParseResolution(f.Res, res); err != nil {
		return q, err
	}
	if q.Order, err = view.ParseOrder(f.By, f.Sort, order); err != nil {
		return q, err
	}
	if q.tags, err = texts("tags", f.Tags); err != nil {
		return q, err
	}
	if _, err = texts("api_id", []string{f.APIID, f.Version}); err != nil {
		return q, err
	}
	err = s.admit(ctx, &q)
	return q, err
}

// admit sets the APIs about which the caller may ask.
func (s *Service) admit(ctx context.Context, q *question) error {
	if q.asked.Scope.Org() == "" { // a super user has no organisation
		return fault.New(fault.Invalid, view.CodeFilter, "analytics belong to an organisation: send the request as one of its users")
	}
	seen, all, err := s.APIs.Seen(ctx, q.asked.Scope, q.asked.Who)
	if err != nil {
		return err
	}
	switch q.open = all && q.asked.APIID == ""; {
	case q.asked.APIID == "" && !all:
		q.apis = slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(id string) bool { return !seen[id] })
		q.apis = append([]string{}, q.apis...)
	case q.asked.APIID == "":
	case all || seen[q.asked.APIID]:
		q.apis = []string{q.asked.APIID}
	default:
		if _, there := seen[q.asked.APIID]; there {
			return fault.New(fault.Denied, CodeForeign, "User does not have access to the API with ID.").At("api_id")
		}
		q.apis = []string{} // an API that does not exist has no traffic, for every caller
	}
	return nil
}

func wrong(name, want string) error {
	return fault.New(fault.Invalid, view.CodeFilter, "query parameter %s must be %s", name, want).At(name)
}

// texts splits lists of values that are separated by commas.
func texts(name string, lists []string) (out []string, err error) {
	for _, list := range lists {
		if len(list) > maxTexts*maxText {
			return nil, wrong(name, "shorter")
		}
		for _, text := range operation.Commas(list) {
			if !readable(text) {
				return nil, wrong(name, "texts without control characters")
			}
			out = append(out, text)
		}
	}
	if len(out) > maxTexts {
		return nil, fault.New(fault.Invalid, view.CodeFilter, "query parameter %s has %d values; the maximum is %d", name, len(out), maxTexts).At(name)
	}
	return out, nil
}

// readable reports whether gateways could report a text.
func readable(text string) bool {
	if text == "" || len(text) > maxText || !utf8.ValidString(text) {
		return false
	}
	for _, c := range text {
		if unicode.IsControl(c) {
			return false
		}
	}
	return true
}

// records makes the query read single calls, which have combinations of values that
// counters do not have. There are many calls, so the period is bounded.
func (q *question) records() error {
	if q.Period.Days() > view.MaxRecordDays {
		return fault.New(fault.Invalid, view.CodePeriod, "with these filters the period has %d days at most, because they are answered from single calls", view.MaxRecordDays).At("EndDay")
	}
	q.Records, q.APIs, q.Tags = true, q.apis, q.tags
	if q.asked.Version != "" {
		q.Versions = []string{q.asked.Version}
	}
	return nil
}

// forgotten refuses a query for single calls of days whose calls were deleted, or never
// stored, although counters have traffic of these days: the result would be incomplete.
func (s *Service) forgotten(ctx context.Context, q question) error {
	oldest, kept, err := s.Reader.Oldest(ctx, q.Query)
	if err != nil || !kept {
		return err
	}
	lost := q.Period
	if !oldest.IsZero() {
		lost = lost.Before(oldest)
	}
	if !lost.From.Before(lost.To) {
		return nil
	}
	counted := view.Query{Table: q.Table, Dimension: view.APIs, Values: q.apis, Period: lost, AtMost: 1}
	_, hits, err := s.Reader.Count(ctx, q.asked.Scope, counted)
	keys := q.Keys
	if q.Dimension == view.Keys {
		keys = append(slices.Clip(keys), q.Values...)
	}
	if err == nil && hits > 0 && len(keys) > 0 { // traffic of other keys does not count
		counted.Dimension, counted.Values = view.Keys, keys
		_, hits, err = s.Reader.Count(ctx, q.asked.Scope, counted)
	}
	switch {
	case err != nil || hits == 0:
		return err
	case oldest.IsZero():
		return fault.New(fault.Invalid, view.CodePeriod, "these filters need records of single calls, and none are stored").At("startDay")
	}
	return fault.New(fault.Invalid, view.CodePeriod, "these filters need records of single calls, which are stored since %s: request that day and later ones",
		q.Period.Date(oldest)).At("startDay")
}

// answer runs the query and makes results of the rows. each completes one result.
func (s *Service) answer(ctx context.Context, q question, each func(view.Row, *view.Unit)) (results, error) {
	out := results{units: []view.Unit{}, pages: 1, csv: q.csv}
	from, to, err := q.asked.Bounds(s.PageSize)
	if err != nil {
		return out, err
	}
	if q.csv && q.asked.P == "" {
		from, to = 0, operation.AllItems
	}
	whole := to == operation.AllItems
	if q.Offset, q.AtMost = from, to-from; whole {
		q.AtMost = maxAll + 1
	}
	if s.Reader == nil {
		return out, nil
	}
	if q.Records {
		if err := s.forgotten(ctx, q); err != nil {
			return out, err
		}
	}
	if q.most > 0 {
		q.AtMost = max(0, min(q.AtMost, q.most-from))
	}
	rows, total, err := s.Reader.Count(ctx, q.asked.Scope, q.Query)
	if err != nil {
		return out, err
	}
	if len(rows) > maxAll {
		return out, fault.New(fault.Invalid, view.CodeMany, "there are more than %d results: request pages, or a shorter period", maxAll).At("p")
	}
	if q.most > 0 {
		total = min(total, q.most)
	}
	if !whole {
		out.pages = max(1, (total+s.PageSize-1)/s.PageSize)
	}
	var ids []string
	for _, r := range rows {
		u := r.Unit()
		each(r, &u)
		out.units, ids = append(out.units, u), append(ids, u.ID.APIID)
	}
	names, err := s.APIs.Names(ctx, q.asked.Scope, ids)
	for i := range out.units {
		if name := names[out.units[i].ID.APIID]; name != "" {
			out.units[i].ID.APIName = name
		}
	}
	return out, err
}
