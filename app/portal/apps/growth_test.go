package apps

import (
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// TestHalvesGrowth: matching keys with credentials takes linear time, by the text of a key as
// well as by its hash.
func TestHalvesGrowth(t *testing.T) {
	growth.Linear(t, 500, func(size int) func() {
		h := halves{secrets: map[table.ID]credential.Values{}, given: newNames()}
		for i := range size {
			v := credential.Values{Secrets: credential.Secrets{Key: fmt.Sprint("key ", i), Hash: fmt.Sprint("hash ", i)}}
			h.credentials, h.secrets[table.ID(i)] = append(h.credentials, credential.Credential{Base: table.Base{ID: table.ID(i)}}), v
			h.given.add(v.Key, v.Hash)
		}
		return func() {
			for i := range size {
				if !h.opens(dashboard.Key{ID: fmt.Sprint("key ", i)}) || !h.opens(dashboard.Key{Hash: fmt.Sprint("hash ", i)}) || h.opens(dashboard.Key{}) || h.opens(dashboard.Key{ID: "other"}) {
					t.Error("a key is taken for another one")
				}
			}
		}
	})
}
