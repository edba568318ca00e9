// Package registry holds the use cases of the client IdP registry: the identity
// providers that sign tokens, and the policy that a scope grants on an API.
package registry

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// References of an identity provider may dangle (docs/wire/client-idps.md#references),
// and there are many of them. So they are not indexed with every write, but read from
// the records when needed.
var clientIDPs = &store.Kind[registry.IdP]{
	Name: registry.Kind, Noun: "client idp", Alias: "client_idp_id", Load: registry.Load, Shared: true,
	ID:  func(p registry.IdP) string { return p.ID },
	Org: func(p registry.IdP) tenant.ID { return p.OrgID },
	Indexes: []store.Index[registry.IdP]{
		store.Unique("client_idp_id", "ID", func(p registry.IdP) string { return p.ClientIdPID }),
	},
}

// ClientIDPs manages the registry of identity providers.
type ClientIDPs struct {
	crud.Tools
	// Foreign returns a function that reports whether an API exists and the caller may
	// not see it because of its owners. If Foreign or the returned function is nil,
	// owners are ignored.
	Foreign func(who operation.Principal) func(ctx context.Context, r store.Reader, apiID string) (bool, error)
	Room    doc.Room // bounds an identity provider, so that a request body can hold it
}

// exampleMapping is for the API description.
var exampleMapping = registry.NewMapping([2]string{"read", "gold"}, [2]string{"orders:write", "platinum"})

// Codes of faults.
const (
	missing  = registry.Kind + ".not_found"
	mappings = registry.Kind + ".mappings"
	unmapped = registry.Kind + ".mapping.not_found"
	tooLarge = registry.Kind + ".too_large"
)

// change is one write of an identity provider.
type change = crud.Change[registry.IdP, registry.Draft]

// resource is the resource of identity providers, which refer to APIs and policies in
// their mappings.
var resource = crud.Resource[registry.IdP, registry.Draft]{
	Facts: crud.Facts[registry.IdP]{
		Kind: clientIDPs, Name: func(p registry.IdP) string { return p.Name }, Uses: uses,
		Announces: signal.Always(signal.ClientIdPChanged, clientIDPs.Alias),
		Feed:      Feed(),
		Past:      crud.AsStored[registry.IdP],
	},
	Group: operation.Group{
		Surface: operation.Management, Name: "clientidps", Path: "/api/clientidps", Tag: "Client IdPs", Permission: access.APIs,
		Style: operation.Style{Word: "success", ListKey: "client_idps", Faults: map[string]operation.Answer{
			operation.CodeEmptyBody: {Text: "error reading json body: {message}"},
			operation.CodeMalformed: {Text: "error reading json body: {message}"},
			mappings:                {Text: "error reading json body: {message}"},
		}},
	},
	Words: crud.Words{One: "an identity provider", Many: "identity providers", Created: "client idp created", Deleted: "client idp deleted",
		ParamDoc: "The client_idp_id or the _id of the identity provider. A client_idp_id takes precedence."},
	New: func(at crud.Stamp, d registry.Draft) (registry.IdP, error) {
		return registry.New(at.ID, at.Org, at.Now(), d)
	},
	Replace: func(p registry.IdP, d registry.Draft, now system.Clock) (registry.IdP, error) {
		return p.Replace(d, now())
	},
	Draft: map[string]any{
		"client_idp_id": "corp", "name": "Corporate login", "issuer": "https://login.example.com/", "scope_claim_name": "scope",
		"jwks_uri": "https://login.example.com/jwks.json", "api_mappings": map[string]any{"orders": exampleMapping},
	},
	Faults: []string{registry.Kind + ".name", registry.Kind + ".jwks_uri", registry.Kind + ".client_idp_id", mappings, codeNotOwned},
}

// Registration returns the registration of the kind of identity providers.
func Registration() crud.Registration {
	r := resource.Registration()
	r.Operations = nil // ClientIDPs lists them together with its own operations
	return r
}

// Operations lists the operations on identity providers.
func (s *ClientIDPs) Operations() []operation.Operation {
	r := resource
	r.Prepare, r.Before, r.Done = s.mayMap, mayStillMap, s.advise
	t := s.Tools
	t.References = s.references()
	o, idp := r.With(t), r.Example()
	dry := operation.Rehearsable(t.References.Onlooker)
	reports := r.Group
	reports.Path = "/api/registry" // a path of its own, because a client_idp_id may be any word
	ops := slices.Concat(reports.Rows(
		operation.GET("report", "/report", "List dangling mappings", s.ReportDangling,
			operation.Notes("The report covers all identity providers of the organisation. A mapping may exist before the APIs and policies that it names. Resources that the caller may not see count as missing."), operation.Example(nil, exampleReport)),
	), r.Group.Rows(
		o.List(),
		o.Insert(operation.Summary("Register an identity provider"), operation.Status(201), operation.Notes(notesWhole)),
		o.Get(),
		o.Edit(operation.Notes("Absent fields become empty, except client_idp_id, which keeps its value. "+notesWhole)),
		o.Delete(operation.Summary("Remove an identity provider and its mappings")),
		operation.PATCH("mappings.patch", "/{id}/mappings", "Merge API mappings", s.PatchMappings, operation.Settles(s.patches), operation.Faulting(missing, mappings, tooLarge, codeNotOwned), dry,
			operation.Notes("The body is a JSON merge patch (RFC 7386) for api_mappings. At every level, null removes a member, and members that are not mentioned do not change. The patch is applied as a whole or not at all. "+notesOwned),
			operation.Example(map[string]any{"orders": map[string]any{"scope_to_policy": map[string]any{"read": "gold", "legacy": nil}}, "old-api": nil}, idp)),
		operation.GET("mappings.get", "/{id}/mappings/{apiId}", "Fetch the mapping of one API", s.GetMapping, operation.Faulting(missing, unmapped),
			operation.Example(nil, exampleMapping)),
		operation.PUT("mappings.put", "/{id}/mappings/{apiId}", "Set the mapping of one API", s.PutMapping, operation.Faulting(missing, mappings, tooLarge, codeNotOwned), dry,
			operation.Notes("Replaces or creates the mapping of this API. Other mappings do not change. "+notesOwned), operation.Example(exampleMapping, idp)),
		operation.DELETE("mappings.delete", "/{id}/mappings/{apiId}", "Remove the mapping of one API", s.DeleteMapping, operation.Faulting(missing, unmapped, codeNotOwned), dry,
			operation.Example(nil, operation.Receipt{Message: "client idp mapping deleted"})),
		operation.GET("references", "/{id}/references", "List the references of an identity provider", s.ListReferences, operation.Faulting(missing),
			operation.Notes("The list has the APIs and policies in its mappings. A missing API or policy has no name."), operation.Example(nil, exampleReferences)),
	))
	for i := range ops {
		doing := "saving"
		switch ops[i].Method {
		case "GET":
			doing = "reading"
		case "DELETE":
			doing = "deleting"
		}
		// The response when the store fails: these operations have no 503
		// (docs/wire/errors.md).
		plain := operation.Answer{Status: 500, Text: "error " + doing + " client idp"}
		faults := map[string]operation.Answer{
			"store.unavailable": plain, "deadline": plain, fault.Internal.String(): plain,
			"store.gone": {Status: 500, Text: plain.Text + ": {message}"},
		}
		maps.Copy(faults, ops[i].Style.Faults)
		ops[i].Style.Faults = faults
	}
	return ops
}

// mayMap refuses to create or replace an identity provider if the write concerns
// mappings of APIs that the caller may not see.
func (s *ClientIDPs) mayMap(ctx context.Context, c *change) error {
	if c.Op == store.Updated {
		c.Now() // sets the date of the change before the APIs are read, which may take long
	}
	o := s.owners(c.Who)
	if o == nil || c.Op == store.Deleted {
		return nil
	}
	c.Memo = o
	return s.Store.View(ctx, c.Scope, func(r store.Reader) error {
		var old registry.IdP
		if c.Op == store.Updated {
			p, err := clientIDPs.Get(ctx, r, c.ID)
			if err != nil {
				return err
			}
			old = p.Value
		}
		return o.admit(ctx, r, replacing(c.Draft)(old))
	})
}

// mayStillMap checks again in the unit of work, for APIs that were added meanwhile.
func mayStillMap(ctx context.Context, w store.Writer, c *change) error {
	o, _ := c.Memo.(*owners)
	if c.Op != store.Updated {
		return nil
	}
	return o.admit(ctx, w, replacing(c.Draft)(c.Old))
}

// advise logs a warning about an identity provider that gateways may be unable to use.
func (s *ClientIDPs) advise(_ context.Context, c *change) {
	if doubt := c.New.KeySourceDoubt(); doubt != "" && c.Op != store.Deleted {
		s.Log.Warn("client idp stored, but "+doubt, "id", c.New.ID, "org_id", string(c.New.OrgID))
	}
}

type byID struct {
	Scope tenant.Scope
	Who   operation.Principal
	ID    string `path:"id" doc:"The client_idp_id or the _id of the identity provider. A client_idp_id takes precedence."`
}

type writeByID struct {
	byID
	Match operation.Match
}

func (s *ClientIDPs) get(ctx context.Context, in byID) (p store.Stored[registry.IdP], err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		p, err = clientIDPs.Get(ctx, r, in.ID)
		return err
	})
	return p, err
}

// edit changes one identity provider in a unit of work of its own, if the caller may
// change the mappings that the write touches. It checks the APIs before the unit of
// work, which then checks only APIs that were added meanwhile: a large table must not
// block other writers.
func (s *ClientIDPs) edit(ctx context.Context, in byID, touched touching, when store.Condition, fn func(registry.IdP) (registry.IdP, error)) (operation.Entity[registry.IdP], error) {
	var p store.Stored[registry.IdP]
	o := s.owners(in.Who)
	if o != nil {
		if err := s.Store.View(ctx, in.Scope, func(r store.Reader) error {
			old, err := clientIDPs.Get(ctx, r, in.ID)
			if err != nil {
				return err
			}
			return o.admit(ctx, r, touched(old.Value))
		}); err != nil {
			return operation.Entity[registry.IdP]{}, err
		}
	}
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) (err error) {
		p, err = clientIDPs.Revise(ctx, w, in.ID, when, func(old registry.IdP) (registry.IdP, error) {
			if o != nil {
				if err := o.admit(ctx, w, touched(old)); err != nil {
					return old, err
				}
			}
			next, err := fn(old)
			if err != nil {
				return old, err
			}
			if s.Room.Holds(next.Most()) { // almost always; a large one is encoded once more
				return next, nil
			}
			if why := s.Room.LackText(text(next), func() []byte { return text(old) }); why != "" {
				return old, fault.New(fault.TooLarge, tooLarge, "client idp would be too large to be sent back: %s", why)
			}
			return next, nil
		})
		return err
	})
	return operation.EntityOf(p.Value, p.Serial), err
}

// Texts of the API description about who may change which mapping.
const (
	notesOwned = "While enable_ownership is on, only owners and admins may change the mapping of an API that has owners; other callers get 401."
	notesWhole = "While enable_ownership is on, only owners and admins may add or change the mapping of an API that has owners, or keep such a mapping and change issuer, jwks_uri or scope_claim_name; other callers get 401."
)

// codeNotOwned is the code of the fault of a write to the mapping of an API that the
// caller may not see.
const codeNotOwned = registry.Kind + ".not_owned"

// touching returns the APIs whose mappings a write concerns, given the stored record.
type touching func(old registry.IdP) iter.Seq[string]

// replacing returns the touching of a write of a whole record. The write concerns the
// APIs whose mappings it adds or changes. If it changes the keys of the tokens, it also
// concerns the mappings that it keeps. It does not concern the mappings that it
// removes, because a caller that may write the record may also delete it.
func replacing(next registry.Draft) touching {
	return func(old registry.IdP) iter.Seq[string] {
		return func(yield func(string) bool) {
			trusted := old.Issuer == next.Issuer && old.JWKSURI == next.JWKSURI && old.ScopeClaim == next.ScopeClaim
			for api, m := range next.APIMappings.All() {
				if was, mapped := old.APIMappings.Get(api); mapped && trusted && m.Equal(was) {
					continue
				}
				if !yield(api) {
					return
				}
			}
		}
	}
}

// owners checks, for one request, that no mapping of an API is touched that exists and
// that the caller may not see. It reads each API once. A nil owners refuses nothing.
type owners struct {
	foreign  func(ctx context.Context, r store.Reader, apiID string) (bool, error)
	admitted map[string]bool
}

func (s *ClientIDPs) owners(who operation.Principal) *owners {
	if s.Foreign == nil {
		return nil
	}
	foreign := s.Foreign(who)
	if foreign == nil {
		return nil
	}
	return &owners{foreign: foreign, admitted: map[string]bool{}}
}

func (o *owners) admit(ctx context.Context, r store.Reader, apis iter.Seq[string]) error {
	if o == nil {
		return nil
	}
	for api := range apis {
		if o.admitted[api] {
			continue
		}
		switch foreign, err := o.foreign(ctx, r, api); {
		case err != nil:
			return err
		case foreign:
			return fault.New(fault.Unauthenticated, codeNotOwned, "Not authorised")
		}
		o.admitted[api] = true
	}
	return nil
}

// Feed is the feed of the registry of identity providers.
func Feed() *gateway.Source {
	return &gateway.Source{Name: "clientidps", What: "client IdP", Kind: registry.Kind, Uses: []string{apidef.Kind}, Entry: func(rec store.Record, l gateway.Lookup) feed.Entry {
		return feed.ClientIDP(rec.Doc, func(apiID string) []tenant.ID { return l.Orgs(apidef.Kind, "api_id", apiID) })
	}}
}
