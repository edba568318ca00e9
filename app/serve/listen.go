package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// sockets are where the service accepts connections, before any encryption.
type sockets struct {
	main, metrics net.Listener // metrics: nil when they are served beside the rest
}

// Close closes both.
func (s *sockets) Close() error {
	err := s.main.Close()
	if s.metrics != nil {
		err = errors.Join(err, s.metrics.Close())
	}
	return err
}

// all returns the sockets in the order in which they are passed on.
func (s *sockets) all() []net.Listener {
	if s.metrics == nil {
		return []net.Listener{s.main}
	}
	return []net.Listener{s.main, s.metrics}
}

// openSockets takes the sockets that this process has been given, and opens those
// that are missing. The first one given is the service's, the second that of metrics.
func openSockets(ctx context.Context, s config.Settings, given []net.Listener) (*sockets, error) {
	opened := given
	addresses := []struct{ setting, address string }{{"listen_port", s.Listen.Address()}}
	if s.MetricsAddress != "" {
		addresses = append(addresses, struct{ setting, address string }{"metrics.listen_address", s.MetricsAddress})
	}
	if len(given) > len(addresses) {
		return nil, errors.Join(fmt.Errorf("LISTEN_FDS: %d sockets were passed to a service that uses %d; set metrics.listen_address to serve metrics at the second",
			len(given), len(addresses)), closeAll(given))
	}
	for _, a := range addresses[len(given):] {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", a.address)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", a.setting, err), closeAll(opened))
		}
		opened = append(opened, l)
	}
	out := &sockets{main: opened[0]}
	if len(opened) > 1 {
		out.metrics = opened[1]
	}
	return out, nil
}

func closeAll(ls []net.Listener) error {
	var errs []error
	for _, l := range ls {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// serverTLS loads the certificates, or returns nil when TLS is off.
func serverTLS(t config.TLS) (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	cfg := &tls.Config{MinVersion: max(t.MinVersion, tls.VersionTLS12)}
	for _, c := range t.Certificates {
		pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("http_server_options.certificates: %s: %w", c.CertFile, err)
		}
		cfg.Certificates = append(cfg.Certificates, pair)
	}
	for _, file := range t.Files {
		pair, err := tls.LoadX509KeyPair(file, file)
		if err != nil {
			return nil, fmt.Errorf("http_server_options.ssl_certificates: %s: %w", file, err)
		}
		cfg.Certificates = append(cfg.Certificates, pair)
	}
	return cfg, nil
}
