package sync_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

// TestWorkOfNew: the time of Want grows linearly with the records without a policy, and with
// the drafts of one name that get other APIs.
func TestWorkOfNew(t *testing.T) {
	growth.Linear(t, 1_000, func(size int) func() {
		s := sync.State{Tags: []string{"portal"}}
		for i := range size {
			s.Records = append(s.Records, sync.Record{Kind: sync.KindPlan, CID: cid(i), Terms: sync.Terms{Name: fmt.Sprint("new ", i)}})
			s.Policies = append(s.Policies, sync.Policy{Ref: sync.Ref{ObjectID: oid(i)}, Kind: sync.KindPlan, Terms: sync.Terms{Name: fmt.Sprint("old ", i)}})
		}
		return func() { sync.Want(s) }
	})
	growth.Linear(t, 300, func(size int) func() {
		s := sync.State{APIs: sync.Index{"a": {ID: "a", AuthTypes: []string{"authToken"}}, "b": {ID: "b", AuthTypes: []string{"jwt"}}}}
		for i := range size {
			was := sync.Terms{Name: "same", Draft: true, APIs: []string{"a"}, AuthTypes: []string{"authToken"}}
			ref := sync.Ref{ObjectID: oid(i)}
			now := sync.Terms{Name: "same", Draft: true, APIs: []string{"b"}, AuthTypes: []string{"authToken"}}
			s.Records = append(s.Records, sync.Record{Kind: sync.KindProduct, CID: cid(i), Ref: ref, Terms: now, Agreed: &was, Generation: 1})
			s.Policies = append(s.Policies, sync.Policy{Ref: ref, Kind: sync.KindProduct, Terms: was})
		}
		return func() { sync.Want(s) }
	})
}
