package redis

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// TLS configures TLS to Redis. Files are PEM; empty values take Go's defaults.
type TLS struct {
	CAFile     string // authorities that sign Redis's certificate; default: those of the system
	CertFile   string // certificate shown to Redis
	KeyFile    string // its key
	Insecure   bool   // skip the verification of Redis's certificate
	MinVersion string // "1.0" to "1.3"
	MaxVersion string
}

var versions = map[string]uint16{"": 0, "1.0": tls.VersionTLS10, "1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

func (t *TLS) config() (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	low, lowOK := versions[t.MinVersion]
	high, highOK := versions[t.MaxVersion]
	if !lowOK || !highOK {
		return nil, fmt.Errorf("redis: TLS versions are 1.0, 1.1, 1.2 and 1.3, not %q and %q", t.MinVersion, t.MaxVersion)
	}
	out := &tls.Config{MinVersion: low, MaxVersion: high, InsecureSkipVerify: t.Insecure}
	if t.CAFile != "" {
		text, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("redis: authorities (redis_ca_file): %w", err)
		}
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("redis: authorities (redis_ca_file): %s holds no certificate", t.CAFile)
		}
	}
	if t.CertFile != "" || t.KeyFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("redis: certificate (redis_cert_file, redis_key_file): %s: %w", t.CertFile, err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}
