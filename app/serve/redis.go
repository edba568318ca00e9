package serve

import (
	"fmt"
	"log/slog"
	"time"

	"context"

	"github.com/gatehouse-io/gatehouse/adapters/redis"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/app/health"
	"github.com/gatehouse-io/gatehouse/core/signal"
)

// announcementSigner returns the signer of announcements to gateways.
func announcementSigner(s config.Settings) (signal.Signer, error) {
	if s.PrivateKeyPath == "" {
		return signal.Secret(s.NodeSecret.Reveal()), nil
	}
	sign, err := redis.KeyFile(s.PrivateKeyPath)
	return sign, naming("private_key_path", err)
}

// redisCheck returns a check of Redis. Without Redis only announcements are delayed.
func redisCheck(client *redis.Client) health.Check {
	return health.Check{Name: "redis", Type: "datastore", Run: func(ctx context.Context) (health.Status, error) {
		if client.Ping(ctx) != nil {
			return health.Warn, errRedisAway
		}
		return health.Pass, nil
	}}
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
