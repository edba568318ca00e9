package delivery

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Headers of deliveries.
const (
	HeaderID        = "Webhook-Id"
	HeaderTime      = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
	HeaderEvent     = "X-Event-Id"
	HeaderDigest    = "X-Tyk-Signature"
)

// encoded is the prefix of a secret in base64.
const encoded = "whsec_"

// Limits of secrets, in bytes of their text.
const (
	minSecret = 16
	maxSecret = 256
)

// CodeSecret is the code of the fault for a secret that cannot be used for signing.
const CodeSecret = Kind + ".secret"

// Headers returns the headers with the identifier of a message, the same for each attempt, and
// its signatures: that of Standard Webhooks over identifier, time and body, and that of portal
// clients over the body. Without a secret there are no signatures.
func Headers(id string, at time.Time, secret string, body []byte) map[string]string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	out := map[string]string{HeaderID: id, HeaderEvent: id, HeaderTime: stamp}
	if secret != "" {
		key := []byte(secret)
		if text, ok := strings.CutPrefix(secret, encoded); ok {
			if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
				key = raw
			}
		}
		out[HeaderSignature] = "v1," + base64.StdEncoding.EncodeToString(digest(key, id, ".", stamp, ".", string(body)))
		out[HeaderDigest] = "sha256=" + hex.EncodeToString(digest([]byte(secret), string(body)))
	}
	return out
}

// CheckSecret returns the fault of a secret; an empty one is allowed.
func CheckSecret(secret string) error {
	if secret == "" {
		return nil
	}
	if len(secret) < minSecret || len(secret) > maxSecret {
		return fault.New(fault.Invalid, CodeSecret, "must have %d to %d characters", minSecret, maxSecret)
	}
	if text, ok := strings.CutPrefix(secret, encoded); ok {
		if _, err := base64.StdEncoding.DecodeString(text); err != nil {
			return fault.New(fault.Invalid, CodeSecret, "must be base64 after %s", encoded)
		}
	}
	return nil
}

func digest(key []byte, parts ...string) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}
