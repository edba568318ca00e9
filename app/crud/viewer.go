package crud

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Viewer is who asks what names what.
type Viewer struct {
	Who operation.Principal
	// Door is the permission that the caller came in by. Its resources may be seen,
	// whatever the permission map says: rules may have decided otherwise.
	Door access.Permission
	All  bool // sees everything: the super-admin, for one
}

// reads reports whether the viewer may read what a permission opens.
func (v Viewer) reads(p access.Permission) bool {
	return v.All || p == "" || p == v.Door || v.Who.Permissions.Allows(p, access.Read)
}

// Of returns the viewer as far as APIs are concerned, with what it wants to do to
// them. To those who come in by the permission for MCP proxies, other APIs exist only
// if they have that permission too, and the other way round.
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

// Sight returns what a viewer sees of a kind, nil for all of it.
type Sight[T any] func(v Viewer) Seeing[T]

func (s Sight[T]) of(v Viewer) Seeing[T] {
	if s == nil {
		return nil
	}
	return s(v)
}
