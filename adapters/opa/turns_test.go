package opa_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// TestTurns: rules of one organisation leave a processor to others, and rules of another
// organisation do not wait for them.
func TestTurns(t *testing.T) {
	const rule = "package dashboard_users\ndeny[\"x\"] { TykAPIGet(\"/slow\") }"
	most := max(1, runtime.GOMAXPROCS(0)-1)
	begun, end := make(chan struct{}, 100), make(chan struct{})
	e := engine(t, opa.Config{OrgRules: orgRules(rule), Timeout: time.Hour, Lookup: func(_ context.Context, c *operation.Call, _ string) (any, error) {
		if c.Principal.OrgID != "org2" {
			begun <- struct{}{}
			<-end
		}
		return true, nil
	}})
	var all sync.WaitGroup
	for range most + 3 {
		all.Go(func() {
			if v, err := e.Decide(t.Context(), call(t, things, "apis.get", "/api/apis/1", nil)); err != nil || len(v.Denials) != 1 {
				t.Error(v, err)
			}
		})
	}
	for range most {
		<-begun
	}
	other := call(t, things, "apis.get", "/api/apis/1", nil)
	other.Principal.OrgID = "org2"
	if v, err := e.Decide(t.Context(), other); err != nil || len(v.Denials) != 1 {
		t.Error(v, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.Decide(short, call(t, things, "apis.get", "/api/apis/1", nil)); !errors.Is(err, opa.ErrNoVerdict) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error("without a turn:", err)
	}
	if len(begun) > 0 {
		t.Errorf("more than %d at once", most)
	}
	close(end)
	all.Wait()
}
