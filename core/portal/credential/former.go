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

// Remembered is for how long a key that has ended is known: usage is told for no longer.
const Remembered = 91 * 24 * time.Hour

// maxFormer is how many keys of an app are known that have ended, the latest ones.
const maxFormer = 200

// Former are the keys of an app that have ended, sealed: gateways that do not hash keys
// report them as they are. What they have called is usage of the app all the same.
type Former struct {
	Portal tenant.ID `json:"org_id"`
	App    table.ID  `json:"app"`
	Sealed string    `json:"sealed"` // FormerKeys
}

// FormerKey is a key that has ended.
type FormerKey struct {
	Provider table.ID  `json:"provider"`
	Name     string    `json:"name"` // as gateways report it
	Ended    time.Time `json:"ended"`
}

// FormerKeys are the keys of an app that have ended, the latest last.
type FormerKeys []FormerKey

// ReadFormer reads what was sealed; "": there are none.
func ReadFormer(text string) (out FormerKeys, err error) {
	if text != "" {
		err = json.Unmarshal([]byte(text), &out)
	}
	return out, err
}

// With returns the keys and one more, without those that have been remembered for long enough.
func (f FormerKeys) With(k FormerKey) FormerKeys {
	out := slices.DeleteFunc(slices.Clone(f), func(o FormerKey) bool {
		return o.Provider == k.Provider && o.Name == k.Name || k.Ended.Sub(o.Ended) > Remembered
	})
	out = append(out, k)
	return out[max(0, len(out)-maxFormer):]
}
