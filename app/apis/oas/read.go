package oas

import (
	"context"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/rows"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/api/servers"
	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Get returns the document of an OAS API, or of a streams API.
func (s *Service) Get(ctx context.Context, in rows.ByID) (operation.Rendition, error) {
	return s.Documents.Get(ctx, in, classes...)
}

type exportIn struct {
	rows.ByID
	Mode string `query:"mode" oneof:"public" doc:"public: the vendor extensions are left out."`
	Type string `header:"Content-Type" doc:"application/x-yaml: the response is YAML."`
}

// Export returns the document of an API as a file.
func (s *Service) Export(ctx context.Context, in exportIn) (operation.Rendition, error) {
	a, _, err := s.Documents.Find(ctx, in.ByID, classes...)
	if err != nil {
		return operation.Rendition{}, err
	}
	text := a.Value.Document()
	if in.Mode == "public" {
		_, document, err := a.Value.Texts()
		if err != nil {
			return operation.Rendition{}, err
		}
		for _, name := range document.Names() {
			if strings.HasPrefix(name, "x-tyk-") {
				document.Delete(name)
			}
		}
		text = document.JSON()
	}
	return operation.Rendition{JSON: text, YAML: strings.Contains(in.Type, "yaml"), Download: a.Value.APIID() + ".json"}, nil
}

// URLList is the response with public addresses.
type URLList struct {
	APIID string             `json:"api_id"`
	URLs  []servers.Location `json:"urls"`
}

// URLs returns all public addresses of an API.
func (s *Service) URLs(ctx context.Context, in rows.ByID) (out URLList, err error) {
	repo := s.Documents.APIs
	err = repo.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := repo.Get(ctx, r, in.ID, repo.Viewer(in.Who, apidef.OAS, access.Read))
		if err != nil {
			return err
		}
		k, err := s.Documents.Versions.Link(ctx, r, a.Value)
		if err != nil {
			return err
		}
		def, _, err := a.Value.Texts()
		if err != nil {
			return err
		}
		out.APIID = a.Value.APIID()
		out.URLs, err = servers.URLs(servers.Input{New: def, Base: k.Base, Others: k.Others, Config: s.Documents.Forms.Hosts})
		return err
	})
	return out, err
}

// CategoryList is the categories of an API.
type CategoryList struct {
	Categories []string `json:"categories"`
}

// Categories returns the categories of an API.
func (s *Service) Categories(ctx context.Context, in rows.ByID) (operation.Entity[CategoryList], error) {
	a, _, err := s.Documents.Find(ctx, in, classes...)
	out := CategoryList{Categories: []string{}}
	if err == nil {
		out.Categories = a.Value.Categories()
	}
	return operation.EntityOf(out, a.Serial), err
}

type categoriesIn struct {
	rows.WriteByID
	List CategoryList `body:""`
}

// SetCategories replaces the categories of an API.
func (s *Service) SetCategories(ctx context.Context, in categoriesIn) (operation.Receipt, error) {
	repo := s.Documents.APIs
	now := repo.Now()
	at, err := store.Write(ctx, repo.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		a, err := repo.Edit(ctx, w, in.ID, in.Match, repo.Viewer(in.Who, apidef.OAS, access.Write), func(a apidef.API) (apidef.API, error) {
			if err := apis.CheckClass(a, classes...); err != nil {
				return a, err
			}
			return a.WithCategories(in.List.Categories, now), caps.Wrapper.Count("categories", len(in.List.Categories))
		})
		return a.Serial, err
	})
	return operation.Receipt{Message: "API categories updated.", Tag: operation.Tag(at)}, err
}

type versionsIn struct {
	rows.ByID
	Search string `query:"searchText" doc:"Part of the version name or of the API name; letter case is ignored."`
	Access string `query:"accessType" oneof:"internal,external" doc:"Only versions with this kind of access. Default: all versions."`
}

// Versions lists the child versions of a base.
func (s *Service) Versions(ctx context.Context, in versionsIn) (versions.Metas, error) {
	return s.Documents.Children(ctx, in.ByID, versions.Query{Search: in.Search, Access: in.Access}, classes...)
}

type rebaseIn struct {
	rows.ByID
	Next string `path:"next-base-apiId" doc:"Identifier of the child version that becomes the base."`
}

// Rebase makes a child version the base, and the base its child.
func (s *Service) Rebase(ctx context.Context, in rebaseIn) (operation.Receipt, error) {
	at, err := s.Documents.Versions.Rebase(ctx, in.Scope, in.Who, in.ID, in.Next)
	return operation.Receipt{Message: "API converted successfully", Tag: operation.Tag(at)}, err
}
