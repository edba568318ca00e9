package credential

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// FormerKind is the name of former keys in storage.
const FormerKind = "portal-former-keys"

// Remembered is how long an ended key is remembered. Usage is reported for no longer time.
const Remembered = 91 * 24 * time.Hour

// maxFormer is the maximum number of ended keys that are remembered for an app, the latest
// ones.
const maxFormer = 200

// Former is the ended keys of an app, sealed, because gateways that do not hash keys report
// them in plain text. The calls of these keys still count as usage of the app.
type Former struct {
	Portal tenant.ID `json:"org_id"`
	App    table.ID  `json:"app"`
	Sealed string    `json:"sealed"` // encrypted FormerKeys
}

// FormerKey is an ended key.
type FormerKey struct {
	Provider table.ID  `json:"provider"`
	Name     string    `json:"name"` // as gateways report it
	Ended    time.Time `json:"ended"`
}

// FormerKeys are the ended keys of an app, the latest last.
type FormerKeys []FormerKey

// ReadFormer decodes the unsealed text; "": there are none.
func ReadFormer(text string) (out FormerKeys, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &out)
	}
	return out, err
}

// With returns the keys with one more, without those that ended too long ago.
func (f FormerKeys) With(k FormerKey) FormerKeys {
	out := slices.DeleteFunc(slices.Clone(f), func(o FormerKey) bool {
		return o.Provider == k.Provider && o.Name == k.Name || k.Ended.Sub(o.Ended) > Remembered
	})
	out = append(out, k)
	return out[max(0, len(out)-maxFormer):]
}
