package documents

import (
	"context"
	"crypto/sha256"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/app/apis/pairing"
	"github.com/gatehouse-io/gatehouse/app/apis/versioning"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Rewrite replaces the document of a stored API of one of the classes; its class stays.
// build returns the new document, which Rewrite may modify.
func (s *Service) Rewrite(ctx context.Context, in ReplaceIn, build func(apidef.API) (*doc.Node, error), classes ...apidef.Class) (store.Serial, error) {
	now := s.APIs.Now()
	v := s.APIs.Viewer(in.Who, classes[0], access.Write)
	next := func(a apidef.API) (d apidef.Draft, err error) {
		if err = apis.CheckClass(a, classes...); err != nil {
			return d, err
		}
		d = apidef.Draft{ID: a.ID(), APIID: a.APIID(), OrgID: a.OrgID(), Class: a.Class()}
		if d.Document, err = build(a); err != nil {
			return d, err
		}
		if id := d.Document.Get(oas.ExtensionKey, "info", "id").Text(); id != "" && id != d.APIID {
			return d, fault.New(fault.Invalid, apis.CodeWrongID, "Invalid `ID` value").At("x-tyk-api-gateway.info.id")
		}
		forms.Identify(d)
		return d, nil
	}
	check := s.checkAhead(ctx, in, v, next)
	return store.Write(ctx, s.APIs.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		var before, after, document *doc.Node
		a, err := s.APIs.Edit(ctx, w, in.ID, in.Match, v, func(a apidef.API) (apidef.API, error) {
			d, err := next(a)
			if err == nil {
				err = check(d)
			}
			if err == nil {
				err = versioning.CheckTable(d, &a)
			}
			if err == nil {
				before, document, err = a.Texts()
			}
			if err == nil {
				err = s.derive(ctx, w, in.Who, &d, a, before)
			}
			if err == nil {
				err = s.Forms.Writable(d.Document, document)
			}
			if err != nil {
				return a, err
			}
			after = d.Definition
			return a.Rewrite(d, now)
		})
		if err != nil {
			return 0, err
		}
		return a.Serial, s.Versions.Follow(ctx, w, a.Value, before, after)
	})
}

// checkAhead checks the new document before the unit of work, because checking a large
// document takes longer than everything else. The returned function returns that result
// again, and repeats the check only if the document has become another one meanwhile.
// It keeps only the hash of the document, because the text may be large.
func (s *Service) checkAhead(ctx context.Context, in ReplaceIn, v apidef.Viewer, next func(apidef.API) (apidef.Draft, error)) func(apidef.Draft) error {
	var checked [sha256.Size]byte
	var verdict error
	// The unit of work reports all other errors.
	_ = s.APIs.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := s.APIs.Get(ctx, r, in.ID, v)
		if err != nil {
			return err
		}
		d, err := next(a.Value)
		if err == nil {
			checked, verdict = sumOf(d.Document), s.Forms.Document(d.Document, d.Class, in.Unknown)
		}
		return err
	})
	return func(d apidef.Draft) error {
		if checked == sumOf(d.Document) {
			return verdict
		}
		return s.Forms.Document(d.Document, d.Class, in.Unknown)
	}
}

// derive makes the classic form of the new document of a stored API. stored is the
// stored classic form.
func (s *Service) derive(ctx context.Context, r store.Reader, who operation.Principal, d *apidef.Draft, a apidef.API, stored *doc.Node) error {
	if err := pairing.Check(ctx, r, s.APIs, s.APIs.Viewer(who, apidef.MCP, access.Read), d); err != nil {
		return err
	}
	k, err := s.Versions.Link(ctx, r, a)
	if err != nil {
		return err
	}
	return s.Forms.Convert(d, stored, k)
}

// sumOf returns the hash of a document's text without allocating the whole text.
func sumOf(document *doc.Node) (sum [sha256.Size]byte) {
	h := sha256.New()
	_ = document.WriteJSON(h) // writing to a hash does not fail
	h.Sum(sum[:0])
	return sum
}
