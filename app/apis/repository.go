package apis

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Config is the configuration of a Repository.
type Config struct {
	Store    store.Store
	NewID    system.NewID // database IDs
	NewAPIID system.NewID // API IDs, 32 hex digits
	Now      system.Clock
	PageSize int
	Settings Settings
	// Hook returns a webhook in the form that clients read; nil: there are no webhooks.
	Hook func(ctx context.Context, r store.Reader, id string) (json.RawMessage, error)
	// AddHook stores a webhook that an imported API brings; nil: there are no webhooks.
	AddHook func(ctx context.Context, w store.Writer, h webhook.Hook) error
	// Forget removes an API from the records that refer to it, in the unit of work that
	// deletes the API; nil: no records refer to APIs.
	Forget func(ctx context.Context, w store.Writer, apiID string) error
	// References finds the records that refer to an API; nil: only other APIs.
	References *crud.References
}

// Repository stores the APIs of every class, with the rules for all of them: IDs,
// addresses, and who may see and change them.
type Repository struct {
	Config
	// Kind finds and changes records without these rules; its callers must apply them.
	Kind *store.Kind[apidef.API]
}

// New returns a repository.
func New(c Config) *Repository {
	if c.References == nil {
		c.References = crud.NewReferences(Registration(c.Settings))
	}
	return &Repository{Config: c, Kind: newKind(c.Settings)}
}

// Viewer returns the caller of a family of operations as a viewer. class names the
// family: Classic stands for all classes except MCP. The caller may see the APIs of
// that family; for those of the other family it needs the permission of that family.
func (s *Repository) Viewer(who operation.Principal, class apidef.Class, i access.Intent) apidef.Viewer {
	return crud.Viewer{Who: who, Door: permission(class)}.Of(s.Settings.Ownership, i)
}

func permission(class apidef.Class) access.Permission {
	if class == apidef.MCP {
		return access.MCP
	}
	return access.APIs
}

// Get returns an API that the viewer may see.
func (s *Repository) Get(ctx context.Context, r store.Reader, id string, v apidef.Viewer) (a store.Stored[apidef.API], err error) {
	if a, err = s.Kind.Get(ctx, r, id); err == nil {
		err = Admit(a.Value, v)
	}
	return a, err
}

// Named returns the API with an API ID, whether or not the caller may see it, or nil.
func (s *Repository) Named(ctx context.Context, r store.Reader, apiID string) (*apidef.API, error) {
	for a, err := range s.Kind.Find(ctx, r, store.Query{Index: ByAPIID, Value: apiID, Limit: 1}) {
		return &a.Value, err
	}
	return nil, nil
}

// Loaded reports whether gateways load an API: it exists and is active.
func Loaded(ctx context.Context, r store.Reader, apiID string) (bool, error) {
	for a, err := range Kind.Find(ctx, r, store.Query{Index: ByAPIID, Value: apiID, Limit: 1}) {
		return err == nil && a.Value.Active(), err
	}
	return false, nil
}

// Fits refuses a new API whose ID or address is taken.
func (s *Repository) Fits(ctx context.Context, r store.Reader, a apidef.API) error {
	switch b, err := s.Named(ctx, r, a.APIID()); {
	case err != nil:
		return err
	case b != nil:
		return IDTaken() // before other conflicts
	}
	if err := s.collision(ctx, r, a); err != nil {
		return err
	}
	return s.lent(ctx, nil, a)
}

// Insert stores a new API if it fits.
func (s *Repository) Insert(ctx context.Context, w store.Writer, a apidef.API) (store.Serial, error) {
	if err := s.Fits(ctx, w, a); err != nil {
		return 0, err
	}
	return s.Add(ctx, w, a)
}

// Add stores a new API for which Fits has succeeded in the same unit of work.
func (s *Repository) Add(ctx context.Context, w store.Writer, a apidef.API) (store.Serial, error) {
	a, err := s.Embed(ctx, w, a)
	if err != nil {
		return 0, err
	}
	at, err := s.Kind.Create(ctx, w, a)
	return at, Taken(err)
}

// Edit changes an API that the viewer may see, if the precondition match holds.
func (s *Repository) Edit(ctx context.Context, w store.Writer, id string, match operation.Match, v apidef.Viewer, fn func(apidef.API) (apidef.API, error)) (store.Stored[apidef.API], error) {
	old, err := s.Get(ctx, w, id, v)
	if err != nil {
		return store.Stored[apidef.API]{}, err
	}
	a, err := s.Kind.Revise(ctx, w, old.Value.APIID(), match.Check, func(a apidef.API) (apidef.API, error) {
		b, err := fn(a)
		if err == nil {
			err = s.Routes(ctx, w, a.ChildIDs(), b, v)
		}
		if err == nil {
			err = s.Acyclic(ctx, w, &a, b)
		}
		if err == nil {
			err = s.lent(ctx, &a, b)
		}
		// An API whose address and name stay the same has no new collision.
		if err == nil && (a.Name() != b.Name() || !slices.Equal(a.Places(), b.Places())) {
			err = s.moved(ctx, w, b)
		}
		if err != nil {
			return b, err
		}
		return s.Embed(ctx, w, b)
	})
	return a, Taken(err)
}

// Routes refuses an API whose table of versions has new entries for APIs that the
// viewer may not write, or that belong to another organisation: gateways would serve
// these at the address of the API. IDs that no API has are accepted.
func (s *Repository) Routes(ctx context.Context, r store.Reader, before []string, a apidef.API, v apidef.Viewer) error {
	var unknown []string
	for _, id := range a.ChildIDs() {
		if _, known := slices.BinarySearch(before, id); known || strings.ContainsRune(id, 0) { // or no store could look it up
			continue
		}
		switch child, err := s.Named(ctx, r, id); {
		case err != nil:
			return err
		case child == nil:
			unknown = append(unknown, id)
		case !child.VisibleTo(v):
			return NotOwned()
		case child.IsMCP() != a.IsMCP():
			return fault.New(fault.Invalid, CodeInvalid, "API %s cannot be a version of this one: one of them is an MCP Proxy", id).At("versions")
		}
	}
	elsewhere, err := s.Elsewhere(ctx, a.OrgID(), unknown...)
	if err == nil && elsewhere {
		err = NotOwned()
	}
	return err
}

// Elsewhere reports whether one of the IDs is that of an API of another organisation
// than own. It is false where organisations have separate gateways.
func (s *Repository) Elsewhere(ctx context.Context, own tenant.ID, ids ...string) (bool, error) {
	if len(ids) == 0 || s.Settings.SeparateGateways {
		return false, nil
	}
	return store.HeldByOthers(ctx, s.Store, own, tenant.Everyone("API IDs are unique"), s.Kind.Name, ByAPIID, ids...)
}

// collision refuses an API that has the address of another one. Where listen paths may
// not be shared, a unique index refuses most of these as well. This check also finds
// collisions of an API for all gateways with an API for some of them, which an index
// cannot. The name of an MCP proxy is checked first: if the same proxy is sent again,
// both are taken.
func (s *Repository) collision(ctx context.Context, r store.Reader, a apidef.API) error {
	if name := proxyName(a); name != "" {
		for b, err := range s.Kind.Find(ctx, r, store.Query{Index: byProxy, Value: name, Limit: 1}) {
			if err != nil {
				return err
			}
			if b.Value.ID() != a.ID() {
				return nameTaken()
			}
		}
	}
	if a.Address() == "" {
		return nil
	}
	for b, err := range s.Kind.Find(ctx, r, store.Query{Index: ByAddress, Value: store.Indexed(a.Address())}) {
		if err != nil {
			return err
		}
		if b.Value.ID() != a.ID() && s.Collide(a, b.Value) {
			return urlTaken()
		}
	}
	return nil
}

// Collide reports whether two APIs cannot both be stored, because of their addresses.
// Where listen paths may be shared, only APIs with the same name collide.
func (s *Repository) Collide(a, b apidef.API) bool {
	return a.Collides(b) && (!s.Settings.DuplicatePaths || a.Name() == b.Name())
}

// Becomes refuses a new version of an API whose address is taken, or that uses a
// private key of another organisation.
func (s *Repository) Becomes(ctx context.Context, r store.Reader, before, after apidef.API) error {
	if err := s.lent(ctx, &before, after); err != nil {
		return err
	}
	return s.moved(ctx, r, after)
}

// Put stores a new version of an API, whether or not the caller may see it.
func (s *Repository) Put(ctx context.Context, w store.Writer, id string, fn func(apidef.API) (apidef.API, error)) error {
	_, err := s.Kind.Edit(ctx, w, id, nil, func(a apidef.API) (apidef.API, error) {
		b, err := fn(a)
		if err == nil {
			err = s.Becomes(ctx, w, a, b)
		}
		if err != nil {
			return b, err
		}
		return s.Embed(ctx, w, b)
	})
	return Taken(err)
}

// moved is collision for a stored API. Where listen paths may be shared, only creations
// are checked, because only they can be requests that were sent twice.
func (s *Repository) moved(ctx context.Context, r store.Reader, a apidef.API) error {
	if s.Settings.DuplicatePaths { // the names of MCP proxies have a unique index
		return nil
	}
	return s.collision(ctx, r, a)
}

// Delete deletes an API, and removes it from the policies that refer to it; an MCP
// proxy is not removed from policies.
func (s *Repository) Delete(ctx context.Context, w store.Writer, a apidef.API) error {
	if s.Forget != nil && !a.IsMCP() {
		if err := s.Forget(ctx, w, a.APIID()); err != nil {
			return err
		}
	}
	_, err := s.Kind.Delete(ctx, w, a.APIID(), nil)
	return err
}

// Discard deletes an API that cannot be decoded, and removes it from the policies that
// refer to it. Its owners cannot be read, so with ownership only viewers who see all
// APIs may discard it. Its indexes show whether it was an MCP proxy.
func (s *Repository) Discard(ctx context.Context, w store.Writer, id string, match operation.Match, v apidef.Viewer) error {
	rec, err := s.Kind.Raw(ctx, w, id)
	isMCP := rec.Key(byProxy) != ""
	switch {
	case err != nil:
		return err
	case isMCP && v.NoMCP || !isMCP && v.NoAPIs:
		return missing()
	case !v.All:
		return NotOwned()
	}
	if err := match.Check(rec.Serial); err != nil {
		return err
	}
	if s.Forget != nil && !isMCP {
		if err := s.Forget(ctx, w, cmp.Or(rec.Key(ByAPIID), id)); err != nil {
			return err
		}
	}
	_, err = s.Kind.Delete(ctx, w, id, nil)
	return err
}

// Foreign returns a function that reports whether an API exists that the caller may not
// see because of its owners, or nil if owners are ignored for the caller.
func (s *Repository) Foreign(who operation.Principal) func(ctx context.Context, r store.Reader, apiID string) (bool, error) {
	if !s.Settings.Ownership || who.Permissions.Admin() {
		return nil
	}
	v := s.Viewer(who, apidef.Classic, access.Read)
	return func(ctx context.Context, r store.Reader, apiID string) (bool, error) {
		if strings.ContainsRune(apiID, 0) { // no store could look it up
			return false, nil
		}
		a, err := s.Named(ctx, r, apiID)
		return err == nil && a != nil && !a.VisibleTo(v), err
	}
}
