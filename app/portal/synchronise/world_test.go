package synchronise_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/dashboard/local"
	"github.com/gatehouse-io/gatehouse/adapters/dashboard/remote"
	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// kept are products and plans in a store.
type kept[T any] struct {
	Value T      `json:"value"`
	CID   string `json:"cid"`
}

func kind[T any](name string) *store.Kind[kept[T]] {
	return &store.Kind[kept[T]]{Name: name, ID: func(k kept[T]) string { return k.CID }, Org: func(kept[T]) tenant.ID { return "portal" }}
}

var (
	products = kind[product.Product]("portal_product")
	plans    = kind[plan.Plan]("portal_plan")
)

// shelf stores records, as the storage of a portal must do.
type shelf struct {
	db    store.Store
	scope tenant.Scope
	made  *atomic.Int64
}

func newShelf(t testing.TB) shelf {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := tenant.Of("portal")
	if err != nil {
		t.Fatal(err)
	}
	return shelf{db, scope, new(atomic.Int64)}
}

func (s shelf) List(ctx context.Context) (out []sync.Record, err error) {
	err = s.db.View(ctx, s.scope, func(r store.Reader) error {
		for p, err := range products.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			out = append(out, p.Value.Value.Record())
		}
		for p, err := range plans.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			out = append(out, p.Value.Value.Record())
		}
		return nil
	})
	return out, err
}

// take stores one record of a kind.
func take[T interface{ Record() sync.Record }](ctx context.Context, w store.Writer, k *store.Kind[kept[T]], seen *sync.Record, cid string, with func(T) T) error {
	if seen == nil {
		var none T
		return k.Insert(ctx, w, kept[T]{Value: with(none), CID: cid})
	}
	_, err := k.Edit(ctx, w, cid, nil, func(v kept[T]) (kept[T], error) {
		if !v.Value.Record().Equal(*seen) {
			return v, fault.New(fault.Stale, "moved", "the record has changed")
		}
		v.Value = with(v.Value)
		return v, nil
	})
	return err
}

func (s shelf) Store(ctx context.Context, seen *sync.Record, r sync.Record) error {
	if r.CID == "" {
		r.CID = fmt.Sprintf("%027d", s.made.Add(1)+1_000_000)
	}
	_, err := s.db.Update(ctx, s.scope, func(w store.Writer) error {
		if r.Kind == sync.KindProduct {
			return take(ctx, w, products, seen, r.CID, func(p product.Product) product.Product { p.CID = r.CID; return p.Take(r) })
		}
		return take(ctx, w, plans, seen, r.CID, func(p plan.Plan) plan.Plan { p.CID = r.CID; return p.Take(r) })
	})
	return err
}

func (s shelf) Forget(ctx context.Context, r sync.Record) error {
	_, err := s.db.Update(ctx, s.scope, func(w store.Writer) error {
		if r.Kind == sync.KindProduct {
			_, err := products.Delete(ctx, w, r.CID, nil)
			return err
		}
		_, err := plans.Delete(ctx, w, r.CID, nil)
		return err
	})
	return err
}

// add puts products and plans on the shelf, as an administrator does.
func (s shelf) add(t testing.TB, values ...any) {
	t.Helper()
	_, err := s.db.Update(context.Background(), s.scope, func(w store.Writer) error {
		for _, v := range values {
			var err error
			switch v := v.(type) {
			case product.Product:
				err = put(w, products, v.CID, v)
			case plan.Plan:
				err = put(w, plans, v.CID, v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// put creates or replaces a value.
func put[T any](w store.Writer, k *store.Kind[kept[T]], cid string, v T) error {
	_, err := k.Edit(context.Background(), w, cid, nil, func(old kept[T]) (kept[T], error) {
		old.Value = v
		return old, nil
	})
	if fault.KindOf(err) == fault.NotFound {
		return k.Insert(context.Background(), w, kept[T]{Value: v, CID: cid})
	}
	return err
}

func (s shelf) product(t testing.TB, cid string) product.Product {
	t.Helper()
	return get(t, s, products, cid)
}

func (s shelf) plan(t testing.TB, cid string) plan.Plan {
	t.Helper()
	return get(t, s, plans, cid)
}

func get[T any](t testing.TB, s shelf, k *store.Kind[kept[T]], cid string) (out T) {
	t.Helper()
	err := s.db.View(context.Background(), s.scope, func(r store.Reader) error {
		v, err := k.Get(context.Background(), r, cid)
		out = v.Value.Value
		return err
	})
	if err != nil {
		t.Fatal(cid, err)
	}
	return out
}

// service is Gatehouse as the dashboard, in this process and over HTTP.
type service struct {
	app           *app.App
	url, key      string
	reads, writes *atomic.Int64 // over HTTP
}

func newService(t testing.TB) service {
	t.Helper()
	a, err := app.New(app.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Bootstrap(context.Background(), identity.First{Email: "admin@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	s := service{app: a, key: b.AccessKey, reads: new(atomic.Int64), writes: new(atomic.Int64)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			s.reads.Add(1)
		} else {
			s.writes.Add(1)
		}
		a.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	for id, auth := range map[string]string{"a": "use_standard_auth", "b": "use_standard_auth", "c": "enable_jwt"} {
		s.send(t, "POST", "/api/apis", fmt.Sprintf(`{"api_definition":{"name":"API %s","api_id":"%s","active":true,"%s":true,"proxy":{"listen_path":"/%s/","target_url":"http://%s.example"}}}`, id, id, auth, id, id))
	}
	return s
}

func (s service) send(t testing.TB, method, path, body string) *doc.Node {
	t.Helper()
	return apptest.Send(t, s.app, s.key, method, path, body)
}

func (s service) local() dashboard.Dashboard { return local.New(s.app.Do, s.app.Text, s.key) }

func (s service) remote() dashboard.Dashboard {
	return remote.New(fetch.New(fetch.Config{MaxBytes: 64 << 20}), remote.Config{URL: s.url, Secret: s.key, Trusted: true, Pause: time.Millisecond})
}

// policy returns the policy with an identifier, or nil.
func (s service) policy(t testing.TB, id string) *doc.Node {
	t.Helper()
	list, err := s.local().Policies(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range list {
		if n.Get("id").Text() == id {
			return n
		}
	}
	return nil
}

func (s service) policies(t testing.TB) int {
	t.Helper()
	list, err := s.local().Policies(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// run synchronises and checks that there were no problems.
func run(t testing.TB, p synchronise.Provider, records synchronise.Records) synchronise.Report {
	t.Helper()
	report, err := synchronise.Run(context.Background(), p, records)
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("%v, %+v", err, report.Problems)
	}
	return report
}
