package serve

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"context"

	"github.com/gatehouse-io/gatehouse/adapters/redis"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/health"
	"github.com/gatehouse-io/gatehouse/core/signal"
)

// openRedis returns the sink that tells gateways, and its health check: Redis
// being away delays announcements and nothing else.
func openRedis(s config.Settings, log *slog.Logger) (sink *redis.Sink, check health.Check, closer io.Closer, err error) {
	client, err := redis.Open(redisConfig(s.Redis, log))
	if err != nil {
		return nil, check, nil, err
	}
	sign := signal.Secret(s.NodeSecret.Reveal())
	if s.PrivateKeyPath != "" {
		if sign, err = redis.KeyFile(s.PrivateKeyPath); err != nil {
			return nil, check, nil, fmt.Errorf("private_key_path: %w", err)
		}
	}
	check = health.Check{Name: "redis", Type: "datastore", Run: func(ctx context.Context) (health.Status, error) {
		if client.Ping(ctx) != nil {
			return health.Warn, errRedisAway
		}
		return health.Pass, nil
	}}
	return redis.NewSink(client, sign), check, client, nil
}

var errRedisAway = fmt.Errorf("redis does not answer; gateways are told of changes when it is back")

func redisConfig(r config.Redis, log *slog.Logger) redis.Config {
	c := redis.Config{
		Addrs: r.Addresses(), Username: r.Username, Password: r.Password.Reveal(), Database: r.Database,
		MasterName: r.MasterName, SentinelPassword: r.SentinelPassword.Reveal(), Cluster: r.Cluster,
		Timeout: time.Duration(r.TimeoutSeconds) * time.Second, MaxConnections: r.MaxActive, Logger: log,
	}
	if r.TLS.Enabled {
		c.TLS = &redis.TLS{CAFile: r.TLS.CAFile, CertFile: r.TLS.CertFile, KeyFile: r.TLS.KeyFile, Insecure: r.TLS.InsecureSkipVerify,
			MinVersion: r.TLS.MinVersion, MaxVersion: r.TLS.MaxVersion}
	}
	return c
}
