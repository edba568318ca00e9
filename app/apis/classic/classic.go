package apis

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Wrapper is the form in which classic endpoints exchange an API: the
// definition sits in api_definition (contract dashboard.md 9.2).
type Wrapper struct {
	rest       doc.Object
	definition *doc.Node
	document   *doc.Node
	gone       []string // members that a patch has removed
}

// UnmarshalJSON implements json.Unmarshaler.
func (w *Wrapper) UnmarshalJSON(text []byte) (err error) {
	if err = w.rest.UnmarshalJSON(text); err != nil {
		return err
	}
	if err = w.check(); err != nil {
		return err
	}
	if w.definition, err = w.object("api_definition"); err != nil {
		return err
	}
	if w.definition == nil {
		return schemaFault("api_definition", "api_definition is required")
	}
	w.document, err = w.object("oas")
	return err
}

func (w *Wrapper) object(name string) (*doc.Node, error) {
	raw, ok := w.rest.Get(name)
	if !ok || doc.IsNull(raw) {
		return nil, nil
	}
	if !doc.IsObject(raw) {
		return nil, schemaFault(name, name+" must be an object")
	}
	return doc.ParseNode(raw)
}

// check refuses members of the wrapper that could not be read again, and known
// ones in another letter case.
func (w *Wrapper) check() error {
	text, err := w.rest.Without("api_definition").Without("oas").AppendJSON(nil)
	if err == nil {
		err = apidef.WrapperNames.Spelling(text)
	}
	if m, ok := errors.AsType[*shape.Misspelling](err); ok {
		return schemaFault(m.Path, m.Error())
	}
	for _, m := range []struct {
		name string
		into any
	}{
		{"user_owners", &[]string{}}, {"user_group_owners", &[]string{}}, {"categories", &[]string{}}, {"sort_by", new(int)}, {"is_site", new(bool)},
	} {
		if raw, ok := w.rest.Get(m.name); ok && json.Unmarshal(raw, m.into) != nil {
			return schemaFault(m.name, m.name+" has the wrong type")
		}
	}
	return checkHooks(w.rest)
}

// checkHooks refuses references to webhooks that a feed could not resolve.
func checkHooks(wrapper doc.Object) error {
	raw, ok := wrapper.Get("hook_references")
	if !ok || doc.IsNull(raw) {
		return nil
	}
	var refs []struct {
		Event   string   `json:"event_name"`
		Timeout int64    `json:"event_timeout"`
		Hook    hookName `json:"hook"`
	}
	if err := json.Unmarshal(raw, &refs); err != nil {
		return schemaFault("hook_references", "hook_references must be a list of {event_name, event_timeout, hook}")
	}
	return nil
}

type hookName struct {
	ID string `json:"id"`
}

type createIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	versionIn
	Wrapper Wrapper `body:""`
}

// Create stores a classic API.
func (s Classic) Create(ctx context.Context, in createIn) (operation.Receipt, error) {
	class, err := s.classOf(in.Wrapper)
	if err != nil {
		return operation.Receipt{}, err
	}
	d := apidef.Draft{ID: s.NewID(), OrgID: in.Scope.Org(), Class: class, Definition: in.Wrapper.definition, Document: in.Wrapper.document, Wrapper: in.Wrapper.rest}
	if d.APIID = d.Definition.Get("api_id").Text(); d.APIID == "" {
		d.APIID = s.NewAPIID()
	}
	if err := s.prepare(&d); err != nil {
		return operation.Receipt{}, err
	}
	a, at, err := s.create(ctx, in.Scope, in.Who, d, in.versionIn)
	if err != nil {
		return operation.Receipt{}, err
	}
	return operation.Receipt{Message: "API created", Meta: a.ID(), ID: a.APIID(), Tag: operation.Tag(at)}, nil
}

// classOf refuses OpenAPI definitions at classic endpoints unless that is
// allowed: they would bypass the conversion (contract dashboard.md 9.3).
func (s Classic) classOf(w Wrapper) (apidef.Class, error) {
	if !w.definition.Get("is_oas").True() {
		return apidef.Classic, nil
	}
	if !s.Settings.UnsafeOAS {
		return "", unsafeOAS()
	}
	if w.document == nil {
		return "", fault.New(fault.Invalid, codeInvalid, "an OAS API needs its document in oas").At("oas")
	}
	return apidef.OAS, nil
}

func unsafeOAS() error {
	return fault.New(fault.Invalid, codeUnsafeOAS, "This is an OAS API: use the endpoints below /api/apis/oas, or switch on allow_unsafe_oas")
}

type replaceIn struct {
	writeByID
	Wrapper Wrapper `body:""`
}

// Replace replaces a classic API; its api_id may change.
func (s Classic) Replace(ctx context.Context, in replaceIn) (operation.Receipt, error) {
	return s.write(ctx, in.writeByID, func(apidef.API) (Wrapper, error) { return in.Wrapper, nil })
}

// write stores the wrapper that next makes of an API.
func (s Classic) write(ctx context.Context, in writeByID, next func(apidef.API) (Wrapper, error)) (operation.Receipt, error) {
	now := s.Now()
	at, err := store.Write(ctx, s.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		var before apidef.API
		after, err := s.edit(ctx, w, in, s.viewerOf(apidef.Classic, in.Who, access.Write), func(a apidef.API) (apidef.API, error) {
			before = a
			if a.Class() != apidef.Classic && !s.Settings.UnsafeOAS {
				return a, unsafeOAS()
			}
			wrapper, err := next(a)
			if err != nil {
				return a, err
			}
			d, err := s.redraw(a, wrapper)
			if err != nil {
				return a, err
			}
			return a.Rewrite(d, now)
		})
		if err != nil {
			return 0, err
		}
		return after.Serial, s.renamed(ctx, w, before, after.Value)
	})
	return operation.Receipt{Message: "API updated", Tag: operation.Tag(at)}, err
}

// redraw checks what is to become of an API.
func (s Classic) redraw(a apidef.API, w Wrapper) (apidef.Draft, error) {
	d := apidef.Draft{ID: a.ID(), APIID: w.definition.Get("api_id").Text(), Class: a.Class(), Definition: w.definition.Clone(), Wrapper: w.rest, Gone: w.gone}
	if id := d.Definition.Get("id").Text(); id != "" && id != d.ID {
		return d, fault.New(fault.Invalid, codeWrongID, "Invalid `ID` value").At("api_definition.id")
	}
	if d.APIID == "" {
		d.APIID = a.APIID()
	}
	if a.Class() == apidef.Classic {
		if d.Definition.Get("is_oas").True() {
			return d, unsafeOAS()
		}
		return d, s.prepare(&d)
	}
	d.Definition.Set("is_oas", doc.NewBool(true))
	if d.Document = w.document.Clone(); d.Document == nil {
		var err error
		if _, d.Document, err = a.Texts(); err != nil {
			return d, err
		}
	}
	return d, s.prepare(&d)
}
