package apis

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// versionIn makes a new API a version of another one (contract dashboard.md 10.4).
type versionIn struct {
	Base    string `query:"base_api_id" doc:"API of which this becomes a version."`
	BaseAs  string `query:"base_api_version_name" doc:"Version name of the base; needed for its first child."`
	Version string `query:"new_version_name" doc:"Version name of the new API; needed with base_api_id."`
	Default bool   `query:"set_default" doc:"Make the new version the default."`
}

// codeBase is the code of a base_api_id that names no API of the same family.
const codeBase = apidef.Kind + ".base"

// link is what the addresses of a child version depend on.
type link struct {
	base, oldBase *doc.Node // classic definition of the base, now and before; nil: no child
	name          string    // of the version; "" means that the base knows it
}

// create stores a new API whose parts have been checked, as a version of another
// one if so wanted.
func (l *Library) create(ctx context.Context, scope tenant.Scope, who operation.Principal, d apidef.Draft, v versionIn) (a apidef.API, at store.Serial, err error) {
	now := l.Now()
	at, err = store.Write(ctx, l.Store, scope, func(w store.Writer) (store.Serial, error) {
		mine := d // this may run more than once
		mine.Definition, mine.Document = d.Definition.Clone(), d.Document.Clone()
		if err := l.pair(ctx, w, who, &mine); err != nil {
			return 0, err
		}
		k, err := l.attach(ctx, w, who, mine, v)
		if err != nil {
			return 0, err
		}
		if mine.Document != nil {
			if err := l.convert(&mine, mine.Definition, k); err != nil {
				return 0, err
			}
		}
		if a, err = apidef.New(mine, now); err != nil {
			return 0, err
		}
		a = l.own(a, who)
		return l.insert(ctx, w, a)
	})
	return a, at, err
}

// attach adds a new API to the routing table of its base.
func (l *Library) attach(ctx context.Context, w store.Writer, who operation.Principal, d apidef.Draft, v versionIn) (link, error) {
	if v.Base == "" {
		return link{}, nil
	}
	base, err := l.get(ctx, w, v.Base, l.viewerOf(d.Class, who, access.Write))
	if fault.KindOf(err) == fault.NotFound || err == nil && !sameFamily(base.Value.Class(), d.Class) {
		return link{}, fault.New(fault.Invalid, codeBase, "Could not retrieve detail of apiID %s in org %s.", v.Base, string(d.OrgID)).At("base_api_id")
	}
	if err != nil {
		return link{}, err
	}
	above, err := l.baseOf(ctx, w, base.Value)
	if err != nil {
		return link{}, err
	}
	if above != nil {
		return link{}, fault.New(fault.Invalid, codeBase, "API %s is a version of another API and cannot have versions", v.Base).At("base_api_id")
	}
	n := versions.New{Name: v.Version, ID: d.APIID, BaseName: v.BaseAs, Default: v.Default}
	old, now, err := l.reroute(ctx, w, base.Value, func(t versions.Table) error { return t.Add(n) })
	return link{base: now, oldBase: old, name: v.Version}, err
}

// sameFamily reports whether one class can be a version of another.
func sameFamily(base, child apidef.Class) bool {
	if base == apidef.Classic || child == apidef.Classic || base == apidef.MCP || child == apidef.MCP {
		return base == child
	}
	return true
}

// detach takes an API that is about to go out of the routing table of its base.
func (l *Library) detach(ctx context.Context, w store.Writer, child apidef.API) error {
	base, err := l.baseOf(ctx, w, child)
	if err != nil || base == nil {
		return err
	}
	_, _, err = l.reroute(ctx, w, *base, func(t versions.Table) error { t.Remove(child.APIID()); return nil })
	return err
}

// baseOf returns the API that routes to a child version, or nil.
func (l *Library) baseOf(ctx context.Context, r store.Reader, child apidef.API) (*apidef.API, error) {
	for b, err := range l.kind.Find(ctx, r, store.Query{Index: byChild, Value: store.Indexed(child.APIID()), Limit: 1}) {
		return &b.Value, err
	}
	return nil, nil
}

// renamed keeps the base of a child version routing to it under its new API ID.
func (l *Library) renamed(ctx context.Context, w store.Writer, before, after apidef.API) error {
	if before.APIID() == after.APIID() {
		return nil
	}
	base, err := l.baseOf(ctx, w, before)
	if err != nil || base == nil {
		return err
	}
	_, _, err = l.reroute(ctx, w, *base, func(t versions.Table) error { t.Rename(before.APIID(), after.APIID()); return nil })
	return err
}

// reroute edits the routing table of a base, and the addresses of whatever it
// routes to. It returns the classic definition before and after. Gateways hear of
// the version that brings this about, and load the base along with it.
func (l *Library) reroute(ctx context.Context, w store.Writer, base apidef.API, edit func(versions.Table) error) (old, now *doc.Node, err error) {
	if old, _, err = base.Texts(); err != nil {
		return nil, nil, err
	}
	var after apidef.API
	_, err = l.kind.Edit(ctx, w, base.APIID(), nil, func(a apidef.API) (apidef.API, error) {
		d := apidef.Draft{Class: a.Class()}
		if d.Definition, d.Document, err = a.Texts(); err != nil {
			return a, err
		}
		if d.Document == nil {
			err = edit(versions.InDefinition(d.Definition))
		} else if err = edit(versions.InDocument(d.Document)); err == nil {
			err = l.convert(&d, old, link{})
		}
		if err == nil {
			after, err = a.Rewrite(d, l.Now())
		}
		return after.Quietly(), err
	})
	if err != nil {
		return nil, nil, err
	}
	if now, _, err = after.Texts(); err != nil {
		return nil, nil, err
	}
	return old, now, l.follow(ctx, w, after, old, now)
}

// follow regenerates the addresses in the documents of child versions after a
// change of their base (contract oas-extension.md 7.3).
func (l *Library) follow(ctx context.Context, w store.Writer, base apidef.API, old, now *doc.Node) error {
	if !servers.ChildrenAffected(old, now) {
		return nil
	}
	return l.readdress(ctx, w, base, old, now)
}

// readdress gives the versions of a base the addresses that follow from its
// classic definition, nil if it goes, instead of those that followed from the old one.
func (l *Library) readdress(ctx context.Context, w store.Writer, base apidef.API, old, now *doc.Node) error {
	children, err := l.childrenOf(ctx, w, base)
	if err != nil {
		return err
	}
	for _, c := range children {
		def, document, err := c.Texts()
		if err != nil {
			return err
		}
		if document == nil {
			continue
		}
		before := document.Clone()
		if err := servers.Merge(document, servers.Input{New: def, Old: def, Base: now, OldBase: old, Config: l.Hosts}); err != nil {
			return err
		}
		if document.Equal(before) {
			continue
		}
		_, err = l.kind.Edit(ctx, w, c.APIID(), nil, func(a apidef.API) (apidef.API, error) {
			c, err := a.Rewrite(apidef.Draft{Definition: def, Document: document}, a.Updated())
			return c.Quietly(), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// linkOf returns what the addresses of a stored API depend on.
func (l *Library) linkOf(ctx context.Context, r store.Reader, a apidef.API) (link, error) {
	base, err := l.baseOf(ctx, r, a)
	if err != nil || base == nil {
		return link{}, err
	}
	def, _, err := base.Texts()
	return link{base: def, oldBase: def}, err
}
