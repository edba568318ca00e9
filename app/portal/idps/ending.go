package idps

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// ended are the credentials that a deletion has ended: their clients are deleted after it is
// stored.
type ended []memo

// reject rejects the access requests for deleted client types, and deletes their credentials
// and custom credentials.
func reject(ctx context.Context, w store.Writer, at crud.Stamp, types ...table.ID) (out ended, err error) {
	ids, err := requested(ctx, w, types)
	if err != nil {
		return nil, err
	}
	var gone []credential.Credential
	for c, err := range portal.All(ctx, w, apps.Credentials, 0) {
		if err != nil {
			return nil, err
		}
		if c.Method != issuers.Registration {
			continue
		}
		if c.Custom != nil && slices.Contains(types, c.Custom.ClientType) || slices.ContainsFunc(c.Requests(), func(id table.ID) bool { return slices.Contains(ids, id) }) {
			gone = append(gone, c)
		}
	}
	for _, c := range gone {
		var m memo
		if json.Unmarshal(c.Own, &m) == nil {
			out = append(out, m)
		}
		if err := portal.Remove(ctx, w, apps.Credentials, c.ID, at); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		_, err := portal.Edit(ctx, w, apps.Requests, id, at, func(r request.Request) (request.Request, error) {
			r.Status = request.Rejected
			return r, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// requested returns the access requests for client types, without rejected ones.
func requested(ctx context.Context, r store.Reader, types []table.ID) (out []table.ID, err error) {
	for q, err := range portal.All(ctx, r, apps.Requests, 0) {
		if err != nil {
			return nil, err
		}
		if slices.Contains(types, q.ClientTypeID) && q.Status != request.Rejected {
			out = append(out, q.ID)
		}
	}
	return out, nil
}

// silences is after how many unanswered calls in a row a provider counts as gone.
const silences = 3

// withdraw deletes the clients of ended credentials. Errors are logged. The provider may be
// gone as well: after silences unanswered calls it is no longer called.
func (s *Service) withdraw(ctx context.Context, scope tenant.Scope, all ended) {
	var err error
	silent := 0
	for _, m := range all {
		if silent < silences {
			a := acting{Service: s, org: scope.Org(), g: &issuers.Grant{}, memo: m}
			err = a.withdraw(ctx)
		}
		if fault.KindOf(err) == fault.Unavailable {
			silent++
		} else {
			silent = 0
		}
		if err != nil {
			s.Log.WarnContext(ctx, "a client could not be deleted at its identity provider; delete it there", "org_id", string(scope.Org()), "oauth_provider_id", int64(m.IdP), "app_id", int64(m.App), "error", err)
		}
	}
}
