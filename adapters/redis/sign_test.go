package redis_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/redis"
	"github.com/gatehouse-io/gatehouse/core/signal"
)

// TestKeyFile verifies signatures as gateways do.
func TestKeyFile(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	modern, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for kind, der := range map[string][]byte{"RSA PRIVATE KEY": x509.MarshalPKCS1PrivateKey(key), "PRIVATE KEY": modern} {
		path := filepath.Join(t.TempDir(), "key.pem")
		writePEM(t, path, kind, der)
		sign, err := redis.KeyFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []signal.Signal{{Command: signal.ClientIdPChanged, Payload: "corp"}, {Command: signal.GroupReload}} {
			raw, err := s.Message(sign)
			if err != nil {
				t.Fatal(err)
			}
			var m struct {
				Command, Payload, Signature string
				Algorithm                   any
			}
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			signature, err := base64.StdEncoding.DecodeString(m.Signature)
			if err != nil || m.Algorithm != 0.0 || m.Command != string(s.Command) || m.Payload != s.Payload {
				t.Fatalf("%s: %v", raw, err)
			}
			sum := sha256.Sum256([]byte(m.Payload))
			if err := rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], signature); err != nil {
				t.Errorf("%s: %v", raw, err)
			}
		}
	}
}

func TestKeyFileRefuses(t *testing.T) {
	folder := t.TempDir()
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	elliptic, err := x509.MarshalPKCS8PrivateKey(other)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, filepath.Join(folder, "elliptic"), "PRIVATE KEY", elliptic)
	writePEM(t, filepath.Join(folder, "garbage"), "RSA PRIVATE KEY", []byte("hunter2"))
	if err := os.WriteFile(filepath.Join(folder, "text"), []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"elliptic": "not RSA", "garbage": "private key", "text": "not PEM", "missing": "no such file"} {
		sign, err := redis.KeyFile(filepath.Join(folder, file))
		if err == nil || sign != nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", file, err)
		}
	}
}
