package certificates

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type listIn struct {
	Scope tenant.Scope
	Who   operation.Principal
	operation.Paging
	Filter string `query:"filter" oneof:"omit,with_pk,without_pk" doc:"with_pk: only certificates with a private key. without_pk: only those without. omit or absent: all."`
	API    string `query:"api_id" doc:"Only certificates that this API uses."`
}

type shortListIn struct {
	listIn
	Mode string `query:"mode" oneof:"detailed" doc:"detailed: the list has names and dates. When absent, it has identifiers only."`
}

// List is a page of certificates, in one of two forms.
type List struct {
	IDs    *[]string             `json:"certs,omitempty"`
	Basics *[]certificate.Basics `json:"cert_basics,omitempty"`
	Pages  int                   `json:"pages"`
}

// Details is a page of certificates with all fields that are shown.
type Details struct {
	Certificates []certificate.Meta `json:"certificates"`
	Pages        int                `json:"pages"`
}

// List returns a page of certificates.
func (s *Service) List(ctx context.Context, in shortListIn) (List, error) {
	page, err := s.page(ctx, in.listIn)
	if err != nil {
		return List{}, err
	}
	if in.Mode == "detailed" {
		return List{Basics: &page.Items, Pages: page.Pages}, nil
	}
	ids := idsOf(page.Items)
	return List{IDs: &ids, Pages: page.Pages}, nil
}

func idsOf(list []certificate.Basics) []string {
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	return ids
}

// ListDetails returns a page of certificates with all fields that are shown.
func (s *Service) ListDetails(ctx context.Context, in listIn) (Details, error) {
	page, err := s.page(ctx, in)
	if err != nil {
		return Details{}, err
	}
	list, err := s.Gateways.Certificates(ctx, in.Scope.Org(), idsOf(page.Items))
	out := Details{Certificates: make([]certificate.Meta, len(list)), Pages: page.Pages}
	for i, m := range list {
		out.Certificates[i] = m.Shown()
	}
	return out, answered(err)
}

// page returns a page of the certificates that match the request.
func (s *Service) page(ctx context.Context, in listIn) (out operation.Page[certificate.Basics], err error) {
	if !slices.Contains([]string{"", "omit", "with_pk", "without_pk"}, in.Filter) {
		return out, fault.New(fault.Invalid, codeFilter, "filter must be omit, with_pk or without_pk").At("filter")
	}
	var wanted []apidef.Certificate // certificates that the API uses
	if in.API != "" {
		v := s.APIs.Viewer(in.Who, apidef.Classic, access.Read)
		v.NoAPIs, v.NoMCP = false, false
		if err := s.APIs.Store.View(ctx, in.Scope, func(r store.Reader) error {
			a, err := s.APIs.Get(ctx, r, in.API, v)
			wanted = a.Value.Certificates()
			return err
		}); err != nil {
			return out, err
		}
	}
	list, err := s.Gateways.ListCertificates(ctx, in.Scope.Org())
	if err != nil {
		return out, answered(err)
	}
	list = slices.DeleteFunc(list, func(c certificate.Basics) bool {
		return in.Filter == "with_pk" && !c.HasPrivate || in.Filter == "without_pk" && c.HasPrivate || in.API != "" && !slices.ContainsFunc(wanted, func(used apidef.Certificate) bool { return used.ID == c.ID })
	})
	for i := range list {
		list[i].DNSNames = append([]string{}, list[i].DNSNames...)
	}
	return operation.Slice(list, in.Paging, s.PageSize)
}
