package dashboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/registry"
)

// Registry is what a dashboard tells gateways about tokens and certificates: its registry of
// client IdPs, its certificate store, and the API definitions.
type Registry interface {
	Certificates
	// Entry returns the entry with a client_idp_id.
	Entry(ctx context.Context, id string) (registry.Draft, error)
	// PutEntry creates or replaces an entry. An existing entry keeps its mappings, and a new one
	// gets none.
	PutEntry(ctx context.Context, e registry.Draft) error
	// PatchEntry applies a merge patch to the mappings of an entry.
	PatchEntry(ctx context.Context, id string, patch *doc.Node) error
	// DeleteEntry removes an entry with its mappings. It returns no error if the entry is gone.
	DeleteEntry(ctx context.Context, id string) error
	// Definition returns the definition of an API, and ReplaceDefinition writes it. The error is
	// ErrChanged if another writer has changed it meanwhile.
	Definition(ctx context.Context, api string) (Definition, error)
	ReplaceDefinition(ctx context.Context, d Definition) error
}

// Definition is an API as a dashboard sends it: an OpenAPI document, or the wrapper of a
// classic definition.
type Definition struct {
	API      string
	Document *doc.Node
	OAS      bool
	Tag      string // identifies this state of the definition; "" when the dashboard has none
}

// Wire carries out one operation of a dashboard, in the same process by its name, or over HTTP
// by method and path. It may repeat reads only.
type Wire func(ctx context.Context, r Request) (Answer, error)

// Request is one operation.
type Request struct {
	Operation     string
	Method, Path  string            // the path has {name} for each member of Params
	Param, Record string            // name and value of the parameter; "": the path has none
	Params        map[string]string // for a path with several parameters
	Query         map[string][]string
	Tag           string // precondition: the expected Tag
	Body          []byte
	File          []byte // instead of Body: the only file of a form
	Waits         bool   // a conflict means that another change is in progress: try again later
}

// Answer is the response to a Request.
type Answer struct {
	Body []byte
	Tag  string
}

// Entries is a Registry over a Wire.
type Entries struct{ Wire Wire }

func entry(operation, method, rest, id, tag string, body []byte) Request {
	return Request{Operation: "clientidps." + operation, Method: method, Path: "/api/clientidps/{id}" + rest, Param: "id", Record: id, Tag: tag, Body: body}
}

// read returns an entry and its tag.
func (e Entries) read(ctx context.Context, id string) (registry.Draft, string, error) {
	a, err := e.Wire(ctx, entry("get", "GET", "", id, "", nil))
	if err != nil {
		return registry.Draft{}, "", err
	}
	p, err := registry.Load(bytes.Clone(a.Body))
	if err != nil {
		return registry.Draft{}, "", fmt.Errorf("%w: its entry is not JSON", ErrUnreachable)
	}
	if p.ClientIdPID != id { // id is the _id of another entry
		return registry.Draft{}, "", fmt.Errorf("another entry answers to the name: %w", ErrRefused)
	}
	return registry.Draft{ClientIdPID: p.ClientIdPID, Name: p.Name, Issuer: p.Issuer, JWKSURI: p.JWKSURI, ScopeClaim: p.ScopeClaim, APIMappings: p.APIMappings}, a.Tag, nil
}

// Entry implements Registry.
func (e Entries) Entry(ctx context.Context, id string) (registry.Draft, error) {
	out, _, err := e.read(ctx, id)
	return out, about("read", id, err)
}

// PutEntry implements Registry.
func (e Entries) PutEntry(ctx context.Context, want registry.Draft) error {
	id := want.ClientIdPID
	was, tag, err := e.read(ctx, id)
	body, encoded := json.Marshal(struct {
		registry.Draft
		ScopeClaim  string            `json:"scope_claim_name"` // both are sent even when they are empty
		APIMappings registry.Mappings `json:"api_mappings"`
	}{want, want.ScopeClaim, was.APIMappings})
	switch {
	case encoded != nil:
		return encoded
	case errors.Is(err, ErrGone):
		_, err = e.Wire(ctx, Request{Operation: "clientidps.create", Method: "POST", Path: "/api/clientidps", Body: body})
		return about("create", id, err)
	case err != nil:
		return about("read", id, err)
	case was.Name == want.Name && was.Issuer == want.Issuer && was.JWKSURI == want.JWKSURI && was.ScopeClaim == want.ScopeClaim:
		return nil
	}
	_, err = e.Wire(ctx, entry("replace", "PUT", "", id, tag, body))
	return about("change", id, err)
}

// PatchEntry implements Registry.
func (e Entries) PatchEntry(ctx context.Context, id string, patch *doc.Node) error {
	_, err := e.Wire(ctx, entry("mappings.patch", "PATCH", "/mappings", id, "", patch.JSON()))
	return about("change the mappings of", id, err)
}

// DeleteEntry implements Registry.
func (e Entries) DeleteEntry(ctx context.Context, id string) error {
	_, _, err := e.read(ctx, id)
	if err == nil {
		_, err = e.Wire(ctx, entry("delete", "DELETE", "", id, "", nil))
	}
	if errors.Is(err, ErrGone) {
		err = nil
	}
	return about("delete", id, err)
}

func about(what, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s the identity provider %s in the registry: %w", what, id, err)
}

func api(operation, method, path, id, tag string, body []byte) Request {
	return Request{Operation: operation, Method: method, Path: path, Param: "apiId", Record: id, Tag: tag, Body: body}
}

// Definition implements Registry.
func (e Entries) Definition(ctx context.Context, id string) (Definition, error) {
	d := Definition{API: id}
	a, err := e.Wire(ctx, api("apis.get", "GET", "/api/apis/{apiId}", id, "", nil))
	if err == nil {
		d.Document, d.Tag, err = parsed(a)
	}
	if err == nil && d.Document.Get("api_definition", "is_oas").True() {
		d.OAS = true
		if a, err = e.Wire(ctx, api("apis.oas.get", "GET", "/api/apis/oas/{apiId}", id, "", nil)); err == nil {
			d.Document, d.Tag, err = parsed(a)
		}
	}
	if err != nil {
		return Definition{}, fmt.Errorf("read the definition of the API %s: %w", id, err)
	}
	return d, nil
}

func parsed(a Answer) (*doc.Node, string, error) {
	n, err := doc.ParseNode(bytes.Clone(a.Body))
	if err != nil || !n.Is(doc.TypeObject) {
		return nil, "", fmt.Errorf("%w: its definition is not JSON", ErrUnreachable)
	}
	return n, a.Tag, nil
}

// ReplaceDefinition implements Registry.
func (e Entries) ReplaceDefinition(ctx context.Context, d Definition) error {
	r := api("apis.replace", "PUT", "/api/apis/{apiId}", d.API, d.Tag, d.Document.JSON())
	if d.OAS {
		r.Operation, r.Path = "apis.oas.replace", "/api/apis/oas/{apiId}"
	}
	if _, err := e.Wire(ctx, r); err != nil {
		return fmt.Errorf("write the definition of the API %s: %w", d.API, err)
	}
	return nil
}
