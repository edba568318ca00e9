package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// sockets are the listeners of the service, without TLS.
type sockets struct {
	main, metrics net.Listener // metrics: nil if the main listener serves them
	portal        net.Listener // nil: the main listener serves the portal, or nothing does
}

// Close closes all.
func (s *sockets) Close() error { return closeAll(s.all()) }

// all returns the sockets in the order in which a child inherits them.
func (s *sockets) all() []net.Listener {
	out := []net.Listener{s.main}
	for _, l := range []net.Listener{s.metrics, s.portal} {
		if l != nil {
			out = append(out, l)
		}
	}
	return out
}

// openSockets uses the sockets that this process inherits, and opens the missing ones.
// The first inherited socket is that of the service. Then come those of metrics and of
// the portal, if they have a socket of their own.
func openSockets(ctx context.Context, s config.Settings, given []net.Listener) (*sockets, error) {
	opened := given
	addresses := []struct{ setting, address string }{{"listen_port", s.Listen.Address()}}
	own := config.Listen{Host: s.Listen.Host, Port: s.Portal.HostPort}
	if s.Portal.Serve == config.PortalAlone {
		addresses[0].setting, addresses[0].address = "HostPort of the portal", own.Address()
	}
	if s.MetricsAddress != "" {
		addresses = append(addresses, struct{ setting, address string }{"metrics.listen_address", s.MetricsAddress})
	}
	if s.Portal.Serve == config.PortalOwn {
		addresses = append(addresses, struct{ setting, address string }{"HostPort of the portal", own.Address()})
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
	if s.MetricsAddress != "" {
		out.metrics = opened[1]
	}
	if s.Portal.Serve == config.PortalOwn {
		out.portal = opened[len(opened)-1]
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
	var err error
	// Unsafe suites are allowed when the setting names them: old clients may know no other.
	if cfg.CipherSuites, err = suites("http_server_options.ssl_ciphers", t.CipherSuites, append(tls.CipherSuites(), tls.InsecureCipherSuites()...)); err != nil {
		return nil, err
	}
	var pairs []pair
	for _, c := range t.Certificates {
		pairs = append(pairs, pair{"http_server_options.certificates: " + c.CertFile, c.CertFile, c.KeyFile})
	}
	for _, file := range t.Files {
		pairs = append(pairs, pair{"http_server_options.ssl_certificates: " + file, file, file})
	}
	return cfg, present(cfg, pairs)
}

// present sets the certificates of a server.
func present(cfg *tls.Config, pairs []pair) error {
	if len(pairs) == 0 {
		return nil
	}
	c, err := newCertificateFiles(pairs)
	cfg.GetCertificate = c.choose
	return err
}

// suites returns the IDs of the cipher suites in a setting, which must be in list.
func suites(setting string, names []string, list []*tls.CipherSuite) (out []uint16, err error) {
	known := map[string]uint16{}
	for _, suite := range list {
		known[suite.Name] = suite.ID
	}
	for _, name := range names {
		id, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("%s: %q is none of the cipher suites that there are: %s", setting, name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		out = append(out, id)
	}
	return out, nil
}

// security is the TLS configuration of each socket; nil: no TLS.
type security struct{ main, portal *tls.Config }

// secured loads the certificates of all sockets. At the port of the portal, the
// portal's own settings override those of the service.
func secured(s config.Settings) (out security, err error) {
	if out.main, err = serverTLS(s.TLS); err != nil {
		return out, err
	}
	out.portal = out.main
	if portalTLSOn(s.Portal) {
		if out.portal, err = portalTLS(s.Portal); err != nil {
			return out, err
		}
	}
	if s.Portal.Serve == config.PortalAlone {
		out.main = out.portal
	}
	return out, nil
}

// portalTLSOn reports whether the portal has a port of its own with TLS by its own
// settings.
func portalTLSOn(p config.Portal) bool {
	return p.TLS.Enable && (p.Serve == config.PortalOwn || p.Serve == config.PortalAlone)
}

// portalTLS returns the TLS configuration of the portal's own settings.
func portalTLS(p config.Portal) (*tls.Config, error) {
	t := p.TLS
	cfg := &tls.Config{MinVersion: max(uint16(t.MinVersion), tls.VersionTLS12), MaxVersion: uint16(t.MaxVersion)} //nolint:gosec // the settings were validated
	if cfg.MaxVersion < cfg.MinVersion {
		return nil, errors.New("TLSConfig.MaxVersion: it is older than the oldest version, which is 771 (TLS 1.2) at least")
	}
	var err error
	if cfg.CipherSuites, err = suites("TLSConfig.CipherSuites", t.CipherSuites, config.PortalSuites()); err != nil {
		return nil, err
	}
	if len(t.Certificates) == 0 {
		return nil, errors.New(`TLSConfig.Certificates: HTTPS needs one: [{"Name":"","CertFile":"portal.pem","KeyFile":"portal.key"}]`)
	}
	var pairs []pair
	for _, c := range t.Certificates {
		pairs = append(pairs, pair{fmt.Sprintf("TLSConfig.Certificates: %q", c["CertFile"]), c["CertFile"], c["KeyFile"]})
	}
	return cfg, present(cfg, pairs)
}

// over returns a listener with TLS, or l if t is nil.
func over(l net.Listener, t *tls.Config) net.Listener {
	if t == nil {
		return l
	}
	return tls.NewListener(l, t)
}
