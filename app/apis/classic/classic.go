package classic

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Wrapper is the form of an API at classic endpoints: its definition is in the member
// api_definition.
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
	if err = forms.Wrapper(w.rest); err != nil {
		return err
	}
	for _, name := range []string{"hook_references", "user_owners", "user_group_owners", "categories"} {
		switch raw, ok := w.rest.Get(name); {
		case !ok || !doc.IsNull(raw):
		case strings.HasSuffix(name, "owners"): // null is from clients that do not know owners: without owners, the API would be open to all users
			w.rest = w.rest.Without(name)
		default: // responses never have null for a list
			w.rest = w.rest.With(name, json.RawMessage("[]"))
		}
	}
	if w.definition, err = w.object("api_definition"); err != nil {
		return err
	}
	if w.document, err = w.object("oas"); w.document.Len() == 0 || !w.definition.Get("is_oas").True() && !describes(w.document) { // such an object counts as no document
		w.document = nil
	}
	return err
}

// describes reports whether an object is meant as a document. Some clients send, beside
// every classic definition, one without an OpenAPI version and without extensions for
// gateways.
func describes(document *doc.Node) bool {
	return document.Get("openapi").Text() != "" || slices.ContainsFunc(document.Names(), func(name string) bool { return strings.HasPrefix(name, "x-tyk-") })
}

// whole refuses a wrapper without a definition. It is called only after the API has
// been looked up.
func (w Wrapper) whole() error {
	if w.definition == nil {
		return forms.Misformed("api_definition", "api_definition is required")
	}
	return nil
}

func (w *Wrapper) object(name string) (*doc.Node, error) {
	raw, ok := w.rest.Get(name)
	if !ok || doc.IsNull(raw) {
		return nil, nil
	}
	if !doc.IsObject(raw) {
		return nil, forms.Misformed(name, name+" must be an object")
	}
	return doc.ParseNode(raw)
}

type createIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	versioning.NewVersion
	Wrapper Wrapper `body:""`
}

// Create stores a classic API.
func (s *Service) Create(ctx context.Context, in createIn) (operation.Receipt, error) {
	if err := in.Wrapper.whole(); err != nil {
		return operation.Receipt{}, err
	}
	if err := s.Forms.Streamable(in.Wrapper.document); err != nil {
		return operation.Receipt{}, err
	}
	class := apidef.Classic
	if in.Wrapper.isOAS() { // written through classic endpoints, a document is not converted
		class = apidef.OAS
		switch {
		case !s.APIs.Settings.UnsafeOAS:
			return operation.Receipt{}, unsafeOAS(class)
		case in.Wrapper.document == nil:
			return operation.Receipt{}, fault.New(fault.Invalid, apis.CodeInvalid, "an OAS API needs its document in oas").At("oas")
		}
	}
	d := apidef.Draft{ID: s.APIs.NewID(), OrgID: in.Scope.Org(), Class: class, Definition: in.Wrapper.definition, Document: in.Wrapper.document, Wrapper: in.Wrapper.rest}
	if d.APIID = d.Definition.Get("api_id").Text(); d.APIID == "" {
		d.APIID = s.APIs.NewAPIID()
	}
	if class == apidef.Classic {
		listenAt(d.Definition, "/"+d.APIID+"/")
	} else if err := s.Forms.Document(d.Document, class, false); err != nil {
		return operation.Receipt{}, err
	}
	if err := s.Forms.Classic(&d); err != nil {
		return operation.Receipt{}, err
	}
	a, at, err := s.Versions.Create(ctx, in.Scope, in.Who, d, in.NewVersion)
	if err != nil {
		return operation.Receipt{}, err
	}
	return operation.Receipt{Message: "API created", Meta: a.ID(), ID: a.APIID(), Tag: operation.Tag(at)}, nil
}

// listenAt sets the listen path of a definition that has none. An empty path is refused
// later, like any other without a slash.
func listenAt(def *doc.Node, path string) {
	proxy := def.Get("proxy")
	tcp := slices.Contains([]string{"tcp", "tls"}, def.Get("protocol").Text()) // these APIs have a port instead of a path
	if proxy.Is(doc.TypeObject) && proxy.Get("listen_path").Is(doc.Absent, doc.TypeNull) && !tcp {
		proxy.Set("listen_path", doc.NewString(path))
	}
}

// isOAS reports whether the wrapper has an OAS API: a classic one has no document.
func (w Wrapper) isOAS() bool { return w.definition.Get("is_oas").True() || w.document != nil }

// unsafeOAS returns the fault that says by which operations APIs of a class are
// written.
func unsafeOAS(c apidef.Class) error {
	what, where := "an OAS API", "/api/apis/oas"
	switch c {
	case apidef.Streams:
		what, where = "a streams API", "/api/apis/streams"
	case apidef.MCP:
		what, where = "an MCP proxy", "/api/mcps"
	}
	return fault.New(fault.Invalid, codeUnsafeOAS, "This is %s: use the endpoints below %s, or switch on allow_unsafe_oas", what, where)
}

type replaceIn struct {
	rows.WriteByID
	Wrapper Wrapper `body:""`
}

// Replace replaces a classic API; its api_id may change.
func (s *Service) Replace(ctx context.Context, in replaceIn) (operation.Receipt, error) {
	if err := s.Forms.Streamable(in.Wrapper.document); err != nil {
		return operation.Receipt{}, err
	}
	return s.write(ctx, in.WriteByID, func(apidef.API) (Wrapper, error) { return in.Wrapper, nil })
}

// write stores the wrapper that next returns for an API.
func (s *Service) write(ctx context.Context, in rows.WriteByID, next func(apidef.API) (Wrapper, error)) (operation.Receipt, error) {
	now := s.APIs.Now()
	at, err := store.Write(ctx, s.APIs.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		var before apidef.API
		var was, is *doc.Node
		after, err := s.APIs.Edit(ctx, w, in.ID, in.Match, s.APIs.Viewer(in.Who, apidef.Classic, access.Write), func(a apidef.API) (apidef.API, error) {
			before = a
			if a.Class() != apidef.Classic && !s.APIs.Settings.UnsafeOAS {
				return a, unsafeOAS(a.Class())
			}
			wrapper, err := next(a)
			if err == nil {
				err = wrapper.whole()
			}
			if err != nil {
				return a, err
			}
			d, err := s.redraw(a, wrapper)
			if err == nil {
				err = versioning.CheckTable(d, &a)
			}
			if err == nil && a.Class() != apidef.Classic {
				was, err = s.unite(ctx, w, a, &d)
				is = d.Definition
			}
			if err != nil {
				return a, err
			}
			return a.Rewrite(d, now)
		})
		if err != nil {
			return 0, err
		}
		if err := s.Versions.Renamed(ctx, w, before, after.Value); err != nil {
			return 0, err
		}
		if is == nil && len(before.ChildIDs())+len(after.Value.ChildIDs()) > 0 { // versions of a classic API may have documents
			if was, is, err = definitions(before, after.Value); err != nil {
				return 0, err
			}
		}
		if is == nil {
			return after.Serial, nil
		}
		return after.Serial, s.Versions.Follow(ctx, w, after.Value, was, is)
	})
	return operation.Receipt{Message: "API updated", Tag: operation.Tag(at)}, err
}

// definitions returns the classic definitions of two forms of an API.
func definitions(before, after apidef.API) (was, is *doc.Node, err error) {
	if was, _, err = before.Texts(); err == nil {
		is, _, err = after.Texts()
	}
	return was, is, err
}

// redraw checks the new wrapper of an API and returns its draft.
func (s *Service) redraw(a apidef.API, w Wrapper) (apidef.Draft, error) {
	d := apidef.Draft{ID: a.ID(), APIID: w.definition.Get("api_id").Text(), Class: a.Class(), Definition: w.definition.Clone(), Wrapper: w.rest, Gone: w.gone}
	if id := d.Definition.Get("id").Text(); id != "" && id != d.ID {
		return d, fault.New(fault.Invalid, apis.CodeWrongID, "Invalid `ID` value").At("api_definition.id")
	}
	if d.APIID == "" {
		d.APIID = a.APIID()
	}
	if a.Class() == apidef.Classic {
		if err := s.Forms.Streamable(w.document); err != nil { // of a patch
			return d, err
		}
		if w.isOAS() {
			return d, unsafeOAS(apidef.OAS)
		}
		listenAt(d.Definition, a.ListenPath())
	} else {
		d.Definition.Set("is_oas", doc.NewBool(true))
		d.Document = w.document.Clone()
	}
	err := s.Forms.Classic(&d)
	return d, err
}

// unite brings the two new forms of an OAS API into line, and returns the stored
// classic form.
func (s *Service) unite(ctx context.Context, r store.Reader, a apidef.API, d *apidef.Draft) (*doc.Node, error) {
	definition, document, err := a.Texts()
	if err != nil {
		return nil, err
	}
	k, err := s.Versions.Link(ctx, r, a)
	if err != nil {
		return nil, err
	}
	return definition, s.Forms.Unite(d, definition, document, k)
}

// visible returns an API of any class that the caller may see.
func (s *Service) visible(ctx context.Context, in rows.ByID) (a store.Stored[apidef.API], err error) {
	err = s.APIs.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err = s.APIs.Get(ctx, r, in.ID, s.APIs.Viewer(in.Who, apidef.Classic, access.Read))
		return err
	})
	return a, err
}

// Get returns the wrapper of an API of any class.
func (s *Service) Get(ctx context.Context, in rows.ByID) (out operation.Rendition, err error) {
	err = s.APIs.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := s.APIs.Get(ctx, r, in.ID, s.APIs.Viewer(in.Who, apidef.Classic, access.Read))
		if err != nil {
			return err
		}
		base := ""
		if b, err := s.Versions.Base(ctx, r, a.Value); err != nil {
			return err
		} else if b != nil {
			base = b.APIID()
		}
		text, err := a.Value.View(false).AppendJSON(nil)
		out = rows.Render(text, a, base)
		return err
	})
	return out, err
}

// Delete deletes an API of any class except MCP proxies, which have a permission of
// their own. Keys, IdP mappings, OAuth clients and certificates remain; the API is
// removed from policies.
func (s *Service) Delete(ctx context.Context, in rows.WriteByID) (operation.Receipt, error) {
	return operation.Receipt{Message: "API deleted"}, s.Versions.Delete(ctx, in, apidef.Classic, false)
}

// ListReferences returns the records that refer to an API.
func (s *Service) ListReferences(ctx context.Context, in rows.ByID) ([]store.Reference, error) {
	return s.APIs.Referrers(ctx, in.Scope, in.Who, apidef.Classic, in.ID)
}
