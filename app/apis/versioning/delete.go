package versioning

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Delete deletes an API of a class (Classic stands for all classes except MCP) that the
// caller may delete and, with purge, its child versions.
func (s *Service) Delete(ctx context.Context, in rows.WriteByID, class apidef.Class, purge bool) error {
	_, err := s.APIs.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		v := s.APIs.Viewer(in.Who, class, access.Delete)
		a, err := s.APIs.Get(ctx, w, in.ID, v)
		if errors.Is(err, store.ErrDamaged) {
			return s.APIs.Discard(ctx, w, in.ID, in.Match, v)
		}
		if err == nil && class != apidef.Classic {
			err = apis.CheckClass(a.Value, class)
		}
		if err != nil {
			return err
		}
		if err := in.Match.Check(a.Serial); err != nil {
			return err
		}
		if purge {
			// The caller must own all of the child versions.
			base := a.Value
			children, err := s.children(ctx, w, base, base.ChildIDs())
			if err != nil {
				return err
			}
			for _, c := range children {
				if err := apis.Admit(c, s.APIs.Viewer(in.Who, base.Class(), access.Delete)); err != nil {
					return err
				}
				if err := s.remove(ctx, w, c, base.APIID()); err != nil {
					return err
				}
			}
		}
		if err := s.remove(ctx, w, a.Value, ""); err != nil {
			return err
		}
		// The children of a base remain as APIs of their own, without addresses below
		// the base.
		def, _, err := a.Value.Texts()
		if err != nil {
			return err
		}
		return s.readdress(ctx, w, a.Value, a.Value.ChildIDs(), def, nil)
	})
	return err
}

// remove deletes an API and removes it from the tables of all its bases, because a
// later API with its ID is another one. The base called going, if any, is about to be
// deleted as well, so its table is not changed.
func (s *Service) remove(ctx context.Context, w store.Writer, a apidef.API, going string) error {
	if err := s.APIs.Delete(ctx, w, a); err != nil {
		return err
	}
	return s.rerouteTo(ctx, w, a, going, func(t versions.Table) { t.Remove(a.APIID()) })
}
