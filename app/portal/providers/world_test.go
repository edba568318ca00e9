package providers_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// caller returns a function that runs an operation as the guard would.
func caller(t *testing.T, o operation.Operation, scope tenant.Scope) func(body string, path map[string]string) (any, error) {
	return func(body string, path map[string]string) (any, error) {
		return o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Scope: scope, Path: path, Body: []byte(body)})
	}
}
