package apps

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// leftover is a gateway client without a credential: its API, and the policy that the portal
// made for it.
type leftover struct {
	id     string
	apis   []string
	policy dashboard.Policy
}

// clientele is the state of the clients of one provider.
type clientele struct {
	mark     string // of the policies that this portal made
	policies []*doc.Node
	owned    map[sync.Ref]bool                  // policies of credentials
	at       map[string][]dashboard.OAuthClient // by API
	list     []credential.Credential
}

// strays finds gateway clients without credential, credentials without client, and clients
// that are out of date.
func (s *Service) strays(ctx context.Context, scope tenant.Scope, d dashboard.Dashboard, id table.ID) (out []Finding, err error) {
	var look clientele
	if look.policies, err = d.Policies(ctx); err != nil {
		return nil, err
	}
	if err := s.Store.View(ctx, scope, func(r store.Reader) error { return look.read(ctx, r, id) }); err != nil {
		return nil, err
	}
	ours := slices.DeleteFunc(slices.Clone(look.policies), func(n *doc.Node) bool { _, _, ok := credential.ClientOf(n, look.mark); return !ok })
	if len(ours)+len(look.list) == 0 {
		return nil, nil
	}
	if look.at, err = clientsOf(ctx, d, look.list); err != nil {
		return nil, err
	}
	// A client that is made meanwhile has a running saga, or is read now.
	if err := s.Store.View(ctx, scope, func(r store.Reader) error { return look.read(ctx, r, id) }); err != nil {
		return nil, err
	}
	late, err := s.behindOf(ctx, scope, id, every)
	if err != nil {
		return nil, err
	}
	for _, n := range ours {
		f := look.alone(n)
		if f == nil || s.goesOn(ctx, scope, f.AppID) {
			continue
		}
		f.ProviderID = id
		out = append(out, *f)
	}
	there, behind := look.there(), map[table.ID]bool{}
	for _, c := range late {
		behind[c] = true
	}
	for _, c := range look.list {
		// Its client is at an API; it is not at one of those at which it should be. The products
		// may have no API for now: the client comes back with the first one.
		apis := stateOf(c).APIs
		have, lacks := len(apis) == 0, false
		for _, api := range apis {
			if list, known := there[api]; list[c.ClientID] {
				have = true
			} else if known {
				lacks = true
			}
		}
		f := Finding{Finding: ClientLacking, ProviderID: id, AppID: c.AppID, CredentialID: c.ID, Alias: c.ClientID}
		switch {
		case !have && !s.goesOn(ctx, scope, c.AppID):
		case (lacks || behind[c.ID]) && !s.goesOn(ctx, scope, c.AppID):
			f.Finding = ClientAstray
		default:
			continue
		}
		out = append(out, f)
	}
	return out, nil
}

// there returns the client IDs by API.
func (l *clientele) there() map[string]map[string]bool {
	out := make(map[string]map[string]bool, len(l.at))
	for api, list := range l.at {
		out[api] = make(map[string]bool, len(list))
		for _, o := range list {
			out[api][o.ID] = true
		}
	}
	return out
}

// goesOn reports whether a saga of an app is running.
func (s *Service) goesOn(ctx context.Context, scope tenant.Scope, app table.ID) bool {
	_, err := s.Intents.Current(ctx, scope, about(app))
	return fault.KindOf(err) != fault.NotFound
}

// read reads the portal's records.
func (l *clientele) read(ctx context.Context, r store.Reader, id table.ID) error {
	l.list, l.owned = nil, map[sync.Ref]bool{}
	at, err := portal.Glance[table.Base](ctx, r, provider.Kind, id)
	if err != nil {
		return err
	}
	l.mark = at.CID
	for c, err := range portal.All(ctx, r, Credentials, 0) {
		if err != nil {
			return err
		}
		if c.ProviderID == id && c.Method == issuers.Client {
			l.list = append(l.list, c)
			l.owned[stateOf(c).Policy] = true
		}
	}
	return nil
}

// clientsOf returns the clients of all APIs that accept gateway-issued tokens, and of the
// APIs at which credentials have clients.
func clientsOf(ctx context.Context, d dashboard.Dashboard, list []credential.Credential) (map[string][]dashboard.OAuthClient, error) {
	apis, err := d.APIs(ctx)
	out, used := map[string][]dashboard.OAuthClient{}, map[string]bool{}
	for _, c := range list {
		for _, api := range stateOf(c).APIs {
			used[api] = true
		}
	}
	for _, a := range apis {
		if err != nil {
			return nil, err
		}
		if !slices.Contains(a.AuthTypes, request.OAuth) && !used[a.ID] {
			continue
		}
		out[a.ID], err = d.OAuthClients(ctx, a.ID)
	}
	return out, err
}

// stateOf returns the stored state of a credential's client.
func stateOf(c credential.Credential) (out credential.ClientState) {
	_ = json.Unmarshal(c.Own, &out) // a credential without state decodes to the zero state
	return out
}

// alone returns the finding about a client's policy that belongs to no credential; nil: it
// belongs to one.
func (l *clientele) alone(n *doc.Node) *Finding {
	p := dashboard.Policy{Document: n}
	if l.owned[p.Ref()] {
		return nil
	}
	client, app, _ := credential.ClientOf(n, l.mark)
	left := leftover{id: client, policy: p}
	for api, list := range l.at {
		for _, c := range list {
			if c.Policy == p.Ref().Name() {
				left.id, left.apis = c.ID, append(left.apis, api)
			}
		}
	}
	return &Finding{Finding: ClientAlone, AppID: app, Alias: left.id, client: &left}
}
