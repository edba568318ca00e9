package local

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// listed is the part of a key that lists read.
type listed struct {
	hash     string
	apis     []string // APIs to which the key itself gives rights
	policies []string
	err      error
}

// Keys implements gateway.Keys.
func (k *Keys) Keys(ctx context.Context, org tenant.ID, api string) ([]string, error) {
	hashes := []string{}
	column := store.Column[KeyRecord, listed]{Kind: KeyKind, Of: func(r KeyRecord) listed { // keys are encrypted: each is decrypted once, not again for each list
		c, err := k.open(r)
		if err != nil {
			return listed{err: err}
		}
		return listed{hash: c.Hash, apis: key.APIs(c.Session), policies: key.Policies(c.Session)}
	}}
	err := k.view(ctx, org, func(r store.Reader) error {
		hashes = hashes[:0]
		said := map[string]saying{}
		for row, err := range column.All(ctx, r) {
			if err == nil {
				err = row.Value.err
			}
			ok := err == nil && api == ""
			if err == nil && !ok {
				ok, err = k.reaches(ctx, r, row.Value, api, said)
			}
			if err != nil {
				return err
			}
			if ok {
				hashes = append(hashes, row.Value.hash)
			}
		}
		return nil
	})
	slices.Sort(hashes)
	return hashes, classify(err)
}

// saying is what a policy says about the rights to one API.
type saying struct{ known, rights, yes bool }

// reaches reports whether a key has rights to an API once its policies are applied. When
// a policy is gone, the session counts without policies applied. said caches what
// policies say.
func (k *Keys) reaches(ctx context.Context, r store.Reader, l listed, api string, said map[string]saying) (bool, error) {
	own, rights, yes := slices.Contains(l.apis, api), false, false
	for _, id := range l.policies {
		s, asked := said[id]
		if !asked {
			p, err := k.Policy(ctx, r, id)
			if err != nil && fault.KindOf(err) != fault.NotFound {
				return false, err
			}
			if s.known = err == nil; s.known {
				apis, all := key.Gives(p)
				s.rights, s.yes = all, all && slices.Contains(apis, api)
			}
			said[id] = s
		}
		if !s.known {
			return own, nil
		}
		rights, yes = rights || s.rights, yes || s.yes
	}
	return yes || own && !rights, nil
}
