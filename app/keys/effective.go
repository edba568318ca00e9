package keys

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/policy"
)

// Effective is what a key may do when its policies are applied.
type Effective struct {
	ID       string            `json:"key_id" doc:"Same as key_id in the response of keys.get."`
	Hash     string            `json:"key_hash"`
	Accepted bool              `json:"accepted" doc:"true: gateways accept the key, and problems is empty."`
	Problems []key.Problem     `json:"problems" doc:"Reasons why gateways refuse the key, each with a remedy."`
	Policies []CarriedPolicy   `json:"policies" doc:"Policies of the key, in its order."`
	Expires  int64             `json:"expires" doc:"Unix seconds; 0 and -1: never."`
	Tags     []string          `json:"tags"`
	Meta     json.RawMessage   `json:"meta_data"`
	Limit    json.RawMessage   `json:"limit" doc:"Rate, quota and depth for APIs without limits of their own."`
	SetBy    map[string]string `json:"set_by" doc:"Policy that sets each part of limit: rate_limit, quota, complexity. If a part is absent, the key sets it itself or has no such limit."`
	APIs     []EffectiveAPI    `json:"apis" doc:"APIs that the key reaches, in order of their identifiers. Empty: the key reaches every API if accepted is true, and none otherwise."`
}

// CarriedPolicy is a policy of a key.
type CarriedPolicy struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	State      string   `json:"state" doc:"active, draft or deny; missing: the policy does not exist."`
	Partitions []string `json:"partitions" doc:"Parts of the key that the policy sets. Empty: all parts."`
}

// EffectiveAPI is what a key may do at one API.
type EffectiveAPI struct {
	ID      string              `json:"api_id"`
	Exists  bool                `json:"exists"`
	Rights  json.RawMessage     `json:"rights" doc:"Access definition of the API, without its limit."`
	Limit   json.RawMessage     `json:"limit" doc:"Rate, quota and depth for this API."`
	Counted string              `json:"counted" doc:"api: requests to this API have their own counters. key: they share the counters of the key with other APIs."`
	SetBy   map[string][]string `json:"set_by" doc:"Policies that set each part: acl, rate_limit, quota, complexity. If a part is absent, the key sets it itself or has no such limit."`
}

// Effective returns what a key may do at each API.
func (s *Service) Effective(ctx context.Context, in named) (Effective, error) {
	k := s.known(in.Who)
	f, err := s.find(ctx, in, k, true)
	if err != nil {
		return Effective{}, err
	}
	if err := s.learn(ctx, in.caller, k, nil, key.Policies(f.Session)); err != nil {
		return Effective{}, err
	}
	carried := key.CarriedBy(f.Session, k.Policies)
	if err := carried.Burden().Refuse(); err != nil {
		return Effective{}, err
	}
	e := key.Explain(f.Session, carried.Applied())
	rights := e.Session.Get("access_rights")
	if err := s.learn(ctx, in.caller, k, rights.Names(), nil); err != nil {
		return Effective{}, err
	}
	shown := view(in.Scope.Org(), f.StoredKey, f.name, false)
	out := Effective{ID: shown.ID, Hash: shown.Hash, Problems: append([]key.Problem{}, e.Problems(carried, s.Now())...), Policies: []CarriedPolicy{},
		Expires: e.Session.Get("expires").Int(), Tags: append([]string{}, e.Session.Get("tags").Texts()...), Meta: object(e.Session.Get("meta_data")),
		Limit: e.LimitOf("").JSON(), SetBy: e.Sources.Session, APIs: []EffectiveAPI{}}
	out.Accepted = len(out.Problems) == 0
	for _, id := range carried.IDs {
		p, known := k.Policies[id]
		out.Policies = append(out.Policies, carriedPolicy(id, p, known))
	}
	for _, id := range slices.Sorted(maps.Keys(e.APIs)) {
		definition := rights.Get(id).Clone()
		definition.Delete("limit")
		a := EffectiveAPI{ID: id, Rights: object(definition), Limit: e.LimitOf(id).JSON(), Counted: "key", SetBy: e.APIs[id]}
		if _, a.Exists = k.APIs()[id]; e.Each[id] {
			a.Counted = "api"
		}
		out.APIs = append(out.APIs, a)
	}
	return out, nil
}

func object(n *doc.Node) json.RawMessage {
	if !n.Is(doc.TypeObject) {
		return json.RawMessage("{}")
	}
	return n.JSON()
}

func carriedPolicy(id string, p policy.Policy, known bool) CarriedPolicy {
	out := CarriedPolicy{ID: id, State: "missing", Partitions: []string{}}
	if !known {
		return out
	}
	out.Name, out.State = p.Name(), string(p.State())
	if n, err := p.Node(); err == nil {
		for name, on := range n.Get("partitions").Members() {
			if on.True() {
				out.Partitions = append(out.Partitions, name)
			}
		}
	}
	return out
}
