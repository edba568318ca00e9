package idps_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/dashboard/local"
	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	adapter "github.com/gatehouse-io/gatehouse/adapters/registration"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/idps"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	core "github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/idp"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// world is a portal with two Gatehouse dashboards and an identity provider.
type world struct {
	*testing.T
	apptest.Portal
	service    *idps.Service
	ops        map[string]operation.Operation
	dashboards map[table.ID]dashboard.Dashboard
	away       map[table.ID]bool
	writes     func(dashboard.Dashboard) dashboard.Dashboard // wraps dashboards; nil: they are used directly
	server     *idp.Server
	provider   core.Provider
	stamps     int
	opens      int // number of dashboards that were opened
}

const (
	classicAPI = `{"api_definition":{"name":"Orders","api_id":"orders","active":true,"enable_jwt":true,"jwt_signing_method":"rsa","proxy":{"listen_path":"/orders/","target_url":"http://orders.example"}}}`
	oasAPI     = `{"openapi":"3.0.3","info":{"title":"Claims","version":"1"},"paths":{},"components":{"securitySchemes":{"jwt":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}}},"security":[{"jwt":[]}],"x-tyk-api-gateway":{"info":{"name":"Claims","id":"claims","state":{"active":true}},"upstream":{"url":"http://claims.example"},"server":{"listenPath":{"value":"/claims/","strip":true},"authentication":{"enabled":true,"securitySchemes":{"jwt":{"enabled":true,"header":{"enabled":true,"name":"Authorization"},"signingMethod":"rsa","identityBaseField":"sub"}}}}}}`
)

func open(t *testing.T, flavour idp.Flavour, registry bool) *world {
	return openWith(t, flavour, registry, 2)
}

func openWith(t *testing.T, flavour idp.Flavour, registry bool, dashboards int) *world {
	t.Helper()
	w := &world{T: t, Portal: apptest.NewPortal(t), dashboards: map[table.ID]dashboard.Dashboard{}, away: map[table.ID]bool{}, server: idp.New(flavour)}
	t.Cleanup(w.server.Close)
	for range dashboards {
		w.connect()
	}
	caller := fetch.New(fetch.Config{MaxBytes: core.MaxAnswer, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	w.service = idps.New(idps.Config{Tools: w.Tools, Keys: w.Keys, Registry: registry, Open: w.open, Registrar: adapter.New(caller, adapter.Config{Timeout: idp.Patience, Pause: time.Millisecond})})
	w.ops = w.Operations(w.service.Resource(), w.service.TypeResource())
	w.do("portal-oauth-providers.create", nil, fmt.Sprintf(`{"Name":"Login","Type":%q,"WellKnownURL":%q,"RegistrationAccessToken":%q}`, flavour, w.server.WellKnown(), w.server.InitialToken()))
	w.do("portal-client-types.create", map[string]string{"provider_id": "1"}, `{"Name":"Server","ResponseTypes":"none","GrantType":"client_credentials","OktaAppType":"service"}`)
	w.do("portal-client-types.create", map[string]string{"provider_id": "1"}, `{"Name":"Web","ResponseTypes":"code","GrantType":"authorization_code,client_credentials","OktaAppType":"web"}`)
	w.view(func(r store.Reader) (err error) {
		w.provider, err = portal.Find(t.Context(), r, idps.Kind, "1")
		return err
	})
	return w
}

// connect adds a dashboard, a separate App, as the next provider of the portal.
func (w *world) connect() table.ID {
	w.Helper()
	a, err := app.New(app.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		w.Fatal(err)
	}
	b, err := a.Bootstrap(w.Context(), identity.First{Email: "admin@example.com"})
	if err != nil {
		w.Fatal(err)
	}
	apptest.Send(w, a, b.AccessKey, "POST", "/api/apis", classicAPI)
	apptest.Send(w, a, b.AccessKey, "POST", "/api/apis/oas", oasAPI)
	var p provider.Provider
	w.update(func(wr store.Writer) (err error) {
		p, err = portal.Add(w.Context(), wr, providers.Kind, w.at(), provider.Provider{Name: "Dashboard"})
		return err
	})
	w.dashboards[p.ID] = local.New(a.Do, a.Text, b.AccessKey)
	return p.ID
}

func (w *world) open(_ context.Context, _ tenant.Scope, id table.ID) (synchronise.Provider, error) {
	w.opens++
	d := w.dashboards[id]
	if d == nil {
		return synchronise.Provider{}, providers.Kind.Absent()
	}
	if w.away[id] {
		d = absent{Dashboard: d}
	}
	if w.writes != nil {
		d = w.writes(d)
	}
	return synchronise.Provider{Dashboard: d}, nil
}

// refusing is a dashboard that returns err for writes of one API's definition.
type refusing struct {
	dashboard.Dashboard
	api  string
	done bool // it writes before it returns err
	err  error
}

func (r refusing) ReplaceDefinition(ctx context.Context, d dashboard.Definition) error {
	if d.API != r.api {
		return r.Dashboard.ReplaceDefinition(ctx, d)
	}
	if r.done {
		if err := r.Dashboard.ReplaceDefinition(ctx, d); err != nil {
			return err
		}
	}
	return r.err
}

// absent is a dashboard whose registry does not answer.
type absent struct{ dashboard.Dashboard }

func (absent) PutEntry(context.Context, draft) error { return dashboard.ErrUnreachable }

func (absent) DeleteEntry(context.Context, string) error { return dashboard.ErrUnreachable }

func (w *world) at() crud.Stamp {
	w.stamps++
	return crud.Stamp{ID: fmt.Sprint("stamp-", w.stamps), Org: w.Scope.Org(), Now: w.Tools.Now}
}

func (w *world) view(fn func(store.Reader) error) {
	w.Helper()
	if err := w.DB.View(w.Context(), w.Scope, fn); err != nil {
		w.Fatal(err)
	}
}

func (w *world) update(fn func(store.Writer) error) {
	w.Helper()
	if _, err := w.DB.Update(w.Context(), w.Scope, fn); err != nil {
		w.Fatal(err)
	}
}

// do runs an operation as an admin.
func (w *world) do(id string, path map[string]string, body string) any {
	w.Helper()
	out, err := w.try(id, path, body, nil)
	if err != nil {
		w.Fatalf("%s %s: %v", id, body, err)
	}
	return out
}

func (w *world) try(id string, path map[string]string, body string, query map[string][]string) (any, error) {
	o, ok := w.ops[id]
	if !ok {
		w.Fatal("no operation ", id)
	}
	return o.Do(w.Context(), &operation.Call{Scope: w.Scope, Path: path, Query: query, Body: []byte(body)})
}

// offer adds a product with the API of a dashboard, and a plan.
func (w *world) offer(at table.ID, api, scope string) (p product.Product, l plan.Plan) {
	w.Helper()
	w.update(func(wr store.Writer) (err error) {
		n := fmt.Sprint(scope, "-", at)
		p = product.Product{ProviderID: at, Name: n, Path: n, Ref: sync.Ref{ObjectID: "id-of-" + n, ID: "policy-" + n}, AuthTypes: []string{"jwt"}, DCREnabled: true, Scopes: table.CSV(scope), Templates: []table.ID{1}}
		p = p.WithAPIs([]string{api})
		if p, err = portal.Add(w.Context(), wr, products.Kind, w.at(), p); err != nil {
			return err
		}
		l, err = portal.Add(w.Context(), wr, plans.Kind, w.at(), plan.Plan{ProviderID: at, Name: "plan-" + n, Ref: sync.Ref{ObjectID: "id-of-plan-" + n, ID: "plan-policy-" + n}, JWTScope: scope + "-plan"})
		return err
	})
	return p, l
}

// grant returns access of an app to a product under a plan.
func grant(app table.ID, p product.Product, l plan.Plan) *issuers.Grant {
	return &issuers.Grant{
		App: application.App{Base: table.Base{ID: app}, Name: fmt.Sprint("App ", app)}, Bearer: credential.Bearer{App: app}, Provider: p.ProviderID, ClientType: 1,
		Products: []issuers.Product{{ID: p.ID, Policy: p.Ref.Name(), APIs: p.IDs(), Scopes: p.ScopeList()}}, Plan: issuers.Plan{ID: l.ID, Policy: l.Ref.Name(), Scopes: l.Scopes()},
	}
}

// act runs an act as a saga does: when a step is refused, the earlier steps are undone, and
// also the failed step, which may have had an effect. Between steps the grant is stored as
// JSON.
func (w *world) act(act issuers.Act, g *issuers.Grant, mend func()) error {
	w.Helper()
	issuer := idps.Issuer{Service: w.service}
	err := w.DB.View(w.Context(), w.Scope, func(r store.Reader) error { return issuer.Prepare(w.Context(), r, act, g) })
	if err != nil {
		return err
	}
	text, err := json.Marshal(g)
	if err != nil {
		w.Fatal(err)
	}
	steps := issuer.Steps(w.Scope.Org(), act, g)
	for i, step := range steps {
		if err = step.Do(w.Context()); err == nil {
			if step.Notes {
				if text, err = json.Marshal(g); err != nil {
					w.Fatal(err)
				}
			}
			continue
		}
		if mend != nil {
			mend()
		}
		var again issuers.Grant // another process undoes it
		if err := json.Unmarshal(text, &again); err != nil {
			w.Fatal(err)
		}
		done := i
		if k := fault.KindOf(err); k == fault.Internal || k == fault.Unavailable {
			done++
		}
		for _, undo := range slices.Backward(issuer.Steps(w.Scope.Org(), act, &again)[:done]) {
			if undo.Undo == nil {
				continue
			}
			if err := undo.Undo(w.Context()); err != nil {
				w.Errorf("%s can't be undone: %v", undo.Name, err)
			}
		}
		return err
	}
	g.Was = g.Values
	return nil
}

// mappings returns the mappings of the provider at a dashboard.
func (w *world) mappings(at table.ID) core.Mappings {
	w.Helper()
	e, err := w.dashboards[at].Entry(w.Context(), w.provider.EntryID())
	if err != nil {
		w.Fatal(err)
	}
	if e.Issuer != w.server.Issuer() || e.JWKSURI != w.server.JWKS() {
		w.Errorf("%+v", e)
	}
	return core.Recorded(e.APIMappings)
}

func invalid(err error) bool { return fault.KindOf(err) == fault.Invalid }

// announce runs the hooks after a stored write.
func announce[T any](w *world, hooks func(portal.Hooks[T]) portal.Hooks[T], op store.Op, old, fresh T) {
	w.Helper()
	c := &portal.Change[T]{Op: op, Scope: w.Scope, Store: w.DB, Old: old, New: fresh, At: w.at()}
	if err := hooks(portal.Hooks[T]{}).Turn(w.Context(), c, func(context.Context) error { return nil }); err != nil {
		w.Error(err)
	}
}
