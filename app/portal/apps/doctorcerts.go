package apps

import (
	"context"
	"errors"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/certificates"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// certified returns the findings about managed certificates: records that differ from the
// dashboard's store, and credentials, allow lists and keys that are out of date.
func (s *Service) certified(ctx context.Context, scope tenant.Scope, at table.ID, fix bool) ([]Finding, error) {
	kept := certificates.New(certificates.Config{Tools: s.Tools, Open: s.Open})
	used, any, err := s.managed(ctx, scope, at)
	if err != nil || !any { // dashboards without managed certificates need not support listing
		return nil, err
	}
	is, err := kept.Compare(ctx, scope, at)
	if err != nil {
		return nil, err
	}
	out := astray(at, is, used)
	if fix && len(out) > 0 {
		err := kept.Mend(ctx, scope, at)
		if err == nil {
			err = s.spread(ctx, scope, at, 0, atMost)
		}
		for i := range out {
			out[i] = out[i].done(issuers.Explain(err))
		}
		if used, _, err = s.managed(ctx, scope, at); err != nil {
			return out, err
		}
	}
	p, err := s.Open(ctx, scope, at)
	if err != nil {
		return out, err
	}
	lists := listReader{d: p.Dashboard, known: map[string]*dashboard.Definition{}}
	for _, c := range used {
		found, err := s.lacking(ctx, p.Dashboard, lists, c, is.Names)
		if err != nil {
			return out, err
		}
		if fix && len(found) > 0 {
			err := fault.AbsentFine(s.replace(ctx, scope, c.ID, issuers.Restore, credential.Renewal{}))
			for i := range found {
				found[i] = found[i].done(err)
			}
		}
		out = append(out, found...)
	}
	return out, nil
}

// managed returns the credentials of a provider whose certificates administrators manage,
// except for apps with a running saga. The second result reports whether there are such
// credentials or certificates.
func (s *Service) managed(ctx context.Context, scope tenant.Scope, at table.ID) (out []credential.Credential, any bool, err error) {
	err = s.Store.View(ctx, scope, func(r store.Reader) (err error) {
		out = nil
		if any, err = certificates.Any(ctx, r, at); err != nil {
			return err
		}
		for c, err := range portal.All(ctx, r, Credentials, 0) {
			if err != nil {
				return err
			}
			if c.ProviderID == at && c.Method == issuers.Certified && c.Managed {
				out = append(out, c)
			}
		}
		return nil
	})
	any = any || len(out) > 0
	return slices.DeleteFunc(out, func(c credential.Credential) bool {
		return s.goesOn(ctx, scope, c.AppID)
	}), any, err
}

// astray finds records and credentials that differ from the dashboard's store. Certificates
// that the portal never knew are not a finding: the next synchronisation adds them.
func astray(at table.ID, is certificates.Stored, used []credential.Credential) (out []Finding) {
	for _, c := range is.Moves {
		switch {
		case c.ID == 0:
		case c.Hidden:
			out = append(out, Finding{Finding: RecordAlone, ProviderID: at, Alias: c.Name})
		default:
			out = append(out, Finding{Finding: RecordHidden, ProviderID: at, Alias: c.Name})
		}
	}
	for _, c := range used {
		for _, id := range c.Certificates() {
			if !is.Names[id] {
				out = append(out, Finding{Finding: UseAlone, ProviderID: at, AppID: c.AppID, CredentialID: c.ID, Alias: id})
			}
		}
	}
	return out
}

// lacking finds allow lists and keys that lack certificates of a credential although the
// dashboard's store has them.
func (s *Service) lacking(ctx context.Context, d dashboard.Keys, lists listReader, c credential.Credential, there map[string]bool) (out []Finding, err error) {
	found := Finding{ProviderID: c.ProviderID, AppID: c.AppID, CredentialID: c.ID}
	for _, e := range c.Standings(credential.Public{}) {
		allows, err := lists.of(ctx, e.API)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(e.Certificates, func(id string) bool { return there[id] && !allows(id) }) {
			found.Finding, found.Alias = ListLacking, e.API
			out = append(out, found)
		}
	}
	if len(c.Ties()) == 0 {
		return out, nil
	}
	v, err := s.opened(c)
	if err != nil {
		return nil, err
	}
	k, err := d.Key(ctx, dashboard.KeyName{Text: v.Key})
	if errors.Is(err, dashboard.ErrGone) { // that is another finding
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	bound := k.Session.Get(key.Bindings).Texts()
	if slices.ContainsFunc(c.Ties(), func(id string) bool { return !slices.Contains(bound, id) }) {
		found.Finding, found.Alias = KeyLacking, k.Session.Get("alias").Text()
		out = append(out, found)
	}
	return out, nil
}

// listReader reads the definition of each API once.
type listReader struct {
	d     dashboard.Dashboard
	known map[string]*dashboard.Definition // nil: it was deleted
}

// of returns a function that reports whether an API accepts a certificate. A deleted API
// counts as accepting all.
func (l listReader) of(ctx context.Context, api string) (func(id string) bool, error) {
	def, read := l.known[api]
	if !read {
		is, err := l.d.Definition(ctx, api)
		if err != nil && !errors.Is(err, dashboard.ErrGone) {
			return nil, err
		}
		if err == nil {
			def = &is
		}
		l.known[api] = def
	}
	return func(id string) bool { return def == nil || issuers.Takes(*def, id) }, nil
}
