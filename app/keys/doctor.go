package keys

import (
	"context"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// mostRead is how many keys one request reads: each takes a call of a gateway.
const mostRead = 1000

// stretch is the query parameter that says where a request that reads keys begins.
type stretch struct {
	After string `query:"after" doc:"Continues a list: the value of next in the previous response."`
}

// looked is the part of a response that says how far the request got. At counts only keys that
// the caller may see: a larger number would tell how many others there are.
type looked struct {
	At   int    `json:"looked_at" doc:"Number of examined keys that the caller may see. At most 1000 keys are examined."`
	Next string `json:"next" doc:"Value of after for the next request. Empty: all keys have been examined."`
}

// look reads the next keys of an organisation that the caller sees, sorted by their
// subject in intents. The position is part of URLs, which are logged, so it must not be
// the hash: where gateways do not hash, the hash is the key.
func (s *Service) look(ctx context.Context, w caller, k sight, from stretch) (seen []gateway.StoredKey, how looked, err error) {
	if s.Hashed && !s.ListHashes {
		return nil, how, missing
	}
	hashes, err := s.Gateways.Keys(ctx, w.Scope.Org(), "")
	if err != nil {
		return nil, how, answered(err)
	}
	places := make(map[string]string, len(hashes))
	var left []string
	for _, h := range hashes {
		if at := s.subject(h); at > from.After {
			places[h] = at
			left = append(left, h)
		}
	}
	slices.SortFunc(left, func(a, b string) int { return strings.Compare(places[a], places[b]) })
	if len(left) > mostRead {
		left, how.Next = left[:mostRead], places[left[mostRead-1]]
	}
	all, err := s.sessions(ctx, w, left)
	if err != nil {
		return nil, how, err
	}
	for _, stored := range all {
		switch ok, err := s.sees(ctx, w, k, stored); {
		case err != nil:
			return nil, how, err
		case ok:
			seen = append(seen, stored)
		}
	}
	how.At = len(seen)
	return seen, how, nil
}

// KeyName is a key in lists that show no sessions.
type KeyName struct {
	Hash  string `json:"key_hash"`
	Alias string `json:"alias"`
}

func nameOf(k gateway.StoredKey) KeyName {
	return KeyName{Hash: k.Hash, Alias: k.Session.Get("alias").Text()}
}

type carriersIn struct {
	caller
	operation.Paging
	stretch
	ID string `path:"id" doc:"The id or the _id of the policy."`
}

// Carriers are the keys that carry a policy.
type Carriers struct {
	Count int       `json:"count" doc:"Number of examined keys that have the policy."`
	Keys  []KeyName `json:"keys"`
	Pages int       `json:"pages"`
	looked
}

// Carriers returns the keys that carry a policy.
func (s *Service) Carriers(ctx context.Context, in carriersIn) (out Carriers, err error) {
	p, err := s.Policies.Find(ctx, in.Scope, in.Who, in.ID)
	if err != nil {
		return out, err
	}
	seen, how, err := s.look(ctx, in.caller, s.known(in.Who), in.stretch)
	if err != nil {
		return out, err
	}
	all := []KeyName{}
	for _, k := range seen {
		if slices.Contains(key.Policies(k.Session), p.PolicyID()) {
			all = append(all, nameOf(k))
		}
	}
	page, err := operation.Slice(all, in.Paging, s.PageSize)
	return Carriers{Count: len(all), Keys: page.Items, Pages: page.Pages, looked: how}, err
}

type doctorIn struct {
	caller
	stretch
}

// Refused is a key whose policies do not let it work.
type Refused struct {
	KeyName
	Policies []string      `json:"apply_policies"`
	Problems []key.Problem `json:"problems"`
}

// Diagnosis is the keys that gateways refuse because of their policies.
type Diagnosis struct {
	Keys []Refused `json:"keys"`
	looked
}

// Diagnose returns the keys that gateways refuse because of their policies.
func (s *Service) Diagnose(ctx context.Context, in doctorIn) (out Diagnosis, err error) {
	out.Keys = []Refused{}
	k := s.known(in.Who)
	seen, how, err := s.look(ctx, in.caller, k, in.stretch)
	if err != nil {
		return out, err
	}
	out.looked = how
	var ids []string
	for _, stored := range seen {
		ids = append(ids, key.Policies(stored.Session)...)
	}
	if err := s.learn(ctx, in.caller, k, nil, ids); err != nil {
		return out, err
	}
	for _, stored := range seen {
		carried := key.CarriedBy(stored.Session, k.Policies)
		if problems := carried.Problems(); len(problems) > 0 {
			out.Keys = append(out.Keys, Refused{nameOf(stored), carried.IDs, problems})
		}
	}
	return out, nil
}
