package apis

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// swap moves the routing table from a base to one of its child versions, and
// brings the addresses of everything it routes to up to date.
func (l *Library) swap(ctx context.Context, w store.Writer, base, child apidef.API, now time.Time) error {
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
	case childDoc == nil || base.Class() != child.Class():
		return notChild()
	}
	if err := versions.Rebase(versions.InDocument(oldDoc), versions.InDocument(childDoc), base.APIID(), child.APIID()); err != nil {
		return l.childless(ctx, w, child, err)
	}
	open(childDoc)
	next := apidef.Draft{Class: child.Class(), Document: childDoc}
	if err := l.convert(&next, childDef, link{oldBase: oldDef}); err != nil {
		return err
	}
	former := apidef.Draft{Class: base.Class(), Document: oldDoc}
	if err := l.convert(&former, oldDef, link{base: next.Definition}); err != nil {
		return err
	}
	for _, e := range []struct {
		of apidef.API
		d  apidef.Draft
	}{{base, former}, {child, next}} {
		if _, err := l.kind.Edit(ctx, w, e.of.APIID(), nil, func(a apidef.API) (apidef.API, error) { return a.Rewrite(e.d, now) }); err != nil {
			return err
		}
	}
	promoted, err := l.named(ctx, w, child.APIID())
	if err != nil {
		return err
	}
	if err := l.follow(ctx, w, *promoted, oldDef, next.Definition); err != nil {
		return err
	}
	return notify.Post(ctx, w, signal.Signal{Command: signal.GroupReload})
}

// open makes gateways listen for an API: versions are often internal, because their
// base receives the requests, but requests to an internal base reach nothing.
func open(document *doc.Node) {
	if internal := []string{oas.ExtensionKey, "info", "state", "internal"}; document.Get(internal...).True() {
		document.Put(doc.NewBool(false), internal...)
	}
}

func notChild() error {
	return fault.New(fault.Invalid, versions.CodeNotChild, "next-base-apiId must be a child API")
}

// childless tells an API that is no version of any other from one of another
// base: no table says so by itself.
func (l *Library) childless(ctx context.Context, r store.Reader, next apidef.API, why error) error {
	if fault.CodeOf(why) != versions.CodeNotItsOwn {
		return why
	}
	base, err := l.baseOf(ctx, r, next)
	switch {
	case err != nil:
		return err
	case base == nil:
		return notChild()
	}
	return why
}
