package redis_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/redis"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/notify"
)

func TestOpenRefuses(t *testing.T) {
	garbage := filepath.Join(t.TempDir(), "garbage.pem")
	if err := os.WriteFile(garbage, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := []string{"127.0.0.1:6379"}
	for _, c := range []struct {
		name   string
		config redis.Config
		want   string
	}{
		{"no address", redis.Config{}, "no address"},
		{"no port", redis.Config{Addrs: []string{"127.0.0.1:6379", "localhost"}}, "address 2 is not host:port"},
		{"empty port", redis.Config{Addrs: []string{"localhost:"}}, "address 1"},
		{"a URL", redis.Config{Addrs: []string{"redis://u:hunter2@localhost:6379"}}, "address 1"},
		{"credentials", redis.Config{Addrs: []string{"hunter2@localhost:6379"}}, "address 1"},
		{"TLS version", redis.Config{Addrs: good, TLS: &redis.TLS{MinVersion: "2"}}, `not "2"`},
		{"no such CA", redis.Config{Addrs: good, TLS: &redis.TLS{CAFile: garbage + "x"}}, "authorities"},
		{"CA is none", redis.Config{Addrs: good, TLS: &redis.TLS{CAFile: garbage}}, "holds no certificate"},
		{"certificate is none", redis.Config{Addrs: good, TLS: &redis.TLS{CertFile: garbage, KeyFile: garbage}}, "certificate"},
		{"certificate without key", redis.Config{Addrs: good, TLS: &redis.TLS{CertFile: garbage}}, "certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, err := redis.Open(c.config)
			if err == nil || client != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("have %v, want %q", err, c.want)
			}
		})
	}
}

func TestConfigHidesPasswords(t *testing.T) {
	c := redis.Config{Addrs: []string{"a:1", "b:2"}, Password: "hunter2", SentinelPassword: "hunter2"}
	encoded, err := json.Marshal(redis.Config{Addrs: c.Addrs, Password: c.Password, SentinelPassword: c.SentinelPassword})
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprintf("%v %+v %#v %s %q %v %s", c, c, c, c, c, &c, encoded)
	if strings.Contains(all, "hunter2") || !strings.Contains(all, "a:1,b:2") {
		t.Error(all)
	}
}

func TestPing(t *testing.T) {
	s := newServer(t)
	client := open(t, redis.Config{Addrs: []string{s.addr}})
	if err := client.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	s.stop()
	if err := client.Ping(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "redis: ping: ") {
		t.Errorf("Redis is away: %v", err)
	}
	s.start(t)
	eventually(t, "Redis answers again", func() bool { return client.Ping(t.Context()) == nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := client.Ping(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := client.Ping(t.Context()); err == nil {
		t.Error("a closed client pings")
	}
}

// TestLibraryLog: the library's messages are logged at level debug, without passwords.
func TestLibraryLog(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close() // then nothing listens there
	for level, want := range map[slog.Level]bool{slog.LevelDebug: true, slog.LevelInfo: false} {
		var log bytes.Buffer
		client := open(t, redis.Config{Addrs: []string{l.Addr().String()}, Password: "connect", // a word of the message
			Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level}))})
		if err := client.Ping(t.Context()); err == nil {
			t.Error("somebody answers")
		}
		if have := log.String(); strings.Contains(have, "failed to dial") != want || strings.Contains(have, "connect") {
			t.Errorf("%s: %s", level, have)
		}
	}
}

// TestTLS: both sides show certificates.
func TestTLS(t *testing.T) {
	a := newAuthority(t)
	certificate, key := a.issue(t, "server")
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	f := newFake(t, &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.pool,
		MaxVersion: tls.VersionTLS12}, ok)
	certificate, key = a.issue(t, "client")
	for _, c := range []struct {
		name string
		tls  redis.TLS
		want bool
	}{
		{"both certificates", redis.TLS{CAFile: a.file, CertFile: certificate, KeyFile: key, MinVersion: "1.2", MaxVersion: "1.3"}, true},
		{"not checked", redis.TLS{Insecure: true, CertFile: certificate, KeyFile: key}, true},
		{"unknown authority", redis.TLS{CertFile: certificate, KeyFile: key}, false},
		{"no certificate", redis.TLS{CAFile: a.file}, false},
		{"version", redis.TLS{CAFile: a.file, CertFile: certificate, KeyFile: key, MinVersion: "1.3"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := open(t, redis.Config{Addrs: []string{f.addr}, TLS: &c.tls})
			if err := client.Ping(t.Context()); (err == nil) != c.want {
				t.Error(err)
			}
		})
	}
}

// TestSentinel: the server is the one sentinels name, each with its own password.
func TestSentinel(t *testing.T) {
	main := newFake(t, nil, ok)
	host, port, err := net.SplitHostPort(main.addr)
	if err != nil {
		t.Fatal(err)
	}
	sentinel := newFake(t, nil, func(command []string) string {
		if strings.EqualFold(command[0], "SENTINEL") && strings.EqualFold(command[1], "get-master-addr-by-name") && command[2] == "main" {
			return fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(host), host, len(port), port)
		}
		if strings.EqualFold(command[0], "SENTINEL") {
			return "*0\r\n"
		}
		return ok(command)
	})
	client := open(t, redis.Config{Addrs: []string{sentinel.addr}, MasterName: "main", Password: "one", SentinelPassword: "two"})
	if err := redis.NewSink(client, signal.Secret("s")).Deliver(t.Context(), []notify.Announcement{{Rev: 1, Signal: signal.CatchUp()[0]}}); err != nil {
		t.Fatal(err)
	}
	if len(main.heard("PUBLISH")) != 1 || main.heard("AUTH")[0] != "auth one" || sentinel.heard("AUTH")[0] != "auth two" {
		t.Errorf("the server was asked %v, the sentinel %v", main.asked, sentinel.asked)
	}
}

// TestCluster: announcements go to the node that owns the channel's slot, where
// gateways subscribe.
func TestCluster(t *testing.T) {
	var nodes [2]*fake
	slots := func(command []string) string {
		if !strings.EqualFold(command[0], "CLUSTER") {
			return ok(command)
		}
		out := "*2\r\n"
		for i, limits := range [][2]int{{0, 8191}, {8192, 16383}} {
			out += fmt.Sprintf("*3\r\n:%d\r\n:%d\r\n", limits[0], limits[1]) + node(nodes[i], i)
		}
		return out
	}
	for i := range nodes {
		nodes[i] = newFake(t, nil, slots)
	}
	client := open(t, redis.Config{Addrs: []string{nodes[1].addr}, Cluster: true})
	sink := redis.NewSink(client, signal.Secret("s"))
	for range 5 {
		if err := sink.Deliver(t.Context(), []notify.Announcement{{Rev: 1, Signal: signal.CatchUp()[0]}}); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := len(nodes[0].heard("PUBLISH")), len(nodes[1].heard("PUBLISH")); max(a, b) != 5 || min(a, b) != 0 {
		t.Errorf("published %d and %d times", a, b)
	}
	if err := client.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// node returns a node of a cluster as the answer to CLUSTER SLOTS has it.
func node(f *fake, id int) string {
	host, port, _ := net.SplitHostPort(f.addr)
	return fmt.Sprintf("*3\r\n$%d\r\n%s\r\n:%s\r\n$1\r\n%d\r\n", len(host), host, port, id)
}

// TestClusterFailover: when the node of the channel dies, announcements go to the node that
// took over, without the minute after which the library asks for the nodes by itself.
func TestClusterFailover(t *testing.T) {
	var nodes [2]*fake
	var owner atomic.Int64
	slots := func(command []string) string {
		if !strings.EqualFold(command[0], "CLUSTER") {
			return ok(command)
		}
		out := "*1\r\n*4\r\n:0\r\n:16383\r\n"
		for i := range nodes { // the master comes first
			at := (int(owner.Load()) + i) % len(nodes)
			out += node(nodes[at], at)
		}
		return out
	}
	for i := range nodes {
		nodes[i] = newFake(t, nil, slots)
	}
	sink := redis.NewSink(open(t, redis.Config{Addrs: []string{nodes[0].addr, nodes[1].addr}, Cluster: true}), signal.Secret("s"))
	deliver := func() error {
		return sink.Deliver(t.Context(), []notify.Announcement{{Rev: 1, Signal: signal.CatchUp()[0]}})
	}
	if err := deliver(); err != nil {
		t.Fatal(err)
	}
	owner.Store(1)
	nodes[0].stop()
	eventually(t, "the other node publishes", func() bool { return deliver() == nil })
	if a, b := len(nodes[0].heard("PUBLISH")), len(nodes[1].heard("PUBLISH")); a != 1 || b != 1 {
		t.Errorf("published %d and %d times", a, b)
	}
}

// authority issues certificates for the loopback address.
type authority struct {
	file string
	pool *x509.CertPool
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key, pool: x509.NewCertPool(), file: filepath.Join(t.TempDir(), "ca.pem"), cert: &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}}
	der, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, a.file, "CERTIFICATE", der)
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	return a
}

func (a *authority) issue(t *testing.T, name string) (certificate, key string) {
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.cert, &own.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	writePEM(t, certificate, "CERTIFICATE", der)
	writePEM(t, key, "PRIVATE KEY", secret)
	return certificate, key
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
