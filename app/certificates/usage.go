package certificates

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// user is the row of an API in the column of certificates that APIs use.
type user struct {
	api, name, class string
	uses             []apidef.Certificate
}

// Use is an API that uses a certificate.
type Use struct {
	API   string                  `json:"api_id"`
	Name  string                  `json:"name"`
	Uses  []apidef.CertificateUse `json:"usage_type"`
	Class string                  `json:"tyk_api_type"`
}

// users returns the APIs of the organisation that use a certificate, sorted by api_id,
// including those that the caller may not see.
func (s *Service) users(ctx context.Context, in byID) ([]Use, error) {
	out := []Use{}
	column := store.Column[apidef.API, user]{Kind: s.APIs.Kind, Of: func(a apidef.API) user {
		uses := a.Certificates()
		if len(uses) == 0 {
			return user{}
		}
		return user{api: a.APIID(), name: a.Name(), class: a.TypeName(), uses: uses}
	}}
	err := s.APIs.Store.View(ctx, in.Scope, func(r store.Reader) error {
		out = out[:0]
		for row, err := range column.All(ctx, r) {
			if err != nil {
				return err
			}
			u := Use{API: row.Value.api, Name: row.Value.name, Class: row.Value.class}
			for _, c := range row.Value.uses {
				if c.ID == in.ID {
					u.Uses = append(u.Uses, c.Use)
				}
			}
			if len(u.Uses) > 0 {
				out = append(out, u)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(a, b Use) int { return cmp.Compare(a.API, b.API) })
	return out, err
}

type usageIn struct {
	byID
	operation.Paging
}

// Usage is a page of the APIs that use a certificate.
type Usage struct {
	ID    string `json:"cert_id"`
	APIs  []Use  `json:"apis"`
	Pages int    `json:"pages"`
}

// ListUsage returns the APIs that use a certificate: all of them, unless the request
// asks for a page.
func (s *Service) ListUsage(ctx context.Context, in usageIn) (Usage, error) {
	if _, err := s.Get(ctx, in.byID); err != nil {
		return Usage{}, err
	}
	list, err := s.users(ctx, in.byID)
	if err != nil {
		return Usage{}, err
	}
	if in.P == "" {
		in.P = "-1"
	}
	page, err := operation.Slice(list, in.Paging, s.PageSize)
	return Usage{in.ID, page.Items, page.Pages}, err
}

// Dependencies is everything that uses a certificate. Pinned public keys count as
// certificates for upstreams.
type Dependencies struct {
	ID            string   `json:"certID"`
	ClientAPIs    []string `json:"client_cert_apis"`
	ClientNames   []string `json:"client_cert_api_names"`
	UpstreamAPIs  []string `json:"upstream_cert_apis"`
	UpstreamNames []string `json:"upstream_cert_api_names"`
	Key           string   `json:"key_cert" doc:"The key of the certificate; empty if there is none."`
}

// GetDependencies returns everything that uses a certificate.
func (s *Service) GetDependencies(ctx context.Context, in byID) (Dependencies, error) {
	out := Dependencies{ID: in.ID, ClientAPIs: []string{}, ClientNames: []string{}, UpstreamAPIs: []string{}, UpstreamNames: []string{}}
	if err := s.mine(in); err != nil {
		return out, err
	}
	list, err := s.users(ctx, in)
	if err != nil {
		return out, err
	}
	for _, u := range list {
		if slices.Contains(u.Uses, apidef.ClientUse) {
			out.ClientAPIs, out.ClientNames = append(out.ClientAPIs, u.API), append(out.ClientNames, u.Name)
		}
		if slices.Contains(u.Uses, apidef.UpstreamUse) {
			out.UpstreamAPIs, out.UpstreamNames = append(out.UpstreamAPIs, u.API), append(out.UpstreamNames, u.Name)
		}
	}
	switch _, err := s.Keys.Key(ctx, in.Scope.Org(), gateway.KeyName{Text: in.ID}); {
	case err == nil:
		out.Key = string(in.Scope.Org()) + in.ID
	case !errors.Is(err, gateway.ErrUnknown):
		return out, answered(err)
	}
	return out, nil
}

// mine refuses certificates of other organisations. It accepts a certificate that does
// not exist any more, because APIs may still use it.
func (s *Service) mine(in byID) error {
	if err := own(in.Scope.Org(), in.ID); err != nil && fault.CodeOf(err) == codeForeign {
		return err
	}
	return nil
}

// DeleteDependencies removes a certificate from everything that uses it.
func (s *Service) DeleteDependencies(ctx context.Context, in byID) (operation.Receipt, error) {
	if err := s.mine(in); err != nil {
		return operation.Receipt{}, err
	}
	list, err := s.users(ctx, in)
	if err == nil {
		err = s.changeable(ctx, in, list)
	}
	d := &detachment{ID: in.ID, APIs: make([]string, len(list))}
	if err == nil {
		d.Key, err = s.opened(ctx, in)
	}
	if err != nil {
		return operation.Receipt{}, err
	}
	for i, u := range list {
		d.APIs[i] = u.API
	}
	err = s.detach.Run(ctx, in.Scope, subject(in.ID), d)
	return operation.Receipt{Message: "Certificate dependencies deletion successfully attempted."}, answered(err)
}

// changeable returns an error if one of the APIs may not be changed by the caller.
func (s *Service) changeable(ctx context.Context, in byID, list []Use) error {
	v := s.APIs.Viewer(in.Who, apidef.Classic, access.Write)
	v.NoAPIs, v.NoMCP = false, false
	if v.All {
		return nil
	}
	return s.APIs.Store.View(ctx, in.Scope, func(r store.Reader) error {
		for _, u := range list {
			if _, err := s.APIs.Get(ctx, r, u.API, v); err != nil && fault.CodeOf(err) != apis.CodeMissing {
				return err
			}
		}
		return nil
	})
}

// opened returns the payload of the event about the key of a certificate, for when the
// key is deleted; nil without a key. It refuses a key that the caller may not see.
func (s *Service) opened(ctx context.Context, in byID) (json.RawMessage, error) {
	k, err := s.Keys.Key(ctx, in.Scope.Org(), gateway.KeyName{Text: in.ID})
	switch {
	case errors.Is(err, gateway.ErrUnknown):
		return nil, nil
	case err != nil:
		return nil, answered(err)
	}
	if err := s.Admit(ctx, in.Scope, in.Who, k); err != nil {
		return nil, err
	}
	return json.Marshal(s.Deleted(k))
}
