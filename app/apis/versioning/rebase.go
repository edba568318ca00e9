package versioning

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/apis/forms"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of the faults of a rebase.
const (
	CodeNoCurrent = apidef.Kind + ".current_base"
	CodeNoNext    = apidef.Kind + ".next_base"
)

// Rebase makes a child version the base, and the base its child. It returns the
// serial of the former base.
func (s *Service) Rebase(ctx context.Context, scope tenant.Scope, who operation.Principal, current, next string) (store.Serial, error) {
	now := s.APIs.Now()
	return store.Write(ctx, s.APIs.Store, scope, func(w store.Writer) (store.Serial, error) {
		v := s.APIs.Viewer(who, apidef.OAS, access.Write)
		base, err := s.APIs.Get(ctx, w, current, v)
		if fault.KindOf(err) == fault.NotFound {
			err = fault.New(fault.NotFound, CodeNoCurrent, "Could not retrieve current base API")
		}
		if err != nil {
			return 0, err
		}
		child, err := s.APIs.Get(ctx, w, next, v)
		if fault.KindOf(err) == fault.NotFound {
			err = fault.New(fault.NotFound, CodeNoNext, "Could not retrieve next base API")
		}
		if err != nil {
			return 0, err
		}
		if err := s.swap(ctx, w, base.Value, child.Value, now); err != nil {
			return 0, err
		}
		base, err = s.APIs.Get(ctx, w, current, v)
		return base.Serial, err
	})
}

// swap moves the routing table from a base to one of its child versions, and updates
// the addresses of all APIs in the table.
func (s *Service) swap(ctx context.Context, w store.Writer, base, child apidef.API, now time.Time) error {
	oldDef, oldDoc, err := base.Texts()
	if err != nil {
		return err
	}
	childDef, childDoc, err := child.Texts()
	if err != nil {
		return err
	}
	switch {
	case oldDoc == nil:
		return fault.New(fault.Invalid, versions.CodeNotBase, "current-base-apiId must be a base API")
	case childDoc == nil || !sameFamily(base.Class(), child.Class()):
		return notChild
	}
	if err := versions.Rebase(versions.InDocument(oldDoc), versions.InDocument(childDoc), base.APIID(), child.APIID()); err != nil {
		if fault.CodeOf(err) != versions.CodeNotItsOwn {
			return err
		}
		// The child may be a version of no API, or of another base, which the two
		// tables do not show.
		of, failed := s.Base(ctx, w, child)
		switch {
		case failed != nil:
			return failed
		case of == nil:
			return notChild
		}
		return err
	}
	// The new base must not be internal: versions often are, because their base
	// receives the requests, but gateways do not listen for an internal base.
	if internal := []string{oas.ExtensionKey, "info", "state", "internal"}; childDoc.Get(internal...).True() {
		childDoc.Put(doc.NewBool(false), internal...)
	}
	promoted := apidef.Draft{Class: child.Class(), Document: childDoc}
	if err := s.relink(ctx, w, &promoted, child, childDef, base, forms.Link{OldBase: oldDef}); err != nil {
		return err
	}
	former := apidef.Draft{Class: base.Class(), Document: oldDoc}
	if err := s.relink(ctx, w, &former, base, oldDef, child, forms.Link{Base: promoted.Definition}); err != nil {
		return err
	}
	if _, err := s.APIs.Kind.Edit(ctx, w, base.APIID(), nil, func(a apidef.API) (apidef.API, error) { return a.Rewrite(former, now) }); err != nil {
		return err
	}
	next, err := s.APIs.Kind.Edit(ctx, w, child.APIID(), nil, func(a apidef.API) (apidef.API, error) { return a.Rewrite(promoted, now) })
	if err != nil {
		return err
	}
	if err := s.APIs.Acyclic(ctx, w, &child, next); err != nil { // another version of the former base may lead to it
		return err
	}
	if err := s.Follow(ctx, w, next, oldDef, promoted.Definition); err != nil {
		return err
	}
	return notify.Post(ctx, w, signal.Signal{Command: signal.GroupReload})
}

// relink converts the new document of an API that changes places with another one. Further
// bases may route to it.
func (s *Service) relink(ctx context.Context, r store.Reader, d *apidef.Draft, a apidef.API, stored *doc.Node, with apidef.API, k forms.Link) (err error) {
	if k.Others, err = s.others(ctx, r, a.APIID(), with.ID(), nil); err != nil {
		return err
	}
	return s.Forms.Convert(d, stored, k)
}

var notChild error = fault.New(fault.Invalid, versions.CodeNotChild, "next-base-apiId must be a child API")
