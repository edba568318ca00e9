package keys

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// KeyData is a key in the form of responses.
type KeyData struct {
	Model   struct{} `json:"api_model"`
	ID      string   `json:"key_id" doc:"The key that API clients send. If the service does not know it: its hash. For a basic-auth user: organisation and name."`
	Session key.View `json:"data"`
	Hash    string   `json:"key_hash"`
}

// view returns the form of a key for a caller that used one of its names.
func view(org tenant.ID, k gateway.StoredKey, name gateway.KeyName, fresh bool) KeyData {
	v := KeyData{ID: k.ID, Hash: k.Hash, Session: key.Shown(k.Session, fresh)}
	switch {
	case name.By == gateway.ByUser: // by its name, or its key_id
		v.ID = string(org) + strings.TrimPrefix(name.Text, string(org))
	case v.ID == "" && name.By == gateway.ByKey && key.IsUser(k.Session): // by its name, its key_id, or the whole key
		v.ID = string(org) + strings.TrimPrefix(key.Identifier(name.Text), string(org))
	case v.ID == "":
		v.ID = name.Text
	}
	return v
}

// Keys is a page of IDs of keys.
type Keys struct {
	Data struct {
		Keys []string `json:"keys"`
	} `json:"data"`
	Pages int `json:"pages"`
}

// Detailed is a page of keys.
type Detailed struct {
	Keys  []KeyData `json:"keys"`
	Pages int       `json:"pages"`
}
