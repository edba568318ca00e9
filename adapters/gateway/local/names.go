package local

import (
	"github.com/gatehouse-io/gatehouse/adapters/gateway/keyhash"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// hash returns the hash by which a key is stored.
func (k *Keys) hash(text string) string {
	if k.Plain {
		return text
	}
	return keyhash.Of(text)
}

// find returns the hash of the key that a name refers to.
func (k *Keys) find(org tenant.ID, name gateway.KeyName) string {
	if name.By == gateway.ByHash {
		return name.Text
	}
	if _, whole := keyhash.Parse(name.Text); whole && name.By == gateway.ByKey {
		return k.hash(name.Text)
	}
	return k.hash(keyhash.Make(org, name.Text, keyhash.SHA256))
}
