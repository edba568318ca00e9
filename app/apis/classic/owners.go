package apis

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Owners says who owns an API; with nobody, everybody in the organisation sees it.
type Owners struct {
	UserIDs  []string `json:"userIds" doc:"Users who own the API."`
	GroupIDs []string `json:"userGroupIds" doc:"Groups whose members own it."`
}

// Access returns the owners of an API.
func (s Classic) Access(ctx context.Context, in byID) (operation.Entity[Owners], error) {
	a, err := s.look(ctx, in)
	out := Owners{UserIDs: []string{}, GroupIDs: []string{}}
	if err == nil {
		users, groups := a.Value.Owners()
		out.UserIDs, out.GroupIDs = append(out.UserIDs, users...), append(out.GroupIDs, groups...)
	}
	return operation.Entity[Owners]{Value: out, Tag: operation.Tag(a.Serial)}, err
}

type accessIn struct {
	writeByID
	Owners Owners `body:""`
}

// SetAccess replaces the owners of an API.
func (s Classic) SetAccess(ctx context.Context, in accessIn) (operation.Receipt, error) {
	now := s.Now()
	at, err := s.change(ctx, in.writeByID, func(a apidef.API) (apidef.API, error) {
		err := errors.Join(caps.Wrapper.CountAt("user_owners", "userIds", len(in.Owners.UserIDs)),
			caps.Wrapper.CountAt("user_group_owners", "userGroupIds", len(in.Owners.GroupIDs)))
		return a.WithOwners(in.Owners.UserIDs, in.Owners.GroupIDs, now), err
	})
	return operation.Receipt{Message: "API access updated", Tag: operation.Tag(at)}, err
}

// own makes a caller who is not an admin the owner of what it creates while
// ownership is in force, unless it named owners (contract dashboard.md 4.4).
func (l *Library) own(a apidef.API, who operation.Principal) apidef.API {
	users, groups := a.Owners()
	if !l.Settings.Ownership || who.Permissions.Admin() || len(users)+len(groups) > 0 {
		return a
	}
	return a.WithOwners(slices.Clip([]string{who.ID}), []string{}, a.Updated())
}

// Foreign returns what tells whether there is an API that belongs to others than the
// caller, or nil when owners make no difference to the caller.
func (l *Library) Foreign(who operation.Principal) func(ctx context.Context, r store.Reader, apiID string) (bool, error) {
	v := l.viewer(who)
	if v.All {
		return nil
	}
	return func(ctx context.Context, r store.Reader, apiID string) (bool, error) {
		if strings.ContainsRune(apiID, 0) { // which no store could look for
			return false, nil
		}
		a, err := l.named(ctx, r, apiID)
		return err == nil && a != nil && !a.VisibleTo(v), err
	}
}

// URL returns where an API is reached, as old clients read it.
func (s Classic) URL(ctx context.Context, in byID) (servers.Parts, error) {
	a, err := s.look(ctx, in)
	if err != nil {
		return servers.Parts{}, err
	}
	def, _, err := a.Value.Texts()
	return servers.ClassicURL(def, s.Hosts), err
}
