package analytics

import (
	"context"
	"strconv"

	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

var (
	inTime   = view.Order{By: view.ByTime}
	mostHits = view.Order{By: view.ByHits, Desc: true}
)

// counted returns tags in the spelling under which they are counted.
func counted(tags []string) []string {
	out := make([]string, len(tags))
	for i, tag := range tags {
		out[i] = aggregate.Tag(tag)
	}
	return out
}

// viewIn is the input of a view without parameters of its own.
type viewIn struct {
	datesIn
	filters
}

// Totals counts all traffic over time.
func (s *Service) Totals(ctx context.Context, in viewIn) (results, error) {
	q, err := s.begin(ctx, in.datesIn, in.filters, view.Day, inTime)
	if err != nil {
		return results{}, err
	}
	switch {
	case len(q.tags) > 0 && q.open && q.asked.Version == "":
		q.Dimension, q.Values = view.Tags, counted(q.tags)
	case len(q.tags) > 0:
		err = q.records()
	case q.asked.Version != "":
		err = q.version()
	case q.open:
		q.Dimension, q.Values = view.Total, []string{"total"}
	default:
		q.Dimension, q.Values = view.APIs, q.apis
	}
	if err != nil {
		return results{}, err
	}
	return s.answer(ctx, q, func(_ view.Row, u *view.Unit) { u.ID.APIID = q.asked.APIID })
}

// version filters by versions with a name: counters have a version of each API, single
// calls a version of any API.
func (q *question) version() error {
	if q.open {
		return q.records()
	}
	q.Dimension, q.Values = view.Versions, []string{}
	for _, api := range q.apis {
		q.Values = append(q.Values, view.VersionValue(api, q.asked.Version))
	}
	return nil
}

type apiIn struct {
	ID string `path:"apiID" doc:"ID of the API."`
	viewIn
}

// OfAPI is PerAPI for one API, over time.
func (s *Service) OfAPI(ctx context.Context, in apiIn) (results, error) {
	if in.APIID != "" && in.APIID != in.ID {
		return results{}, wrong("api_id", "the API of the path, or left out")
	}
	in.APIID = in.ID
	return s.Totals(ctx, in.viewIn)
}

// PerAPI counts the traffic of each API.
func (s *Service) PerAPI(ctx context.Context, in viewIn) (results, error) {
	q, err := s.begin(ctx, in.datesIn, in.filters, view.Whole, mostHits)
	if err != nil {
		return results{}, err
	}
	only := q.asked.APIID
	if len(q.apis) == 1 {
		only = q.apis[0]
	}
	q.ByAPI = true
	switch q.Dimension, q.Values = view.APIs, q.apis; {
	case len(q.tags) > 0:
		q.Values, err = nil, q.records()
	case q.asked.Version != "" && !q.open && len(q.apis) < 2:
		err = q.version()
	case q.asked.Version != "": // counters of versions do not have their APIs
		q.Values, err = nil, q.records()
	}
	if err != nil {
		return results{}, err
	}
	return s.answer(ctx, q, func(r view.Row, u *view.Unit) {
		if u.ID.APIName = r.Name; u.ID.APIID == "" {
			u.ID.APIID = only
		}
	})
}

// PerProxy counts the traffic of each MCP proxy.
func (s *Service) PerProxy(ctx context.Context, in viewIn) (results, error) {
	q, err := s.begin(ctx, in.datesIn, in.filters, view.Whole, mostHits)
	if err != nil {
		return results{}, err
	}
	q.Table, q.ByAPI, q.APIs = view.MCP, true, q.apis
	switch q.Dimension = view.APIs; {
	case len(q.tags) > 0 && q.asked.Version != "":
		return results{}, fault.New(fault.Invalid, view.CodeFilter, "query parameters %s and %s cannot be combined here", "tags", "api_version").At("tags")
	case len(q.tags) > 0:
		q.Dimension, q.Values = view.Tags, counted(q.tags)
	case q.asked.Version != "":
		err = q.version()
	}
	if err != nil {
		return results{}, err
	}
	return s.answer(ctx, q, func(r view.Row, u *view.Unit) {
		if q.Dimension == view.APIs {
			u.ID.APIName = r.Name
		}
	})
}

// PerError counts failed calls by status.
func (s *Service) PerError(ctx context.Context, in viewIn) (results, error) {
	q, err := s.begin(ctx, in.datesIn, in.filters, view.Whole, mostHits)
	if err != nil {
		return results{}, err
	}
	q.ByValue = true
	switch {
	case len(q.tags) > 0 || q.asked.Version != "":
		q.Dimension, err = view.Errors, q.records()
	case q.open:
		q.Dimension = view.Errors
	default:
		q.Dimension, q.Values, q.Form = view.APIs, q.apis, view.Codes
	}
	if err != nil {
		return results{}, err
	}
	return s.answer(ctx, q, func(r view.Row, u *view.Unit) {
		u.ID.Code, _ = strconv.Atoi(r.Value)
		if len(r.Value) == 2 { // all other codes that begin with this digit
			u.ID.Code, u.ID.Path = int(r.Value[0]-'0'), r.Value[:1]+"xx"
		}
		u.ID.APIID = q.asked.APIID
	})
}

// PerCountry counts the traffic from each country.
func (s *Service) PerCountry(ctx context.Context, in viewIn) (results, error) {
	q, err := s.begin(ctx, in.datesIn, in.filters, view.Whole, mostHits)
	if err != nil {
		return results{}, err
	}
	q.Dimension, q.ByValue = view.Geo, true
	if !q.open || len(q.tags) > 0 || q.asked.Version != "" {
		if err := q.records(); err != nil {
			return results{}, err
		}
	}
	return s.answer(ctx, q, func(r view.Row, u *view.Unit) { u.ID.Country, u.ID.APIID = r.Value, q.asked.APIID })
}

// Uptime counts the tests of each upstream. Tests belong to no API, so callers who see
// the traffic of only some APIs see none of them.
func (s *Service) Uptime(ctx context.Context, in viewIn) (results, error) {
	q, err := s.begin(ctx, in.datesIn, in.filters, view.Whole, view.Order{By: view.ByHits, Desc: true})
	if err != nil {
		return results{}, err
	}
	if q.asked.APIID != "" || q.asked.Version != "" || len(q.tags) > 0 {
		return results{}, fault.New(fault.Invalid, view.CodeFilter, "uptime tests of upstreams have no API and no tags to filter by").At("api_id")
	}
	q.Table, q.Dimension, q.ByValue = view.Uptime, view.URLs, true
	if !q.open {
		q.Values = []string{}
	}
	return s.answer(ctx, q, func(r view.Row, u *view.Unit) { u.ID.URL = r.Value })
}
