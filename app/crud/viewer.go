package crud

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Viewer is the caller of an operation that shows records and references.
type Viewer struct {
	Who operation.Principal
	// Door is the permission of the operation. The viewer may read the resources of
	// this permission, whatever its permission map says, because rules may have decided
	// otherwise.
	Door access.Permission
	All  bool // sees everything, like the super-admin
}

// reads reports whether the viewer may read what a permission opens.
func (v Viewer) reads(p access.Permission) bool {
	return v.All || p == "" || p == v.Door || v.Who.Permissions.Allows(p, access.Read)
}

// Of returns the viewer as a viewer of APIs, with the intent of its call. If the
// operation needs the permission for MCP proxies, other APIs exist for the viewer only
// if it has the permission for them as well, and the other way round.
func (v Viewer) Of(ownership bool, i access.Intent) apidef.Viewer {
	if v.All {
		return apidef.Viewer{All: true}
	}
	lacks := func(p access.Permission) bool { return !v.Who.Permissions.Allows(p, i) }
	return apidef.Viewer{
		UserID: v.Who.ID, Groups: v.Who.Groups, All: !ownership || v.Who.Permissions.Admin(),
		NoAPIs: v.Door == access.MCP && lacks(access.APIs), NoMCP: v.Door == access.APIs && lacks(access.MCP),
	}
}

// Seeing reports whether one viewer sees a resource.
type Seeing[T any] func(ctx context.Context, r store.Reader, value T) (bool, error)

// see reports whether the viewer sees a resource; a nil Seeing sees all.
func (s Seeing[T]) see(ctx context.Context, r store.Reader, v T) (bool, error) {
	if s == nil {
		return true, nil
	}
	return s(ctx, r, v)
}

// Sight returns the Seeing of a viewer, nil if it sees all resources of the kind.
type Sight[T any] func(v Viewer) Seeing[T]

func (s Sight[T]) of(v Viewer) Seeing[T] {
	if s == nil {
		return nil
	}
	return s(v)
}
