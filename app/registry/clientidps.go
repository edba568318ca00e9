// Package registry holds the use cases of the client IdP registry: who signs tokens,
// and which policy a scope grants on which API (contract dashboard.md 7).
package registry

import (
	"context"
	"log/slog"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// References of an identity provider dangle by contract and are many, so they
// are read from the record when somebody asks, and not indexed with every write.
var clientIDPs = &store.Kind[registry.IdP]{
	Name: registry.Kind, Noun: "client idp", Alias: "client_idp_id", Load: registry.Load, Shared: true,
	ID:  func(p registry.IdP) string { return p.ID },
	Org: func(p registry.IdP) tenant.ID { return p.OrgID },
	Indexes: []store.Index[registry.IdP]{
		store.Unique("client_idp_id", "ID", func(p registry.IdP) string { return p.ClientIdPID }),
	},
}

// ClientIDPs keeps the registry of identity providers (contract dashboard.md 7).
type ClientIDPs struct {
	Store    store.Store
	NewID    system.NewID
	Now      system.Clock
	Log      *slog.Logger
	PageSize int
	// Foreign returns what tells whether an API exists and belongs to others than
	// the caller. Nil, as a function or as what it returns: owners make no difference.
	Foreign func(who operation.Principal) func(ctx context.Context, r store.Reader, apiID string) (bool, error)
	// References says what APIs and policies there are, for those who ask what
	// mappings lead to; nil: they are taken to exist.
	References *crud.References
}

// Examples for the API description.
var (
	exampleMapping = registry.NewMapping([2]string{"read", "gold"}, [2]string{"orders:write", "platinum"})
	exampleDraft   = map[string]any{
		"client_idp_id": "corp", "name": "Corporate login", "issuer": "https://login.example.com/", "scope_claim_name": "scope",
		"jwks_uri": "https://login.example.com/jwks.json", "api_mappings": map[string]any{"orders": exampleMapping},
	}
	exampleIdP = map[string]any{
		"_id": "5f1a0c5d8e3b2a1f00000003", "client_idp_id": "corp", "org_id": "5f1a0c5d8e3b2a1f00000001", "name": "Corporate login",
		"issuer": "https://login.example.com/", "jwks_uri": "https://login.example.com/jwks.json", "scope_claim_name": "scope",
		"api_mappings": map[string]any{"orders": exampleMapping},
		"date_created": "2026-01-02T03:04:05Z", "last_updated": "2026-01-02T03:04:05Z",
	}
)

func receipt(message string, meta any) map[string]any {
	return map[string]any{"Status": "success", "Message": message, "Meta": meta}
}

// choices are the faults of what a client chooses about a provider.
var choices = []string{registry.Kind + ".name", registry.Kind + ".jwks_uri", registry.Kind + ".client_idp_id"}

// Operations lists what clients can do with identity providers.
func (s *ClientIDPs) Operations() []operation.Operation {
	const missing, taken, mappings, unmapped = registry.Kind + ".not_found", registry.Kind + ".taken", registry.Kind + ".mappings", registry.Kind + ".mapping.not_found"
	dry := operation.Rehearsable(s.references().Onlooker)
	// The family knows no 503 for a store that does not answer.
	away := operation.Answer{Status: 500, Text: "internal server error"}
	group := operation.Group{
		Surface: operation.Management, Name: "clientidps", Path: "/api/clientidps", Tag: "Client IdPs", Permission: access.APIs,
		Style: operation.Style{Word: "success", ListKey: "client_idps", Faults: map[string]operation.Answer{
			operation.CodeEmptyBody: {Text: "error reading json body: {message}"},
			operation.CodeMalformed: {Text: "error reading json body: {message}"},
			mappings:                {Text: "error reading json body: {message}"},
			"store.unavailable":     away,
			"deadline":              away,
		}},
	}
	reports := group
	reports.Path = "/api/registry" // a client_idp_id may be any word, so nothing stands beside it
	return slices.Concat(reports.Rows(
		operation.GET("report", "/report", "List mappings that lead nowhere", s.ReportDangling,
			operation.Notes("Of all identity providers of the organisation. Mappings may be made before the APIs and policies they name. What the caller may not see counts as missing."), operation.Example(nil, exampleReport)),
	), group.Rows(
		operation.GET("list", "", "List identity providers", s.List,
			operation.Example(nil, map[string]any{"client_idps": []any{exampleIdP}, "pages": 1})),
		operation.POST("create", "", "Register an identity provider", s.Create, operation.Status(201), operation.Faulting(append(choices, taken, mappings, codeNotOwned)...), operation.Notes(notesOwned),
			operation.Example(exampleDraft, receipt("client idp created", "5f1a0c5d8e3b2a1f00000003"))),
		operation.GET("get", "/{id}", "Fetch an identity provider", s.Get, operation.Faulting(missing), operation.Example(nil, exampleIdP)),
		operation.PUT("replace", "/{id}", "Replace an identity provider", s.Replace, operation.Faulting(append(choices, missing, taken, mappings, codeNotOwned)...), dry,
			operation.Notes("Absent fields become empty; only an absent client_idp_id is kept. "+notesOwned), operation.Example(exampleDraft, exampleIdP)),
		operation.DELETE("delete", "/{id}", "Remove an identity provider and its mappings", s.Delete, operation.Faulting(missing), dry,
			operation.Example(nil, receipt("client idp deleted", nil))),
		operation.PATCH("mappings.patch", "/{id}/mappings", "Merge API mappings", s.PatchMappings, operation.Settles(s.patches), operation.Faulting(missing, mappings, codeNotOwned), dry,
			operation.Notes("A JSON merge patch (RFC 7386) on api_mappings at every level: null removes, what is not mentioned stays. All or nothing. "+notesOwned),
			operation.Example(map[string]any{"orders": map[string]any{"scope_to_policy": map[string]any{"read": "gold", "legacy": nil}}, "old-api": nil}, exampleIdP)),
		operation.GET("mappings.get", "/{id}/mappings/{apiId}", "Fetch the mapping of one API", s.GetMapping, operation.Faulting(missing, unmapped),
			operation.Example(nil, exampleMapping)),
		operation.PUT("mappings.put", "/{id}/mappings/{apiId}", "Set the mapping of one API", s.PutMapping, operation.Faulting(missing, mappings, codeNotOwned), dry,
			operation.Notes("Replaces the mapping of this API, or creates it; other mappings stay. "+notesOwned), operation.Example(exampleMapping, exampleIdP)),
		operation.DELETE("mappings.delete", "/{id}/mappings/{apiId}", "Remove the mapping of one API", s.DeleteMapping, operation.Faulting(missing, unmapped, codeNotOwned), dry,
			operation.Example(nil, receipt("client idp mapping deleted", nil))),
		operation.GET("references", "/{id}/references", "List what an identity provider names", s.ListReferences, operation.Faulting(missing),
			operation.Notes("The APIs and policies of its mappings. What does not exist has no name."), operation.Example(nil, exampleReferences)),
	))
}

type byID struct {
	Scope tenant.Scope
	Who   operation.Principal
	ID    string `path:"id" doc:"client_idp_id, or else _id, of the identity provider."`
}

type writeByID struct {
	byID
	Match operation.Match
}

type listIn struct {
	Scope tenant.Scope
	operation.Paging
}

// List returns a page of the organisation's identity providers, oldest first.
func (s *ClientIDPs) List(ctx context.Context, in listIn) (out operation.Page[registry.IdP], err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		out, err = operation.List(ctx, clientIDPs, r, in.Paging, s.PageSize)
		return err
	})
	return out, err
}

type createIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	Draft registry.Draft `body:""`
}

// Create registers an identity provider.
func (s *ClientIDPs) Create(ctx context.Context, in createIn) (operation.Receipt, error) {
	if o := s.owners(in.Who); o != nil {
		if err := s.Store.View(ctx, in.Scope, func(r store.Reader) error {
			return o.admit(ctx, r, replacing(in.Draft.APIMappings)(registry.IdP{}))
		}); err != nil {
			return operation.Receipt{}, err
		}
	}
	p, err := registry.New(s.NewID(), in.Scope.Org(), s.Now(), in.Draft)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := store.Write(ctx, s.Store, in.Scope, func(w store.Writer) (store.Serial, error) { return clientIDPs.Create(ctx, w, p) })
	if err == nil {
		s.advise(ctx, p)
	}
	return operation.Receipt{Message: "client idp created", Meta: p.ID, Tag: operation.Tag(at)}, err
}

// advise warns of an identity provider that gateways may be unable to use.
func (s *ClientIDPs) advise(ctx context.Context, p registry.IdP) {
	if doubt := p.KeySourceDoubt(); doubt != "" && !store.Rehearsing(ctx) {
		s.Log.Warn("client idp stored, but "+doubt, "id", p.ID, "org_id", string(p.OrgID))
	}
}

// Get returns one identity provider.
func (s *ClientIDPs) Get(ctx context.Context, in byID) (operation.Entity[registry.IdP], error) {
	p, err := s.get(ctx, in)
	return entity(p.Value, p.Serial), err
}

func (s *ClientIDPs) get(ctx context.Context, in byID) (p store.Stored[registry.IdP], err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		p, err = clientIDPs.Get(ctx, r, in.ID)
		return err
	})
	return p, err
}

func entity[T any](v T, at store.Serial) operation.Entity[T] {
	return operation.Entity[T]{Value: v, Tag: operation.Tag(at)}
}

type replaceIn struct {
	writeByID
	Draft registry.Draft `body:""`
}

// Replace replaces what the client may choose.
func (s *ClientIDPs) Replace(ctx context.Context, in replaceIn) (operation.Entity[registry.IdP], error) {
	now := s.Now()
	p, err := s.edit(ctx, in.byID, replacing(in.Draft.APIMappings), in.Match.Check, func(p registry.IdP) (registry.IdP, error) { return p.Replace(in.Draft, now) })
	if err == nil {
		s.advise(ctx, p.Value)
	}
	return p, err
}

// Delete removes an identity provider.
func (s *ClientIDPs) Delete(ctx context.Context, in writeByID) (operation.Receipt, error) {
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		_, err := clientIDPs.Delete(ctx, w, in.ID, in.Match.Check)
		return err
	})
	return operation.Receipt{Message: "client idp deleted"}, err
}

// edit rewrites one identity provider in a unit of work of its own, if the mappings
// that it touches are the caller's to change. It asks about the APIs before the unit
// of work, which then only asks about those that came in between: a large table must
// not keep other writers waiting.
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
			if err := o.admit(ctx, w, touched(old)); err != nil {
				return old, err
			}
			return fn(old)
		})
		return err
	})
	return entity(p.Value, p.Serial), err
}
