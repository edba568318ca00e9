package classic

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type patchIn struct {
	rows.WriteByID
	Patch operation.Patch `body:""`
}

// Patch changes parts of a classic API, in the form of its wrapper. Everything else
// keeps its stored spelling.
func (s *Service) Patch(ctx context.Context, in patchIn) (operation.Receipt, error) {
	return s.write(ctx, in.WriteByID, func(a apidef.API) (Wrapper, error) {
		before, after, err := in.applied(a)
		if err != nil {
			return Wrapper{}, err
		}
		if err := s.Forms.WritableText(after, before); err != nil {
			return Wrapper{}, err
		}
		var w Wrapper
		if err := json.Unmarshal(after, &w); err != nil {
			return w, err
		}
		text, err := a.AppendJSON(nil)
		if err != nil {
			return w, err
		}
		stored, err := doc.LoadObject(text)
		if err != nil {
			return w, err
		}
		shown, err := doc.LoadObject(before)
		if err != nil {
			return w, err
		}
		for name, was := range shown.All() { // members that exist only in the view of a wrapper are not stored
			now, kept := w.rest.Get(name)
			if !kept {
				w.gone = append(w.gone, name)
			} else if _, has := stored.Get(name); !has && bytes.Equal(was, now) {
				w.rest = w.rest.Without(name)
			}
		}
		return w, nil
	})
}

// applied returns the wrapper of an API before and after the patch. Parts of the
// definition that the patch does not change have their stored spelling again.
func (in patchIn) applied(a apidef.API) (before, after []byte, err error) {
	if before, err = a.View(false).AppendJSON(nil); err != nil {
		return nil, nil, err
	}
	if after, err = in.Patch.Apply(before); err != nil {
		return nil, nil, err
	}
	shown, err := doc.ParseNode(before)
	if err != nil {
		return nil, nil, err
	}
	wrapper, err := doc.ParseNode(after)
	if err != nil {
		return nil, nil, err
	}
	stored, _, err := a.Texts()
	if def := wrapper.Get("api_definition"); err == nil && def != nil {
		wrapper.Set("api_definition", doc.Restore(stored, shown.Get("api_definition"), def))
		after = wrapper.JSON()
	}
	return before, after, err
}

// patches returns what Patch stores, for rules.
func (s *Service) patches(ctx context.Context, in patchIn) (out operation.Settled, err error) {
	err = s.APIs.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := s.APIs.Get(ctx, r, in.ID, s.APIs.Viewer(in.Who, apidef.Classic, access.Write))
		if err != nil {
			return err
		}
		out.At = a.Serial
		_, out.Body, err = in.applied(a.Value)
		return err
	})
	return out, err
}
