package local

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// algorithm is the hash function of gateways under which keys are found here.
const algorithm = "sha256"

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
	if _, ok := key.ParseToken(name.Text); ok && name.By == gateway.ByKey {
		return k.hash(name.Text)
	}
	return k.hash(key.Token{Org: org, ID: name.Text, Algorithm: algorithm}.Text())
}
