package serve

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io/fs"
	"os"
	"testing"
)

// TestCertificateFiles replaces the files of a certificate: the new one is served when
// both files match, and the old one until then.
func TestCertificateFiles(t *testing.T) {
	cert, key := selfSigned(t)
	c, err := newCertificateFiles([]pair{{"certificates", cert, key}})
	if err != nil {
		t.Fatal(err)
	}
	c.every = 0
	shown := func() []byte {
		t.Helper()
		have, err := c.choose(&tls.ClientHelloInfo{})
		if err != nil {
			t.Fatal(err)
		}
		return have.Certificate[0]
	}
	old := shown()
	newCert, newKey := selfSigned(t)
	if err := os.Rename(newCert, cert); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(shown(), old) {
		t.Error("another certificate is shown before there is its key")
	}
	if err := os.Rename(newKey, key); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(shown(), old) {
		t.Error("the old certificate is still shown")
	}
	if _, err := newCertificateFiles([]pair{{"certificates", cert, cert + ".none"}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a key: %v", err)
	}
}
