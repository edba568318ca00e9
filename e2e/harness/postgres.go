package harness

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"
	"github.com/testcontainers/testcontainers-go"
	postgresmodule "github.com/testcontainers/testcontainers-go/modules/postgres"
)

// superuser is the role, and the maintenance database, of every server that the harness creates.
const superuser = "postgres"

// clusterOptions are the initdb options with every engine, so that text sorts the same everywhere.
const clusterOptions = "--encoding=UTF8 --locale=C"

var postgres = service{
	name:      "PostgreSQL",
	external:  "GATEHOUSE_TEST_POSTGRES_DSN",
	hint:      "PostgreSQL (initdb and postgres in PATH)",
	image:     func() string { return imageFrom("GATEHOUSE_TEST_POSTGRES_IMAGE", postgresImage) },
	port:      "5432/tcp",
	container: postgresContainer,
	local:     postgresLocal,
	url: func(addr, secret string) string {
		return fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", superuser, secret, addr, superuser)
	},
	probe: func(ctx context.Context, url string) error { return execute(ctx, url, "SELECT 1") },
}

var sharedPostgres = sync.OnceValues(func() (*Server, error) { return share(&postgres, externalPostgres) })

// Postgres returns the PostgreSQL server that the tests of this process share; the first call
// starts it. Use Database for a separate database.
func Postgres(t testing.TB) *Server {
	t.Helper()
	s, err := sharedPostgres()
	if err != nil {
		unavailable(t, &postgres, err)
	}
	return s
}

// NewPostgres starts a PostgreSQL server for one test, which may stop and start it. It is durable
// (fsync on) and removed after the test.
func NewPostgres(t testing.TB) *Server {
	t.Helper()
	return own(t, &postgres)
}

// Database creates an empty database on the shared PostgreSQL server and returns its connection
// string. It is dropped after the test, even while clients are connected.
func Database(t testing.TB) string {
	t.Helper()
	server := Postgres(t)
	name := "gatehouse_" + strings.ToLower(rand.Text()[:16])
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	// template0 never has connections, so concurrent tests do not block one another.
	if err := execute(ctx, server.url, "CREATE DATABASE "+name+" TEMPLATE template0"); err != nil {
		t.Fatalf("create database: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		if err := execute(ctx, server.url, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("drop database: %v", err)
		}
	})
	return withDatabase(server.url, name)
}

// withDatabase replaces the database in a connection string of either form.
func withDatabase(dsn, name string) string {
	if u, err := url.Parse(dsn); err == nil && strings.HasPrefix(u.Scheme, "postgres") {
		u.Path = "/" + name
		return u.String()
	}
	return dsn + " dbname=" + name // of repeated keywords the last one counts
}

func externalPostgres(dsn string) (*Server, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	addr := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	return &Server{service: &postgres, addr: addr, url: dsn, shared: true}, nil
}

func execute(ctx context.Context, dsn, statement string) (err error) {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, statement)
	return err
}

func postgresContainer(ctx context.Context, image, secret string, address testcontainers.ContainerCustomizer) (testcontainers.Container, error) {
	c, err := postgresmodule.Run(ctx, image, postgresmodule.WithPassword(secret), address,
		testcontainers.WithEnv(map[string]string{"POSTGRES_INITDB_ARGS": clusterOptions}),
		command(image, standInPostgres, append([]string{"postgres"}, serverOptions("*")...)...))
	if c == nil {
		return nil, err
	}
	return c.Container, err
}

// serverOptions are the settings that differ from the server's defaults; durability is as by
// default.
func serverOptions(listen string) []string {
	return []string{"-c", "listen_addresses=" + listen, "-c", "max_connections=" + maxConnections}
}

func postgresLocal(l *local, port int, secret string) error {
	const debian = "/usr/lib/postgresql/*/bin"
	initdb, err := find("initdb", debian)
	if err != nil {
		return err
	}
	server, err := find("postgres", debian)
	if err != nil {
		return err
	}
	owner, err := stepDown(superuser, l.folder)
	if err != nil {
		return err
	}
	password := filepath.Join(l.folder, "password")
	if err := os.WriteFile(password, []byte(secret), 0o644); err != nil {
		return err
	}
	data := filepath.Join(l.folder, "data")
	env := []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	l.setup = &program{
		path: initdb, env: env, dir: l.folder, owner: owner, orphan: syscall.SIGKILL,
		args: append([]string{
			"--pgdata=" + data, "--username=" + superuser, "--pwfile=" + password,
			"--auth=scram-sha-256", "--no-sync",
		}, strings.Fields(clusterOptions)...),
	}
	l.server = program{
		// The immediate shutdown (SIGQUIT) releases shared memory, which a kill would leave behind.
		path: server, env: env, dir: l.folder, owner: owner, orphan: syscall.SIGQUIT,
		args: append([]string{
			"-D", data, "-p", strconv.Itoa(port), "-c", "unix_socket_directories=",
		}, serverOptions("127.0.0.1")...),
	}
	l.end = syscall.SIGQUIT
	return nil
}

// Exec runs a statement in a database, as an operator might do manually.
func Exec(t testing.TB, dsn, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
