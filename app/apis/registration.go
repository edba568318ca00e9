package apis

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Registration returns the registration of the kind of APIs. They refer to webhooks and
// policies, and to other APIs: their versions, or the API whose operations they offer
// as tools. With ownership, only owners see an API that has owners.
func Registration(s Settings) crud.Registration {
	return crud.Facts[apidef.API]{
		Kind: newKind(s), Name: apidef.API.Name, Uses: uses, Find: findAPIs,
		Permission: func(a apidef.API) access.Permission { return permission(a.Class()) },
		Sight: func(v crud.Viewer) crud.Seeing[apidef.API] {
			viewer := v.Of(s.Ownership, access.Read)
			return func(_ context.Context, _ store.Reader, a apidef.API) (bool, error) {
				return Admit(a, viewer) == nil, nil
			}
		},
		Announces: signal.Row{Created: signal.ApiAdded, Updated: signal.ApiUpdated, Deleted: signal.ApiRemoved, Alias: ByAPIID},
		Feed:      Feed(s.SeparateGateways),
		Events:    events,
		Past:      past,
		Sample: func(at crud.Stamp) (apidef.API, error) {
			definition, err := doc.ParseNode([]byte(`{"name":"Orders","proxy":{"listen_path":"/orders/","target_url":"https://upstream.example"},` +
				`"jwt_default_policies":["gold"],"jwt_scope_to_policy_mapping":{"read":"silver"},` +
				`"hook_references":[{"event_name":"QuotaExceeded","hook":{"id":"5f1a0c5d8e3b2a1f00000005"}}]}`))
			if err != nil {
				return apidef.API{}, err
			}
			return apidef.New(apidef.Draft{ID: at.ID, APIID: "orders", OrgID: at.Org, Class: apidef.Classic, Definition: definition}, at.Now())
		},
	}.Registration()
}

// past returns an API in the form of a request body of its class.
func past(a apidef.API) ([]byte, error) {
	if text := a.Document(); text != nil {
		return text, nil
	}
	out := append([]byte(`{"api_definition":`), a.Definition()...)
	if hooks := a.HookReferences(); hooks != nil {
		out = append(append(out, `,"hook_references":`...), hooks...)
	}
	return append(out, '}'), nil
}

// Feed returns the feed of all active APIs of every class, with the current versions of
// webhooks. Gateways know an API only by its api_id. Where gateways are separate,
// several APIs may have the same one, and each gateway loads only one of them.
func Feed(separate bool) *gateway.Source {
	return &gateway.Source{Name: "apis", What: "active API", Kind: apidef.Kind, Uses: []string{webhook.Kind}, Entry: func(rec store.Record, l gateway.Lookup) feed.Entry {
		o, err := doc.LoadObject(rec.Doc)
		if err != nil {
			return feed.Broken("an API")
		}
		e := feed.API(o, func(id string) (webhook.Hook, bool) {
			found, ok := l.Record(webhook.Kind, id)
			if !ok {
				return webhook.Hook{}, false
			}
			h, err := webhook.Load(found.Doc)
			return h, err == nil
		})
		if separate {
			e.Name = ""
		}
		return e
	}}
}

// notices is the kind of announcements that are records.
var notices = &store.Kind[signal.Notice]{Name: signal.NoticeKind, ID: signal.Notice.ID, Org: func(signal.Notice) tenant.ID { return "" }}

// Notices returns the registration of announcements. A viewer who does not see an API
// does not see its announcements either.
func Notices(ownership bool) crud.Registration {
	return crud.Facts[signal.Notice]{
		Kind: notices,
		Sight: func(v crud.Viewer) crud.Seeing[signal.Notice] {
			viewer := v.Of(ownership, access.Read)
			return func(ctx context.Context, r store.Reader, n signal.Notice) (bool, error) {
				for a, err := range Kind.Find(ctx, r, store.Query{Index: ByAPIID, Value: n.Payload, Limit: 1}) {
					return err == nil && Admit(a.Value, viewer) == nil, err
				}
				return true, nil
			}
		},
		Sample: func(at crud.Stamp) (signal.Notice, error) {
			return signal.Notice{Command: signal.DeleteAPICache, Payload: at.ID}, nil
		},
	}.Registration()
}
