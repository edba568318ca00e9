package apis

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// errPreview undoes a unit of work that was only tried.
var errPreview = errors.New("apis: a preview")

// find returns an API of one of the classes and, of a child version, the API ID of its
// base.
func (l *Library) find(ctx context.Context, in byID, classes ...apidef.Class) (a store.Stored[apidef.API], base string, err error) {
	err = l.Store.View(ctx, in.Scope, func(r store.Reader) error {
		if a, err = l.get(ctx, r, in.ID, l.viewerOf(classes[0], in.Who, access.Read)); err != nil {
			return err
		}
		if err = l.isA(a.Value, classes...); err != nil {
			return err
		}
		b, err := l.baseOf(ctx, r, a.Value)
		if b != nil {
			base = b.APIID()
		}
		return err
	})
	return a, base, err
}

// URLList is the answer to the list of public addresses.
type URLList struct {
	APIID string             `json:"api_id"`
	URLs  []servers.Location `json:"urls"`
}

// URLs lists every public address of an API.
func (s OAS) URLs(ctx context.Context, in byID) (out URLList, err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := s.get(ctx, r, in.ID, s.viewer(in.Who))
		if err != nil {
			return err
		}
		k, err := s.linkOf(ctx, r, a.Value)
		if err != nil {
			return err
		}
		def, _, err := a.Value.Texts()
		if err != nil {
			return err
		}
		out.APIID = a.Value.APIID()
		out.URLs, err = servers.URLs(servers.Input{New: def, Base: k.base, Config: s.Hosts})
		return err
	})
	return out, err
}

// CategoryList is the categories of an API.
type CategoryList struct {
	Categories []string `json:"categories"`
}

// Categories returns the categories of an API.
func (s OAS) Categories(ctx context.Context, in byID) (operation.Entity[CategoryList], error) {
	a, _, err := s.find(ctx, in, openAPI...)
	out := CategoryList{Categories: []string{}}
	if err == nil {
		out.Categories = a.Value.Categories()
	}
	return operation.Entity[CategoryList]{Value: out, Tag: operation.Tag(a.Serial)}, err
}

type categoriesIn struct {
	writeByID
	List CategoryList `body:""`
}

// SetCategories replaces the categories of an API.
func (s OAS) SetCategories(ctx context.Context, in categoriesIn) (operation.Receipt, error) {
	now := s.Now()
	at, err := s.change(ctx, in.writeByID, func(a apidef.API) (apidef.API, error) {
		if err := s.isA(a, openAPI...); err != nil {
			return a, err
		}
		return a.WithCategories(in.List.Categories, now), caps.Wrapper.Count("categories", len(in.List.Categories))
	})
	return operation.Receipt{Message: "API categories updated.", Tag: operation.Tag(at)}, err
}

type versionsIn struct {
	byID
	Search string `query:"searchText" doc:"Part of the version name or of the API name, in any case."`
	Access string `query:"accessType" doc:"internal or external; both when absent."`
}

// codeNotBase is the code of a list of versions of an API that has none.
const codeNotBase = apidef.Kind + ".not_a_base"

// Versions lists the child versions of a base.
func (s OAS) Versions(ctx context.Context, in versionsIn) (versions.Metas, error) {
	return s.versionsOf(ctx, in, openAPI...)
}

// versionsOf lists the child versions of a base of one of the classes.
func (l *Library) versionsOf(ctx context.Context, in versionsIn, classes ...apidef.Class) (out versions.Metas, err error) {
	v := l.viewerOf(classes[0], in.Who, access.Read)
	err = l.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := l.get(ctx, r, in.ID, v)
		if err != nil {
			return err
		}
		document, err := baseDocument(a.Value, in.ID, classes)
		if err != nil {
			return err
		}
		find := func(id string) *doc.Node {
			c, err := l.named(ctx, r, id)
			if err != nil || c == nil || admit(*c, v) != nil {
				return nil
			}
			def, _, _ := c.Texts()
			return def
		}
		out = versions.InDocument(document).List(find, versions.Query{Search: in.Search, Access: in.Access})
		return nil
	})
	return out, err
}

// baseDocument returns the document of a base of one of the classes.
func baseDocument(a apidef.API, id string, classes []apidef.Class) (*doc.Node, error) {
	unknown := fault.New(fault.Invalid, codeNotBase, "%s is not recognised", id)
	for _, c := range classes {
		if a.Class() != c {
			continue
		}
		_, document, err := a.Texts()
		if err == nil && !versions.InDocument(document).Enabled() {
			err = unknown
		}
		return document, err
	}
	return nil, unknown
}

type rebaseIn struct {
	byID
	Next string `path:"next-base-apiId" doc:"Child version that becomes the base."`
}

// Codes of the faults of a rebase.
const (
	codeNoCurrent = apidef.Kind + ".current_base"
	codeNoNext    = apidef.Kind + ".next_base"
)

// Rebase makes a child version the base, and the base its child.
func (s OAS) Rebase(ctx context.Context, in rebaseIn) (operation.Receipt, error) {
	now := s.Now()
	at, err := store.Write(ctx, s.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		v := s.viewerOf(apidef.OAS, in.Who, access.Write)
		base, err := s.get(ctx, w, in.ID, v)
		if fault.KindOf(err) == fault.NotFound {
			err = fault.New(fault.NotFound, codeNoCurrent, "Could not retrieve current base API")
		}
		if err != nil {
			return 0, err
		}
		child, err := s.get(ctx, w, in.Next, v)
		if fault.KindOf(err) == fault.NotFound {
			err = fault.New(fault.NotFound, codeNoNext, "Could not retrieve next base API")
		}
		if err != nil {
			return 0, err
		}
		if err := s.swap(ctx, w, base.Value, child.Value, now); err != nil {
			return 0, err
		}
		base, err = s.get(ctx, w, in.ID, v)
		return base.Serial, err
	})
	return operation.Receipt{Message: "API converted successfully", Tag: operation.Tag(at)}, err
}
