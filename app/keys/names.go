package keys

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// caller is the principal of a call and its scope.
type caller struct {
	Scope tenant.Scope
	Who   operation.Principal
}

// naming is the query parameters that say how the path names a key.
type naming struct {
	Hashed   string `query:"hashed" doc:"Any value: the path contains the hash of the key."`
	Guess    string `query:"auto_guess" is:"boolean" doc:"true: if no key matches the path, the path is taken as a hash."`
	Username string `query:"username" is:"boolean" doc:"true: the path contains the name of a basic-auth user."`
}

// named is a key as a path names it.
type named struct {
	caller
	naming
	ID string `path:"keyId" doc:"The key, its hash, or the name of a basic-auth user."`
}

// within is a key that a path names below an API.
type within struct {
	caller
	naming
	API string `path:"apiID" doc:"The api_id or the database ID of the API; an api_id takes precedence. - stands for any API."`
	ID  string `path:"keyID" doc:"The key, its hash, or the name of a basic-auth user."`
}

func (w within) named() named { return named{w.caller, w.naming, w.ID} }

func yes(value string) bool { return value != "" && value != "false" && value != "0" }

// names returns the keys that a path may mean, the most likely first.
func (s *Service) names(n named, byHash bool) ([]gateway.KeyName, error) {
	hash := gateway.KeyName{Text: n.ID, By: gateway.ByHash}
	switch {
	case yes(n.Username) && s.NotByUser:
		return nil, fault.New(fault.Denied, codeByUser, "access denied: keys are not reached by user names here")
	case yes(n.Username):
		return []gateway.KeyName{{Text: n.ID, By: gateway.ByUser}}, nil
	case n.Hashed != "" && !byHash:
		return nil, missing
	case n.Hashed != "":
		return []gateway.KeyName{hash}, nil
	case yes(n.Guess) && byHash:
		return []gateway.KeyName{{Text: n.ID}, hash}, nil
	}
	return []gateway.KeyName{{Text: n.ID}}, nil
}

// found is a key that the caller sees, with the name by which it was found.
type found struct {
	gateway.StoredKey
	name gateway.KeyName
}

// find returns the key that a path names if the caller may see it.
func (s *Service) find(ctx context.Context, n named, k sight, byHash bool) (f found, err error) {
	names, err := s.names(n, byHash)
	if err != nil {
		return f, err
	}
	for _, f.name = range names {
		f.StoredKey, err = s.Gateways.Key(ctx, n.Scope.Org(), f.name)
		if !errors.Is(err, gateway.ErrUnknown) {
			break
		}
	}
	if err != nil {
		return f, answered(err)
	}
	return f, s.admit(ctx, n.caller, k, f.StoredKey)
}

// anyAPI stands for any API in paths.
const anyAPI = "-"

// api returns the api_id of an API, by which gateways know it, from either ID in a
// path; "" for anyAPI. It refuses an API that the caller may not see.
func (s *Service) api(ctx context.Context, w caller, k sight, id string) (string, error) {
	if id == anyAPI {
		return "", nil
	}
	var a policy.API
	err := s.Store.View(ctx, w.Scope, func(r store.Reader) (err error) {
		id, a, err = k.API(ctx, r, id)
		return err
	})
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return "", missing
	case err == nil && a.Foreign:
		return "", policy.NotOwned()
	}
	return id, err
}

// inside returns the key that a path names, if the key gives access to the API of the
// path.
func (s *Service) inside(ctx context.Context, w within, k sight, byHash bool) (found, error) {
	api, err := s.api(ctx, w.caller, k, w.API)
	if err != nil {
		return found{}, err
	}
	f, err := s.find(ctx, w.named(), k, byHash)
	if err != nil || api == "" {
		return f, err
	}
	if err := s.learn(ctx, w.caller, k, nil, key.Policies(f.Session)); err != nil {
		return f, err
	}
	reach := k.reach(f.StoredKey)
	for _, id := range reach {
		if id == api {
			return f, nil
		}
	}
	if len(reach) == 0 { // the key gives access to every API
		return f, nil
	}
	return found{}, missing
}
