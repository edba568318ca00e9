package analytics

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// PerEndpoint counts the traffic of each tracked endpoint.
func (s *Service) PerEndpoint(ctx context.Context, in viewIn) (results, error) {
	q, err := s.begin(ctx, in.datesIn, in.filters, view.Whole, mostHits)
	if err != nil {
		return results{}, err
	}
	q.Dimension, q.ByValue = view.Endpoints, true
	endpoint := view.EndpointOf
	switch {
	case len(q.tags) > 0 || q.open && q.asked.Version != "":
		endpoint, err = view.EndpointIn, q.records()
	case !q.open:
		q.Among = view.EndpointCuts(q.apis, q.asked.Version)
	}
	if err != nil {
		return results{}, err
	}
	return s.answer(ctx, q, func(r view.Row, u *view.Unit) {
		e := endpoint(r.Value)
		u.ID.APIID, u.ID.Path, u.ID.Alias = e.API, e.Path, e.Version
	})
}

type keyIn struct {
	Key string `path:"keyHash" doc:"Hash of the key as gateways report it."`
	viewIn
}

// OfKey counts the traffic of one key, split by endpoint.
func (s *Service) OfKey(ctx context.Context, in keyIn) (results, error) {
	return s.whose(ctx, in.viewIn, view.KeyEndpoints, in.Key)
}

type clientIn struct {
	Client string `path:"OAuthClientID" doc:"ID of the OAuth client."`
	viewIn
}

// OfClient counts the traffic of one OAuth client, split by endpoint.
func (s *Service) OfClient(ctx context.Context, in clientIn) (results, error) {
	return s.whose(ctx, in.viewIn, view.OAuthEndpoints, in.Client)
}

// whose counts the traffic of a key or a client, split by endpoint.
func (s *Service) whose(ctx context.Context, in viewIn, dimension, whose string) (results, error) {
	if err := decoded(whose); err != nil {
		return results{}, err
	}
	q, err := s.begin(ctx, in.datesIn, in.filters, view.Whole, mostHits)
	if err != nil {
		return results{}, err
	}
	if len(q.tags) > 0 || q.asked.Version != "" {
		return results{}, fault.New(fault.Invalid, view.CodeFilter, "the traffic of a key or client by endpoint cannot be filtered by tags or versions").At("tags")
	}
	if q.Dimension, q.ByValue, q.Prefix = dimension, true, whose+"."; !q.open {
		q.Among = view.CutsFor(whose, q.apis)
	}
	return s.answer(ctx, q, func(r view.Row, u *view.Unit) {
		e := view.EndpointFor(whose, r.Value)
		u.ID.APIID, u.ID.Path = e.API, e.Path
		if dimension == view.KeyEndpoints {
			u.ID.Key = whose
		}
	})
}

// decoded refuses a text that cannot be a key.
func decoded(key string) error {
	if !readable(key) {
		return fault.New(fault.Invalid, CodeKey, "Key could not be decoded.").At("keyHash")
	}
	return nil
}

type keysIn struct {
	Keys string `path:"keyHashes" doc:"Hashes of keys, separated by commas."`
	viewIn
}

// OfKeys counts the traffic of several keys together over time.
func (s *Service) OfKeys(ctx context.Context, in keysIn) (results, error) {
	keys, err := texts("keyHashes", []string{in.Keys})
	if err != nil || len(keys) == 0 {
		return results{}, decoded("")
	}
	q, err := s.begin(ctx, in.datesIn, in.filters, view.Day, inTime)
	if err != nil {
		return results{}, err
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	q.Dimension, q.Values = view.Keys, keys
	if !q.open || len(q.tags) > 0 || q.asked.Version != "" {
		if err := q.records(); err != nil {
			return results{}, err
		}
	}
	return s.answer(ctx, q, func(_ view.Row, u *view.Unit) { u.ID.APIID = q.asked.APIID })
}

type graphIn struct {
	viewIn
	Group string `query:"group_by" oneof:"operation,types,fields,rootfields" doc:"What to group by. Default: operation."`
}

// PerQuery counts GraphQL calls by operation, type or field.
func (s *Service) PerQuery(ctx context.Context, in graphIn) (results, error) {
	q, err := s.begin(ctx, in.datesIn, in.filters, view.Whole, mostHits)
	if err != nil {
		return results{}, err
	}
	if len(q.tags) > 0 || q.asked.Version != "" {
		return results{}, fault.New(fault.Invalid, view.CodeFilter, "GraphQL calls cannot be filtered by tags or versions").At("tags")
	}
	if in.Group == "" {
		in.Group = "operation"
	}
	if !slices.Contains([]string{"operation", "types", "fields", "rootfields"}, in.Group) {
		return results{}, wrong("group_by", "operation, types, fields or rootfields")
	}
	q.Table, q.Dimension, q.ByValue, q.ByAPI, q.APIs = view.Graph, in.Group, true, true, q.apis
	return s.answer(ctx, q, func(r view.Row, u *view.Unit) { u.ID.Path = r.Value })
}
