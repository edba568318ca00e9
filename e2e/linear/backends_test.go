package linear_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// starting is the timeout for the first answer of a service.
const starting = 30 * time.Second

// cluster is a service of one or more replicas in this process.
type cluster struct {
	replicas [][]app.Option
	wrap     func(http.Handler) http.Handler // nil: unchanged
}

// start serves every replica on its own port.
func (cl cluster) start(t *testing.T) *caller {
	t.Helper()
	keys, err := crypto.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	t.Cleanup(transport.CloseIdleConnections)
	c := &caller{http: &http.Client{Transport: transport}}
	for _, opts := range cl.replicas {
		a := startApp(t, keys, opts)
		first, err := a.Bootstrap(t.Context(), identity.First{Email: "admin@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		c.key = first.AccessKey
		var h http.Handler = a
		if cl.wrap != nil {
			h = cl.wrap(a)
		}
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		c.replicas = append(c.replicas, s.URL)
	}
	ctx, cancel := context.WithTimeout(t.Context(), starting)
	defer cancel()
	if err := c.ready(ctx); err != nil {
		t.Fatal(err)
	}
	return c
}

func startApp(t *testing.T, keys secret.Keys, opts []app.Option) *app.App {
	t.Helper()
	opts = append([]app.Option{app.WithKeys(keys), app.WithLogger(slog.New(slog.DiscardHandler))}, opts...)
	a, err := app.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), starting)
	defer cancel()
	if err := a.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), starting)
		defer cancel()
		if err := a.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return a
}

func over(s store.Store, m replicated.Mode) []app.Option {
	return []app.Option{app.WithStore(s), app.WithReads(m)}
}

func overMemory(*testing.T) cluster { return cluster{replicas: [][]app.Option{nil}} }

func overSQLite(m replicated.Mode) func(t *testing.T) cluster {
	return func(t *testing.T) cluster {
		t.Helper()
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "gatehouse.db")})
		if err != nil {
			t.Fatal(err)
		}
		closeAfter(t, s)
		return cluster{replicas: [][]app.Option{over(s, m)}}
	}
}

// overPostgres is n replicas on one database, each with its own connections and copy in
// memory.
func overPostgres(n int) func(t *testing.T) cluster {
	return func(t *testing.T) cluster {
		t.Helper()
		dsn := harness.Database(t)
		var cl cluster
		for i := range n {
			s, err := postgres.Open(t.Context(), postgres.Config{DSN: dsn, Conns: 4, Source: "replica-" + strconv.Itoa(i)})
			if err != nil {
				t.Fatal(err)
			}
			closeAfter(t, s)
			cl.replicas = append(cl.replicas, over(s, replicated.Current))
		}
		return cl
	}
}

func closeAfter(t *testing.T, s interface{ Close() error }) {
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
