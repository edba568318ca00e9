package serve

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"
)

// certificateEvery is how often, at most, files of certificates are looked at.
const certificateEvery = time.Second

// pair names the files of a certificate and of its key, and the setting that they come from.
type pair struct{ setting, certificate, key string }

// certificateFiles are those of a socket. They are read again when their files change: short-lived
// ones are replaced every few weeks, and a restart cannot be counted on. As long as the new ones
// cannot be used, such as between a certificate and its key, the old ones are.
type certificateFiles struct {
	pairs []pair
	every time.Duration

	mu     sync.Mutex
	looked time.Time
	files  []os.FileInfo // of the certificates in use
	loaded []tls.Certificate
}

// newCertificateFiles reads certificates.
func newCertificateFiles(pairs []pair) (*certificateFiles, error) {
	c := &certificateFiles{pairs: pairs, every: certificateEvery, looked: time.Now()}
	return c, c.load(c.stat())
}

// choose is tls.Config.GetCertificate. As the library does, it takes the first one that the client can use.
func (c *certificateFiles) choose(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	loaded := c.current()
	for i := range loaded {
		if hello.SupportsCertificate(&loaded[i]) == nil {
			return &loaded[i], nil
		}
	}
	return &loaded[0], nil
}

func (c *certificateFiles) current() []tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < c.every {
		return c.loaded
	}
	c.looked = time.Now()
	now := c.stat()
	if slices.EqualFunc(now, c.files, unchanged) {
		return c.loaded
	}
	if err := c.load(now); err != nil {
		slog.Error("certificates have changed and cannot be used; the old ones are served", "error", err)
	} else {
		slog.Info("certificates have changed and are served now")
	}
	return c.loaded
}

// stat looks at all files; nil stands for one that cannot be looked at.
func (c *certificateFiles) stat() (out []os.FileInfo) {
	for _, p := range c.pairs {
		for _, file := range []string{p.certificate, p.key} {
			info, _ := os.Stat(file) // load says what is wrong with it
			out = append(out, info)
		}
	}
	return out
}

func unchanged(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// load reads all pairs, or changes nothing.
func (c *certificateFiles) load(files []os.FileInfo) error {
	var loaded []tls.Certificate
	for _, p := range c.pairs {
		cert, err := tls.LoadX509KeyPair(p.certificate, p.key)
		if err != nil {
			return fmt.Errorf("%s: %w", p.setting, err)
		}
		if cert.Leaf != nil && time.Now().After(cert.Leaf.NotAfter) {
			slog.Error("a certificate has expired: clients refuse it; replace its file", "file", p.certificate, "since", cert.Leaf.NotAfter)
		}
		loaded = append(loaded, cert)
	}
	c.files, c.loaded = files, loaded
	return nil
}
