package harness

import (
	"os"
	"strings"

	"github.com/testcontainers/testcontainers-go"
)

// The images that a machine with a registry pulls. The tags are exact, so that a new server release
// affects the tests only when this file changes.
const (
	postgresImage = "postgres:17.5-alpine"
	redisImage    = "redis:7.2.4-alpine"
)

// standInPrefix is the prefix of images made from Debian packages where no registry can be reached.
// They contain the servers but no entrypoint, so the harness provides the start command.
const standInPrefix = "gatehouse-e2e/"

// maxConnections suffices for several replicas with a pool each, and for parallel tests.
const maxConnections = "200"

// standInPostgres creates a cluster on the first start and keeps it over restarts. Its arguments
// are the server's command line.
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

// standInRedis drops root as the official image does.
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

// command sets the container's command line: through the script in a stand-in image, as arguments
// of the entrypoint in any other.
func command(image, script string, args ...string) testcontainers.CustomizeRequestOption {
	if isStandIn(image) {
		args = append([]string{"sh", "-c", script, "sh"}, args...)
	}
	return testcontainers.WithCmd(args...)
}
