package redis

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"github.com/gatehouse-io/gatehouse/core/signal"
)

// KeyFile returns a signer that uses the RSA key in a PEM file (PKCS #1 or #8), for gateways that
// have the public key.
// ¶ The payload is signed with RSA, in base64, as algorithm 0 (docs/wire/announcements.md#message).
// Gateways verify RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017, 8.2) over the payload alone, so the
// signature does not cover the command: a client that can publish could reuse a signature under
// another command. The node secret covers the command.
func KeyFile(path string) (signal.Signer, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("redis: signing key: %w", err)
	}
	key, err := parseKey(text)
	if err != nil {
		return nil, fmt.Errorf("redis: signing key in %s: %w", path, err)
	}
	sign := func(_ signal.Command, payload string) (string, int, error) {
		sum := sha256.Sum256([]byte(payload))
		signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
		return base64.StdEncoding.EncodeToString(signature), signal.RSA, err
	}
	if _, _, err := sign("", ""); err != nil { // a key that is too short, for example
		return nil, fmt.Errorf("redis: signing key in %s: %w", path, err)
	}
	return sign, nil
}

// parseKey parses a private key; its errors never quote the text.
func parseKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("not PEM")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("not an unencrypted PKCS #1 or PKCS #8 private key")
	}
	if key, ok := key.(*rsa.PrivateKey); ok {
		return key, nil
	}
	return nil, fmt.Errorf("a key of type %T, not RSA", key)
}
