package harness

import (
	"os"
	"strings"

	"github.com/testcontainers/testcontainers-go"
)

// The images that a machine with a registry pulls. Exact tags, so that a new server release changes
// the tests only when this file changes.
const (
	postgresImage = "postgres:17.5-alpine"
	redisImage    = "redis:7.2.4-alpine"
)

// standInPrefix begins the names of images made from Debian packages where no registry can be
// reached. They hold the servers but no entrypoint, so the harness says how to start them.
const standInPrefix = "gatehouse-e2e/"

// maxConnections leaves room for several replicas with a pool each, and for tests in parallel.
const maxConnections = "200"

// standInPostgres makes a cluster on the first start and keeps it over restarts. Its arguments are
// the server's command line.
const standInPostgres = `set -eu
PATH=$(dirname /usr/lib/postgresql/*/bin/postgres):$PATH
export PGDATA=/var/lib/postgresql/gatehouse
as="setpriv --reuid=postgres --regid=postgres --init-groups"
if [ ! -s $PGDATA/PG_VERSION ]; then
	printf %s "$POSTGRES_PASSWORD" >/tmp/password
	chown postgres /tmp/password
	$as initdb --no-sync --auth=scram-sha-256 --pwfile=/tmp/password $POSTGRES_INITDB_ARGS
	echo "host all all all scram-sha-256" >>$PGDATA/pg_hba.conf
fi
exec $as "$@"`

// standInRedis drops root like the official image does.
const standInRedis = `exec setpriv --reuid=redis --regid=redis --init-groups "$@"`

func isStandIn(image string) bool {
	return strings.HasPrefix(image, standInPrefix)
}

func imageFrom(variable, standard string) string {
	if image := os.Getenv(variable); image != "" {
		return image
	}
	return standard
}

// command gives the container's command line: through the script in a stand-in image, to the
// entrypoint of any other.
func command(image, script string, args ...string) testcontainers.CustomizeRequestOption {
	if isStandIn(image) {
		args = append([]string{"sh", "-c", script, "sh"}, args...)
	}
	return testcontainers.WithCmd(args...)
}
