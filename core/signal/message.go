package signal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Channel is the Redis channel gateways listen on (docs/wire/announcements.md#message).
const Channel = "tyk.cluster.notifications"

// Signer signs a message. algorithm is the number that tells gateways the algorithm.
type Signer func(command Command, payload string) (signature string, algorithm int, err error)

// The numbers of the algorithms (docs/wire/announcements.md#message).
const (
	SHA256 = 5 // lower-case hex of SHA-256 over command, payload and node secret
	RSA    = 0 // base64 of an RSA signature over the payload
)

// Secret returns a Signer for the secret that gateways share with this service.
func Secret(nodeSecret string) Signer {
	return func(command Command, payload string) (string, int, error) {
		sum := sha256.Sum256([]byte(string(command) + payload + nodeSecret))
		return hex.EncodeToString(sum[:]), SHA256, nil
	}
}

// Message returns s as gateways read it. It returns only errors of sign.
func (s Signal) Message(sign Signer) ([]byte, error) {
	payload := strings.ToValidUTF8(s.Payload, "\ufffd") // invalid UTF-8 would change in JSON, and the signature would not fit
	signature, algorithm, err := sign(s.Command, payload)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Command   Command `json:"command"`
		Payload   string  `json:"payload"`
		Signature string  `json:"signature"`
		Algorithm int     `json:"algorithm"`
	}{s.Command, payload, signature, algorithm})
}
