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

// certificateEvery is how often, at most, certificate files are checked for changes.
const certificateEvery = time.Second

// pair names the files of a certificate and of its key, and the setting that has them.
type pair struct{ setting, certificate, key string }

// certificateFiles are the certificates of a socket. They are loaded again when their
// files change, because short-lived certificates are replaced every few weeks, and a
// restart may not happen. While the new files cannot be used, for example between the
// writes of a certificate and of its key, the old certificates are served.
type certificateFiles struct {
	pairs []pair
	every time.Duration

	mu     sync.Mutex
	looked time.Time
	files  []os.FileInfo // of the loaded certificates
	loaded []tls.Certificate
}

// newCertificateFiles loads certificates.
func newCertificateFiles(pairs []pair) (*certificateFiles, error) {
	c := &certificateFiles{pairs: pairs, every: certificateEvery, looked: time.Now()}
	return c, c.load(c.stat())
}

// choose is tls.Config.GetCertificate. Like the standard library, it returns the first
// certificate that the client supports.
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

// stat returns the file infos of all files; nil for one that cannot be read.
func (c *certificateFiles) stat() (out []os.FileInfo) {
	for _, p := range c.pairs {
		for _, file := range []string{p.certificate, p.key} {
			info, _ := os.Stat(file) // load returns the error
			out = append(out, info)
		}
	}
	return out
}

func unchanged(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// load loads all pairs, or changes nothing.
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
