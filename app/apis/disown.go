package apis

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Disown removes a user from the owners of all APIs, in the unit of work that deletes
// the user. An API without another owner is then open to all users.
func (s *Repository) Disown(ctx context.Context, w store.Writer, userID string) error {
	var owned []string
	for a, err := range s.Kind.Find(ctx, w, store.Query{}) {
		if err != nil {
			return err
		}
		if users, _ := a.Value.Owners(); slices.Contains(users, userID) {
			owned = append(owned, a.Value.APIID())
		}
	}
	now := s.Now()
	for _, id := range owned {
		if _, err := s.Kind.Edit(ctx, w, id, nil, func(a apidef.API) (apidef.API, error) {
			users, groups := a.Owners()
			return a.WithOwners(slices.DeleteFunc(slices.Clone(users), func(u string) bool { return u == userID }), groups, now), nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// Gains reports whether the principal after owns, by its ID or its groups, an API that
// the principal before does not own and that who does not see.
func (s *Repository) Gains(ctx context.Context, r store.Reader, who, before, after operation.Principal) (bool, error) {
	v := s.Viewer(who, apidef.Classic, access.Write)
	if v.All {
		return false, nil
	}
	owner := func(p operation.Principal) apidef.Viewer { return apidef.Viewer{UserID: p.ID, Groups: p.Groups} }
	for a, err := range (store.Column[apidef.API, apidef.Listed]{Kind: s.Kind, Of: apidef.API.Listed}).All(ctx, r) {
		if err != nil {
			return false, err
		}
		if a.Value.OwnedBy(owner(after)) && !a.Value.OwnedBy(owner(before)) && !a.Value.VisibleTo(v) {
			return true, nil
		}
	}
	return false, nil
}
