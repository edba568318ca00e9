package apis

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/registry/apidef"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

type patchIn struct {
	writeByID
	Patch operation.Patch `body:""`
}

// Patch changes parts of a classic API, as the wrapper shows it. Everything else
// stays as it is written.
func (s Classic) Patch(ctx context.Context, in patchIn) (operation.Receipt, error) {
	return s.write(ctx, in.writeByID, func(a apidef.API) (Wrapper, error) {
		text, err := a.View(false).AppendJSON(nil)
		if err != nil {
			return Wrapper{}, err
		}
		patched, err := in.Patch.Apply(text)
		if err != nil {
			return Wrapper{}, err
		}
		return revised(a, text, patched)
	})
}

// revised reads a patched wrapper. Members that only the view of a wrapper has are
// not in it.
func revised(a apidef.API, before, after []byte) (w Wrapper, err error) {
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
	for name, was := range shown.All() {
		now, kept := w.rest.Get(name)
		if !kept {
			w.gone = append(w.gone, name)
		} else if _, has := stored.Get(name); !has && bytes.Equal(was, now) {
			w.rest = w.rest.Without(name)
		}
	}
	return w, nil
}
