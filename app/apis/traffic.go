package apis

import (
	"context"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// OwnedAnalytics is the permission of users who see only the traffic of APIs that they
// own.
const OwnedAnalytics access.Permission = "owned_analytics"

// Seen reports for each API of the caller's organisation, of all classes, whether the
// caller may see its traffic; all means that owners are ignored
// (docs/wire/analytics.md#ownership).
func (s *Repository) Seen(ctx context.Context, scope tenant.Scope, who operation.Principal) (seen map[string]bool, all bool, err error) {
	v := s.Viewer(who, apidef.Classic, access.Read)
	owned := !who.Permissions.Admin() && who.Permissions.Allows(OwnedAnalytics, access.Read)
	if v.All && !owned {
		return nil, true, nil
	}
	seen = map[string]bool{}
	err = s.Store.View(ctx, scope, func(r store.Reader) error {
		for a, err := range s.column().All(ctx, r) {
			if err != nil {
				return err
			}
			seen[a.Value.APIID()] = a.Value.VisibleTo(v) && (!owned || a.Value.OwnedBy(v))
		}
		return nil
	})
	return seen, false, err
}

// Names returns the names of the APIs with some API IDs, as far as they exist.
func (s *Repository) Names(ctx context.Context, scope tenant.Scope, ids []string) (map[string]string, error) {
	return ofEach(ctx, s, scope, ids, (*apidef.API).Name)
}

// Credentials returns, by API ID, the names of the headers, cookies and parameters in
// which these APIs expect keys and tokens.
func (s *Repository) Credentials(ctx context.Context, scope tenant.Scope, ids []string) (map[string][]string, error) {
	return ofEach(ctx, s, scope, ids, (*apidef.API).Credentials)
}

// ofEach returns the result of a function for each API that exists, by API ID.
func ofEach[V any](ctx context.Context, s *Repository, scope tenant.Scope, ids []string, of func(*apidef.API) V) (map[string]V, error) {
	out := map[string]V{}
	return out, s.Store.View(ctx, scope, func(r store.Reader) error {
		for _, id := range ids {
			if _, known := out[id]; known || id == "" || strings.ContainsRune(id, 0) {
				continue
			}
			a, err := s.Named(ctx, r, id)
			if err != nil {
				return err
			}
			if a != nil {
				out[id] = of(a)
			}
		}
		return nil
	})
}
