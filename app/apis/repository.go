package apis

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/openapi"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Settings are the switches of contract dashboard.md 32 that concern APIs.
type Settings struct {
	Ownership      bool // enable_ownership
	DuplicatePaths bool // enable_duplicate_slugs
	ForceDefaults  bool // force_api_defaults
	UnsafeOAS      bool // allow_unsafe_oas
	Examples       bool // oas_config.validate_examples
	Defaults       bool // oas_config.validate_schema_defaults
	Streams        bool // streaming.enabled
	AllStreams     bool // streaming.enable_all_experimental
	// SeparateGateways means that no gateway loads APIs of two organisations
	// (separate_gateways), which may then have the same api_id.
	SeparateGateways bool
}

// Config is what a Library is made of.
type Config struct {
	Store    store.Store
	NewID    system.NewID // database IDs
	NewAPIID system.NewID // API IDs, 32 hex digits
	Now      system.Clock
	Log      *slog.Logger
	PageSize int
	Settings Settings
	// Hosts says where gateways are, for the addresses in documents.
	Hosts     servers.Config
	Validator openapi.Validator
	// Read returns the JSON tree of a document as it was sent: as JSON or YAML, as
	// an archive, or as the address of one of these.
	Read func(ctx context.Context, b operation.Document) (*doc.Node, error)
	// Template returns the document part of an asset.
	Template func(ctx context.Context, r store.Reader, id string) (*doc.Node, error)
	// Hook returns a webhook as clients read it; nil: there are none.
	Hook func(ctx context.Context, r store.Reader, id string) (json.RawMessage, error)
	// Forget removes an API from what refers to it inside the unit of work that
	// deletes it; nil: nothing refers to APIs.
	Forget func(ctx context.Context, w store.Writer, apiID string) error
	// References knows who names an API; nil: other APIs only.
	References *crud.References
}

// Library is the store of APIs with the rules that hold for every class. The
// services of this package are its doors.
type Library struct {
	Config
	kind *store.Kind[apidef.API]
}

// New returns a library.
func New(c Config) *Library {
	if c.References == nil {
		c.References = crud.NewReferences(Registration(c.Settings))
	}
	return &Library{Config: c, kind: newKind(c.Settings)}
}

// Codes of faults.
const (
	codeMissing   = apidef.Kind + ".not_found"
	codeTaken     = apidef.Kind + ".taken"
	codeURLTaken  = apidef.Kind + ".url_taken"
	codeWrongID   = apidef.Kind + ".id"
	codeInvalid   = apidef.Kind + ".invalid"
	codeUnsafeOAS = apidef.Kind + ".unsafe_oas"
	codeNotOwned  = apidef.Kind + ".not_owned"
	codeNameTaken = apidef.Kind + ".name_taken" // of an MCP proxy
)

// viewer is who reads at a door for APIs that are no MCP proxies.
func (l *Library) viewer(p operation.Principal) apidef.Viewer {
	return l.viewerOf(apidef.Classic, p, access.Read)
}

// viewerOf is who asks at the door for a class. Who came through that door may see
// what it is for; the others need the permission of their own door.
func (l *Library) viewerOf(class apidef.Class, p operation.Principal, i access.Intent) apidef.Viewer {
	return crud.Viewer{Who: p, Door: doorOf(class)}.Of(l.Settings.Ownership, i)
}

func doorOf(class apidef.Class) access.Permission {
	if class == apidef.MCP {
		return access.MCP
	}
	return access.APIs
}

func notOwned() error { return fault.New(fault.Unauthenticated, codeNotOwned, "Not authorised") }

// admit refuses viewers who may not see an API. One that is hidden is not found,
// like one that does not exist, before anybody asks who owns it (contract
// dashboard.md 4.4).
func admit(a apidef.API, v apidef.Viewer) error {
	switch {
	case a.HiddenFrom(v):
		return fault.New(fault.NotFound, codeMissing, "API not found")
	case !a.VisibleTo(v):
		return notOwned()
	}
	return nil
}

// get returns an API that the caller may see.
func (l *Library) get(ctx context.Context, r store.Reader, id string, v apidef.Viewer) (a store.Stored[apidef.API], err error) {
	if a, err = l.kind.Get(ctx, r, id); err == nil {
		err = admit(a.Value, v)
	}
	return a, err
}

// look is get in a unit of work of its own.
func (l *Library) look(ctx context.Context, in byID) (a store.Stored[apidef.API], err error) {
	err = l.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err = l.get(ctx, r, in.ID, l.viewer(in.Who))
		return err
	})
	return a, err
}

// byID addresses one API.
type byID struct {
	Scope tenant.Scope
	Who   operation.Principal
	ID    string `path:"apiId" doc:"api_id, or else database ID, of the API."`
}

type writeByID struct {
	byID
	Match operation.Match
}

// insert stores a new API unless its identifier or its address is taken.
func (l *Library) insert(ctx context.Context, w store.Writer, a apidef.API) (store.Serial, error) {
	for _, err := range l.kind.Find(ctx, w, store.Query{Index: byAPIID, Value: a.APIID(), Limit: 1}) {
		if err != nil {
			return 0, err
		}
		return 0, idTaken() // whatever else it shares
	}
	if err := l.collision(ctx, w, a); err != nil {
		return 0, err
	}
	a, err := l.embed(ctx, w, a)
	if err != nil {
		return 0, err
	}
	at, err := l.kind.Create(ctx, w, a)
	return at, taken(err)
}

// edit rewrites an API that the viewer may see.
func (l *Library) edit(ctx context.Context, w store.Writer, in writeByID, v apidef.Viewer, fn func(apidef.API) (apidef.API, error)) (store.Stored[apidef.API], error) {
	old, err := l.get(ctx, w, in.ID, v)
	if err != nil {
		return store.Stored[apidef.API]{}, err
	}
	a, err := l.kind.Revise(ctx, w, old.Value.APIID(), in.Match.Check, func(a apidef.API) (apidef.API, error) {
		b, err := fn(a)
		if err == nil && !slices.Equal(twins(a), twins(b)) { // who stays where they are is in nobody's way
			err = l.collision(ctx, w, b)
		}
		if err != nil {
			return b, err
		}
		return l.embed(ctx, w, b)
	})
	return a, taken(err)
}

// change is edit in a unit of work of its own, at a door for all classes.
func (l *Library) change(ctx context.Context, in writeByID, fn func(apidef.API) (apidef.API, error)) (store.Serial, error) {
	return store.Write(ctx, l.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		a, err := l.edit(ctx, w, in, l.viewerOf(apidef.Classic, in.Who, access.Write), fn)
		return a.Serial, err
	})
}
