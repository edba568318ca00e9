// Package importing stores complete APIs from elsewhere: from a file, or from another
// control plane.
package importing

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/pairing"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Service imports APIs.
type Service struct {
	APIs  *apis.Repository
	Forms *forms.Forms
}

// Incoming is a complete API from elsewhere. The service may modify its trees.
type Incoming struct {
	APIID      string
	Class      apidef.Class
	Definition *doc.Node // classic form; nil: it is derived from the document
	Document   *doc.Node // nil for a classic API
	Wrapper    doc.Object
}

// Checked is a valid Incoming.
type Checked struct {
	draft  apidef.Draft
	wanted string // database ID, or ""
}

// Check completes an API for an organisation and returns all of its problems. Unknown
// members of the extension are accepted, because a newer gateway may know them. Fields
// of problems are those of the document, or of the classic definition.
func (s *Service) Check(in Incoming, org tenant.ID) (Checked, []validation.Problem) {
	for _, name := range []string{"user_owners", "user_group_owners"} {
		// Clients that do not know owners send null: the API keeps its owners, and is
		// not opened to all users.
		if raw, ok := in.Wrapper.Get(name); ok && doc.IsNull(raw) {
			in.Wrapper = in.Wrapper.Without(name)
		}
	}
	out := Checked{draft: apidef.Draft{
		ID: forms.AnyID, APIID: in.APIID, OrgID: org, Class: in.Class, Definition: in.Definition, Document: in.Document, Wrapper: in.Wrapper,
	}}
	if text, ok := in.Wrapper.Get("created_at"); ok {
		_ = json.Unmarshal(text, &out.draft.Created) // an invalid time is ignored
	}
	for _, id := range []string{in.Definition.Get("id").Text(), in.Document.Get(oas.ExtensionKey, "info", "dbId").Text()} {
		if id = strings.ToLower(id); out.wanted == "" && shape.IsObjectID(id) {
			out.wanted = id
		}
	}
	return out, s.Forms.Incoming(&out.draft)
}

// Put stores an API in a unit of work of one organisation. It replaces the API with the
// same API ID. Otherwise it creates a new one, under its old database ID if that is
// free. The operation is empty if the same API is stored already: then nothing is
// written.
func (s *Service) Put(ctx context.Context, w store.Writer, c Checked) (store.Op, error) {
	now := s.APIs.Now()
	d := c.draft
	d.Definition, d.Document = d.Definition.Clone(), d.Document.Clone() // a unit of work may run again
	old, err := s.APIs.Named(ctx, w, d.APIID)
	if err == nil {
		err = s.pair(ctx, w, &d, old)
	}
	if err != nil {
		return "", err
	}
	// All checks come before the webhooks are created, so that a refused API leaves
	// nothing behind.
	if old == nil {
		if d.ID, err = s.freeID(ctx, w, c.wanted); err != nil {
			return "", err
		}
		a, err := apidef.New(d, now)
		if err == nil {
			err = s.APIs.Acyclic(ctx, w, nil, a)
		}
		if err == nil {
			err = s.APIs.Fits(ctx, w, a)
		}
		if err == nil {
			err = s.APIs.Adopt(ctx, w, d.OrgID, d.Wrapper)
		}
		if err != nil {
			return "", err
		}
		_, err = s.APIs.Add(ctx, w, a)
		return store.Created, err
	}
	next, err := old.As(d.Class).Rewrite(d, old.Updated())
	if err == nil {
		err = s.APIs.Acyclic(ctx, w, old, next)
	}
	if err == nil && !old.Same(next) {
		err = s.APIs.Becomes(ctx, w, *old, next)
	}
	if err == nil {
		err = s.APIs.Adopt(ctx, w, d.OrgID, d.Wrapper)
	}
	if err == nil {
		next, err = s.APIs.Embed(ctx, w, next)
	}
	if err != nil || old.Same(next) {
		return "", err
	}
	return store.Updated, s.APIs.Put(ctx, w, old.APIID(), func(a apidef.API) (apidef.API, error) { return a.As(d.Class).Rewrite(d, now) })
}

// pair completes an MCP proxy that offers the operations of a REST API from that API,
// which must exist.
func (s *Service) pair(ctx context.Context, r store.Reader, d *apidef.Draft, old *apidef.API) error {
	if _, paired := oas.PairedSource(d.Document.Get(oas.ExtensionKey, "upstream", "url").Text()); d.Class != apidef.MCP || !paired {
		return nil
	}
	if old != nil {
		d.ID = old.ID()
	}
	if err := pairing.Check(ctx, r, s.APIs, apidef.Viewer{All: true}, d); err != nil {
		return err
	}
	d.Definition = oas.Extract(d.Document, d.Definition, oas.Options{MCP: true})
	return nil
}

// freeID returns the wanted database ID if no API has it, or a new one.
func (s *Service) freeID(ctx context.Context, r store.Reader, wanted string) (string, error) {
	if wanted == "" {
		return s.APIs.NewID(), nil
	}
	for _, err := range s.APIs.Kind.Find(ctx, r, store.Query{ID: wanted, Limit: 1}) {
		return s.APIs.NewID(), err
	}
	return wanted, nil
}
