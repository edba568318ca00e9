package keys

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Get returns one key.
func (s *Service) Get(ctx context.Context, in named) (KeyData, error) {
	f, err := s.find(ctx, in, s.known(in.Who), true)
	if err != nil {
		return KeyData{}, err
	}
	return view(in.Scope.Org(), f.StoredKey, f.name, false), nil
}

// GetWithin returns one key that gives access to an API.
func (s *Service) GetWithin(ctx context.Context, in within) (KeyData, error) {
	f, err := s.inside(ctx, in, s.known(in.Who), true)
	if err != nil {
		return KeyData{}, err
	}
	return view(in.Scope.Org(), f.StoredKey, f.name, false), nil
}

type listIn struct {
	caller
	operation.Paging
}

// List returns a page of all keys.
func (s *Service) List(ctx context.Context, in listIn) (Keys, error) {
	return s.ListWithin(ctx, listWithin{caller: in.caller, Paging: in.Paging, API: anyAPI})
}

type listWithin struct {
	caller
	operation.Paging
	API string `path:"apiID" doc:"The api_id or the database ID of the API; an api_id takes precedence. - stands for any API."`
}

// ListWithin returns a page of the keys that give access to an API.
func (s *Service) ListWithin(ctx context.Context, in listWithin) (Keys, error) {
	hashes, _, err := s.seen(ctx, in.caller, in.API)
	if err != nil {
		return Keys{}, err
	}
	return s.page(hashes, in.Paging)
}

func (s *Service) page(hashes []string, p operation.Paging) (out Keys, err error) {
	page, err := operation.Slice(hashes, p, s.PageSize)
	out.Data.Keys, out.Pages = page.Items, page.Pages
	return out, err
}

type searchIn struct {
	caller
	operation.Paging
	API  string `path:"apiID" doc:"The api_id or the database ID of the API; an api_id takes precedence. - stands for any API."`
	Text string `query:"q" doc:"Part of a key or hash. When absent, all keys are listed."`
}

// Search returns a page of the keys of an API whose names contain a text.
func (s *Service) Search(ctx context.Context, in searchIn) (Keys, error) {
	hashes, _, err := s.seen(ctx, in.caller, in.API)
	if err != nil {
		return Keys{}, err
	}
	return s.page(slices.DeleteFunc(hashes, func(h string) bool { return !strings.Contains(h, in.Text) }), in.Paging)
}

// seen returns the hashes of the keys of an API that the caller sees. It returns the
// keys as well if it had to read them to decide that.
func (s *Service) seen(ctx context.Context, w caller, api string) (hashes []string, read []gateway.StoredKey, err error) {
	if s.Hashed && !s.ListHashes {
		return nil, nil, missing
	}
	k := s.known(w.Who)
	if api, err = s.api(ctx, w, k, api); err != nil {
		return nil, nil, err
	}
	hashes, err = s.Gateways.Keys(ctx, w.Scope.Org(), api)
	if err != nil || k.All() {
		return hashes, nil, answered(err)
	}
	all, err := s.sessions(ctx, w, hashes)
	if err != nil {
		return nil, nil, err
	}
	hashes, read = hashes[:0], all[:0]
	for _, stored := range all {
		switch ok, err := s.sees(ctx, w, k, stored); {
		case err != nil:
			return nil, nil, err
		case ok:
			hashes, read = append(hashes, stored.Hash), append(read, stored)
		}
	}
	return hashes, read, nil
}

// atOnce is how many sessions are read concurrently.
const atOnce = 8

// sessions reads keys by their hashes. Keys that were deleted meanwhile are left out.
func (s *Service) sessions(ctx context.Context, w caller, hashes []string) ([]gateway.StoredKey, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	all := make([]gateway.StoredKey, len(hashes))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(atOnce, len(hashes)) {
		workers.Go(func() {
			for i := range next {
				k, err := s.Gateways.Key(ctx, w.Scope.Org(), gateway.KeyName{Text: hashes[i], By: gateway.ByHash})
				switch err = answered(err); {
				case err == nil:
					all[i] = k
				case fault.KindOf(err) != fault.NotFound && fault.CodeOf(err) != codeForeign:
					stop(err)
				}
			}
		})
	}
	for i := range hashes {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(k gateway.StoredKey) bool { return k.Session == nil }), nil
}

type detailedIn struct {
	caller
	operation.Paging
	Text   string `query:"q" doc:"Part of a key, hash or alias."`
	Policy string `query:"policy_id" doc:"Only keys that have the policy with this id."`
}

// Detailed returns a page of keys with their sessions.
func (s *Service) Detailed(ctx context.Context, in detailedIn) (out Detailed, err error) {
	hashes, all, err := s.seen(ctx, in.caller, anyAPI)
	if err != nil {
		return out, err
	}
	whole := in.Text == "" && in.Policy == ""
	if whole && all == nil { // only the page is read
		page, err := operation.Slice(hashes, in.Paging, s.PageSize)
		if err != nil {
			return out, err
		}
		all, err = s.sessions(ctx, in.caller, page.Items)
		return s.detailed(in, all, page.Pages), err
	}
	if all == nil {
		if all, err = s.sessions(ctx, in.caller, hashes); err != nil {
			return out, err
		}
	}
	if !whole {
		all = slices.DeleteFunc(all, func(k gateway.StoredKey) bool {
			named := strings.Contains(k.Hash, in.Text) || strings.Contains(k.Session.Get("alias").Text(), in.Text)
			return !named || in.Policy != "" && !slices.Contains(key.Policies(k.Session), in.Policy)
		})
	}
	page, err := operation.Slice(all, in.Paging, s.PageSize)
	return s.detailed(in, page.Items, page.Pages), err
}

func (s *Service) detailed(in detailedIn, all []gateway.StoredKey, pages int) Detailed {
	out := Detailed{Keys: make([]KeyData, 0, len(all)), Pages: pages}
	for _, k := range all {
		out.Keys = append(out.Keys, view(in.Scope.Org(), k, gateway.KeyName{Text: k.Hash, By: gateway.ByHash}, false))
	}
	return out
}
