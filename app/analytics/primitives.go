package analytics

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// primitiveFilters are the filters of calls of the Model Context Protocol.
type primitiveFilters struct {
	Method string `query:"mcp_method" doc:"Only calls of this JSON-RPC method, such as tools/call."`
	Type   string `query:"mcp_primitive_type" oneof:"tool,resource,prompt" doc:"Only calls of primitives of this kind."`
	Name   string `query:"mcp_primitive_name" doc:"Only calls of the primitive with this name."`
	Group  string `query:"group_by" oneof:"mcp_primitive" doc:"mcp_primitive: group by primitive and proxy. When absent, results are grouped by time."`
}

type primitivesIn struct {
	viewIn
	primitiveFilters
	Limit string `query:"limit" is:"integer" doc:"Maximum number of results."`
}

type failuresIn struct {
	viewIn
	primitiveFilters
}

// Primitives counts calls of primitives.
func (s *Service) Primitives(ctx context.Context, in primitivesIn) (results, error) {
	limit := 0
	if in.Limit != "" {
		n, err := strconv.Atoi(in.Limit)
		if err != nil || n < 0 {
			return results{}, wrong("limit", "a whole number, at least 0")
		}
		limit = n
	}
	return s.primitives(ctx, in.viewIn, in.primitiveFilters, view.Plain, limit)
}

// Failures counts failed calls of primitives.
func (s *Service) Failures(ctx context.Context, in failuresIn) (results, error) {
	return s.primitives(ctx, in.viewIn, in.primitiveFilters, view.Failed, 0)
}

func (s *Service) primitives(ctx context.Context, in viewIn, f primitiveFilters, form view.Form, limit int) (results, error) {
	q, err := s.primitive(ctx, in, f)
	if err != nil {
		return results{}, err
	}
	q.Form, q.most = form, limit
	return s.answer(ctx, q, named(q))
}

// primitive makes the part of the query that all views of primitives share.
func (s *Service) primitive(ctx context.Context, in viewIn, f primitiveFilters) (question, error) {
	res, order := view.Day, inTime
	if f.Group != "" {
		res, order = view.Whole, mostHits
	}
	q, err := s.begin(ctx, in.datesIn, in.filters, res, order)
	if err != nil {
		return q, err
	}
	if f.Group != "" && f.Group != "mcp_primitive" {
		return q, wrong("group_by", "mcp_primitive")
	}
	if len(q.tags) > 0 || q.asked.Version != "" {
		return q, fault.New(fault.Invalid, view.CodeFilter, "primitives cannot be filtered by tags or versions").At("tags")
	}
	if q.Values, q.Prefix, err = view.PrimitiveValues(f.Method, f.Type, f.Name); err != nil {
		return q, err
	}
	q.Table, q.Dimension, q.APIs = view.MCP, view.Names, q.apis
	q.ByValue, q.ByAPI = f.Group != "", f.Group != ""
	return q, nil
}

// named returns a function that sets the primitive of a result.
func named(q question) func(view.Row, *view.Unit) {
	return func(r view.Row, u *view.Unit) {
		if q.ByValue {
			p := view.PrimitiveOf(r.Value)
			u.ID.Path, u.ID.URL, u.ID.Alias = p.Name, p.Type, p.Method
		} else if u.ID.APIID == "" {
			u.ID.APIID = q.asked.APIID
		}
	}
}

type proxyKeyIn struct {
	Key string `path:"keyId" doc:"Hash of the key as gateways report it."`
	viewIn
	primitiveFilters
}

// KeyPrimitives counts the calls of primitives with one key.
func (s *Service) KeyPrimitives(ctx context.Context, in proxyKeyIn) (results, error) {
	if err := decoded(in.Key); err != nil {
		return results{}, err
	}
	q, err := s.primitive(ctx, in.viewIn, in.primitiveFilters)
	if err != nil {
		return results{}, err
	}
	if in.primitiveFilters == (primitiveFilters{}) {
		q.Dimension, q.Values, q.ByAPI = view.Keys, []string{in.Key}, true
	} else if err := q.records(); err != nil {
		return results{}, err
	}
	q.Keys = []string{in.Key}
	if s.Reader != nil { // without calls that the caller may see, the key does not exist for it
		all := q.Period
		all.From = all.To.Add(-view.MaxDays * 24 * time.Hour)
		_, total, err := s.Reader.Count(ctx, q.asked.Scope, view.Query{Table: view.MCP, Dimension: view.Keys, Values: []string{in.Key}, APIs: slices.Clip(q.apis), Period: all, AtMost: 1})
		if err == nil && total == 0 {
			err = fault.New(fault.NotFound, CodeMissing, "Key not found").At("keyId")
		}
		if err != nil {
			return results{}, err
		}
	}
	finish := named(q)
	return s.answer(ctx, q, func(r view.Row, u *view.Unit) {
		finish(r, u)
		u.ID.Key = in.Key
	})
}
