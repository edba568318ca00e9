package config

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Redis is where notifications are published.
type Redis struct {
	Host             string
	Port             int
	Addrs            []string          // host:port; overrides Hosts
	Hosts            map[string]string // host → port; overrides Host and Port
	Username         string
	Password         Secret
	MasterName       string // of a sentinel set-up; Addresses are then those of the sentinels
	SentinelPassword Secret
	TimeoutSeconds   int // of one network operation; 0 = default of the client library
	Database         int
	Cluster          bool
	MaxActive        int // open connections; 0 = default of the client library
	TLS              RedisTLS
}

// RedisTLS configures TLS for Redis. Files are PEM, versions are "1.0" to "1.3" or ""
// for the defaults of Go.
type RedisTLS struct {
	Enabled            bool
	InsecureSkipVerify bool
	CAFile             string
	CertFile, KeyFile  string
	MinVersion         string
	MaxVersion         string
}

// Enabled reports whether an address of Redis is set. Without one there are no
// notifications, and everything else works.
func (r Redis) Enabled() bool { return r.Host != "" || len(r.Addrs) > 0 || len(r.Hosts) > 0 }

// Addresses returns host:port of every Redis server; none if Redis is off.
func (r Redis) Addresses() []string {
	switch {
	case len(r.Addrs) > 0:
		return slices.Clone(r.Addrs)
	case len(r.Hosts) > 0:
		var out []string
		for _, host := range slices.Sorted(maps.Keys(r.Hosts)) {
			out = append(out, net.JoinHostPort(strings.TrimSpace(host), r.Hosts[host]))
		}
		return out
	case r.Host != "":
		return []string{net.JoinHostPort(r.Host, strconv.Itoa(r.Port))}
	default:
		return nil
	}
}
