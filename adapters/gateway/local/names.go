package local

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// algorithm is the hash function of gateways under which keys are found here.
const algorithm = "sha256"

// token is what callers of APIs send: the text inside says whose key it is
// (docs/wire/keys.md#names).
type token struct {
	Org       tenant.ID `json:"org"`
	ID        string    `json:"id"`
	Algorithm string    `json:"h"`
}

// text returns the token as text.
func (t token) text() string {
	raw, err := json.Marshal(t)
	if err != nil { // strings always marshal
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// readToken reads a text that may be a token.
func readToken(text string) (t token, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &t) != nil {
		return t, false
	}
	return t, t.Org != "" && t.ID != ""
}

// hash returns the hash under which a key is known.
func (k *Keys) hash(text string) string {
	if k.Plain {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// find returns the hash of the key that a name means.
func (k *Keys) find(org tenant.ID, name gateway.KeyName) string {
	if name.By == gateway.ByHash {
		return name.Text
	}
	if _, ok := readToken(name.Text); ok && name.By == gateway.ByKey {
		return k.hash(name.Text)
	}
	return k.hash(token{org, name.Text, algorithm}.text())
}
