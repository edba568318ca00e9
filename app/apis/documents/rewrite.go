package apis

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// rewrite replaces the document of a stored API of one of the classes, of which it
// stays. build returns the new document, which becomes the caller's to change.
func (l *Library) rewrite(ctx context.Context, in writeByID, unknown bool, build func(a apidef.API) (*doc.Node, error), classes ...apidef.Class) (store.Serial, error) {
	now := l.Now()
	ahead := l.checkAhead(ctx, in, unknown, build, classes...)
	return store.Write(ctx, l.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		var before, after *doc.Node
		a, err := l.edit(ctx, w, in, l.viewerOf(classes[0], in.Who, access.Write), func(a apidef.API) (apidef.API, error) {
			if err := l.isA(a, classes...); err != nil {
				return a, err
			}
			document, err := build(a)
			if err != nil {
				return a, err
			}
			d := apidef.Draft{ID: a.ID(), APIID: a.APIID(), OrgID: a.OrgID(), Class: a.Class(), Document: document}
			if err := sameID(d); err != nil {
				return a, err
			}
			if err := ahead.check(l, document, a.Class(), unknown); err != nil {
				return a, err
			}
			if before, _, err = a.Texts(); err != nil {
				return a, err
			}
			if err := l.settle(ctx, w, in.Who, &d, a, before); err != nil {
				return a, err
			}
			after = d.Definition
			return a.Rewrite(d, now)
		})
		if err != nil {
			return 0, err
		}
		return a.Serial, l.follow(ctx, w, a.Value, before, after)
	})
}

// verdict is what the check of a document has come to.
type verdict struct {
	sum [sha256.Size]byte // of the document: the text of a large one is not kept
	err error
}

// checkAhead checks what a rewrite is going to store before it has the writer: the
// check of a large document takes longer than all the rest. The unit of work checks
// again what has become another document meanwhile, and says whatever else is wrong.
func (l *Library) checkAhead(ctx context.Context, in writeByID, unknown bool, build func(a apidef.API) (*doc.Node, error), classes ...apidef.Class) (v verdict) {
	_ = l.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := l.get(ctx, r, in.ID, l.viewerOf(classes[0], in.Who, access.Write))
		if err == nil {
			err = l.isA(a.Value, classes...)
		}
		if err != nil {
			return err
		}
		document, err := build(a.Value)
		if err == nil {
			err = sameID(apidef.Draft{ID: a.Value.ID(), APIID: a.Value.APIID(), OrgID: a.Value.OrgID(), Document: document})
		}
		if err == nil {
			v = verdict{sha256.Sum256(document.JSON()), l.check(document, a.Value.Class(), unknown)}
		}
		return err
	})
	return v
}

func (v verdict) check(l *Library, document *doc.Node, class apidef.Class, unknown bool) error {
	if v.sum == sha256.Sum256(document.JSON()) {
		return v.err
	}
	return l.check(document, class, unknown)
}

// sameID refuses a document that names another API than the path does, and
// writes the identifiers into it that the server owns.
func sameID(d apidef.Draft) error {
	info := d.Document.Get(oas.ExtensionKey, "info")
	if id := info.Get("id").Text(); id != "" && id != d.APIID {
		return fault.New(fault.Invalid, codeWrongID, "Invalid `ID` value").At("x-tyk-api-gateway.info.id")
	}
	identify(info, d)
	return nil
}

// settle makes the classic form of the new document of a stored API, whose classic
// form is given.
func (l *Library) settle(ctx context.Context, w store.Writer, who operation.Principal, d *apidef.Draft, a apidef.API, stored *doc.Node) error {
	if err := l.pair(ctx, w, who, d); err != nil {
		return err
	}
	k, err := l.linkOf(ctx, w, a)
	if err != nil {
		return err
	}
	return l.convert(d, stored, k)
}

// codeClass is the code of an API that another door is for.
const codeClass = apidef.Kind + ".class"

// isA refuses an API of another class than a door is for, of the first and more.
func (l *Library) isA(a apidef.API, classes ...apidef.Class) error {
	if slices.Contains(classes, a.Class()) {
		return nil
	}
	switch classes[0] {
	case apidef.Streams:
		return fault.New(fault.Invalid, codeClass, "API is not a streams API")
	case apidef.MCP:
		return fault.New(fault.Invalid, codeClass, "API is not an MCP Proxy")
	}
	return fault.New(fault.Invalid, codeClass, "API is not in OAS format")
}
