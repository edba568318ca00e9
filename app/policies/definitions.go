package policies

import (
	"cmp"
	"context"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// definitions answers questions about APIs for one request, and reads each of
// them once.
type definitions struct {
	kind     *store.Kind[apidef.API]
	known    map[string]*apidef.API // by API ID; nil: there is none
	complete bool                   // an API that is not in known does not exist
}

// many is the number of APIs from which one look at all of them costs a store
// less than so many single ones.
const many = 64

// load reads the APIs with the given identifiers.
func (d *definitions) load(ctx context.Context, r store.Reader, ids []string) error {
	if len(ids) >= many {
		return d.loadAll(ctx, r)
	}
	for _, id := range ids {
		if _, _, err := d.find(ctx, r, id); err != nil {
			return err
		}
	}
	return nil
}

func (d *definitions) loadAll(ctx context.Context, r store.Reader) error {
	if d.complete {
		return nil
	}
	for a, err := range d.kind.Find(ctx, r, store.Query{}) {
		if err != nil {
			return err
		}
		d.known[a.Value.APIID()] = &a.Value
	}
	d.complete = true
	return nil
}

// find returns the API with an identifier, and whether there is one.
func (d *definitions) find(ctx context.Context, r store.Reader, id string) (apidef.API, bool, error) {
	a, ok := d.known[id]
	if !ok && !d.complete && !strings.ContainsRune(id, 0) { // which no store could look for
		for v, err := range d.kind.Find(ctx, r, store.Query{Index: d.kind.Alias, Value: id, Limit: 1}) {
			if err != nil {
				return apidef.API{}, false, err
			}
			a = &v.Value
		}
		d.known[id] = a
	}
	if a == nil {
		return apidef.API{}, false, nil
	}
	return *a, true, nil
}

// visible reports whether a viewer may see a policy: when one of its APIs is
// visible, or none exists any more (docs/wire/ownership.md#rules).
func (d *definitions) visible(ctx context.Context, r store.Reader, p policy.Policy, v apidef.Viewer) (bool, error) {
	if v.All {
		return true, nil
	}
	var failed error
	visible := policy.VisibleThrough(p.APIs(), func(id string) (visible, exists bool) {
		a, ok, err := d.find(ctx, r, id)
		failed = cmp.Or(failed, err)
		return ok && a.VisibleTo(v), ok
	})
	return visible && failed == nil, failed
}

// rules returns the rules for writing, and what went wrong while they asked.
func (d *definitions) rules(ctx context.Context, r store.Reader, unsafeIDs bool) (policy.Rules, *error) {
	var failed error
	return policy.Rules{UnsafeIDs: unsafeIDs, API: func(id string) (policy.API, bool) {
		a, ok, err := d.find(ctx, r, id)
		if err != nil && failed == nil {
			failed = err
		}
		if !ok {
			return policy.API{}, false
		}
		return policy.API{MCP: a.IsMCP(), AuthTypes: a.AuthTypes()}, true
	}}, &failed
}
