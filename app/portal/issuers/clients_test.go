package issuers

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

// TestBehindGrowth: checking whether clients are behind takes linear time, although each of
// them has a policy.
func TestBehindGrowth(t *testing.T) {
	growth.Linear(t, 200, func(size int) func() {
		var list []*doc.Node
		var grants []*Grant
		for i := range size {
			n := doc.NewObject()
			n.Set("_id", doc.NewString(fmt.Sprint("policy-", i)))
			n.Set("id", doc.NewString(fmt.Sprint("portal-client-", i)))
			list = append(list, n)
			own, err := json.Marshal(clientMemo{ID: fmt.Sprint(i), State: credential.ClientState{Policy: sync.Ref{ObjectID: fmt.Sprint("policy-", i)}}})
			if err != nil {
				t.Fatal(err)
			}
			grants = append(grants, &Grant{Memo: own})
		}
		return func() {
			known := PoliciesOf(list)
			for _, g := range grants {
				if _, err := (Clients{}).Behind(synchronise.Provider{}, known, g); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
