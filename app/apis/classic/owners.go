package classic

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Owners are the owners of an API. Without owners, all users of the organisation see
// it.
type Owners struct {
	UserIDs  []string `json:"userIds" doc:"IDs of the users who own the API."`
	GroupIDs []string `json:"userGroupIds" doc:"User groups; their members own the API."`
}

// Access returns the owners of an API.
func (s *Service) Access(ctx context.Context, in rows.ByID) (operation.Entity[Owners], error) {
	a, err := s.visible(ctx, in)
	out := Owners{UserIDs: []string{}, GroupIDs: []string{}}
	if err == nil {
		users, groups := a.Value.Owners()
		out.UserIDs, out.GroupIDs = append(out.UserIDs, users...), append(out.GroupIDs, groups...)
	}
	return operation.EntityOf(out, a.Serial), err
}

type accessIn struct {
	rows.WriteByID
	Owners Owners `body:""`
}

// codeOwners is the code of the fault for a body that neither names owners nor empties
// their lists.
const codeOwners = apidef.Kind + ".owners"

// SetAccess replaces the owners of an API. It refuses a body without both lists, for
// example one with misspelt members, which would open the API to all users by mistake.
func (s *Service) SetAccess(ctx context.Context, in accessIn) (operation.Receipt, error) {
	now := s.APIs.Now()
	at, err := store.Write(ctx, s.APIs.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		a, err := s.APIs.Edit(ctx, w, in.ID, in.Match, s.APIs.Viewer(in.Who, apidef.Classic, access.Write), func(a apidef.API) (apidef.API, error) {
			if in.Owners.UserIDs == nil && in.Owners.GroupIDs == nil {
				return a, fault.New(fault.Invalid, codeOwners, "userIds or userGroupIds is required; with empty lists the API is everybody's")
			}
			err := errors.Join(caps.Wrapper.CountAt("user_owners", "userIds", len(in.Owners.UserIDs)),
				caps.Wrapper.CountAt("user_group_owners", "userGroupIds", len(in.Owners.GroupIDs)))
			return a.WithOwners(in.Owners.UserIDs, in.Owners.GroupIDs, now), err
		})
		return a.Serial, err
	})
	return operation.Receipt{Message: "API access updated", Tag: operation.Tag(at)}, err
}

// URL returns the address of an API in the form that old clients read.
func (s *Service) URL(ctx context.Context, in rows.ByID) (servers.Parts, error) {
	a, err := s.visible(ctx, in)
	if err != nil {
		return servers.Parts{}, err
	}
	def, _, err := a.Value.Texts()
	return servers.ClassicURL(def, s.Forms.Hosts), err
}
