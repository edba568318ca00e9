package apis

import (
	"cmp"
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Delete removes an API of any class but MCP proxies, which have their own
// permission. Keys, IdP mappings, OAuth clients and certificates stay; policies
// lose the API (contract dashboard.md 8.4, 9.3).
func (s Classic) Delete(ctx context.Context, in writeByID) (operation.Receipt, error) {
	return s.delete(ctx, in, "", false, "API deleted")
}

// delete removes an API that the caller may see and, with purge, its child
// versions. Unless class is empty, APIs of other classes are none of the door's
// business.
func (l *Library) delete(ctx context.Context, in writeByID, class apidef.Class, purge bool, message string) (operation.Receipt, error) {
	_, err := l.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		v := l.viewerOf(class, in.Who, access.Delete)
		a, err := l.get(ctx, w, in.ID, v)
		if errors.Is(err, store.ErrDamaged) {
			return l.discard(ctx, w, in, v)
		}
		if err == nil && class != "" {
			err = l.isA(a.Value, class)
		}
		if err != nil {
			return err
		}
		if err := in.Match.Check(a.Serial); err != nil {
			return err
		}
		if purge {
			if err := l.purge(ctx, w, in.Who, a.Value); err != nil {
				return err
			}
		}
		return l.remove(ctx, w, a.Value)
	})
	return operation.Receipt{Message: message}, err
}

// discard removes an API that cannot be read, and the API from the policies that
// name it. Whose it was cannot be told, so that with ownership only those may
// discard it who see all APIs; that it was an MCP proxy its indexes tell.
func (l *Library) discard(ctx context.Context, w store.Writer, in writeByID, v apidef.Viewer) error {
	rec, err := l.kind.Raw(ctx, w, in.ID)
	isMCP := rec.Key(byProxy) != ""
	switch {
	case err != nil:
		return err
	case isMCP && v.NoMCP || !isMCP && v.NoAPIs:
		return fault.New(fault.NotFound, codeMissing, "API not found")
	case !v.All:
		return notOwned()
	}
	if err := in.Match.Check(rec.Serial); err != nil {
		return err
	}
	if l.Forget != nil && !isMCP {
		if err := l.Forget(ctx, w, cmp.Or(rec.Key(byAPIID), in.ID)); err != nil {
			return err
		}
	}
	_, err = l.kind.Delete(ctx, w, in.ID, nil)
	return err
}

// purge removes the child versions of a base; the caller must own all of them.
func (l *Library) purge(ctx context.Context, w store.Writer, who operation.Principal, base apidef.API) error {
	children, err := l.childrenOf(ctx, w, base)
	if err != nil {
		return err
	}
	for _, c := range children {
		if err := admit(c, l.viewerOf(base.Class(), who, access.Delete)); err != nil {
			return err
		}
		if err := l.drop(ctx, w, c); err != nil {
			return err
		}
	}
	return nil
}

// childrenOf returns the child versions of a base that exist.
func (l *Library) childrenOf(ctx context.Context, r store.Reader, base apidef.API) ([]apidef.API, error) {
	var out []apidef.API
	for _, id := range base.ChildIDs() {
		c, err := l.named(ctx, r, id)
		if err != nil {
			return nil, err
		}
		if c != nil {
			out = append(out, *c)
		}
	}
	return out, nil
}

// remove deletes one API. A child leaves its base's routing table with it; the
// children of a base stay as APIs of their own, without addresses below the base.
func (l *Library) remove(ctx context.Context, w store.Writer, a apidef.API) error {
	if err := l.detach(ctx, w, a); err != nil {
		return err
	}
	def, _, err := a.Texts()
	if err == nil {
		err = l.readdress(ctx, w, a, def, nil)
	}
	if err != nil {
		return err
	}
	return l.drop(ctx, w, a)
}

// drop deletes the record, and the API from the policies that name it; those of an
// MCP proxy stay as they are (contract dashboard.md 13).
func (l *Library) drop(ctx context.Context, w store.Writer, a apidef.API) error {
	if l.Forget != nil && !a.IsMCP() {
		if err := l.Forget(ctx, w, a.APIID()); err != nil {
			return err
		}
	}
	_, err := l.kind.Delete(ctx, w, a.APIID(), nil)
	return err
}
