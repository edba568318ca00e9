package opa_test

import (
	"context"
	"fmt"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// An organisation forbids public listen paths, and sets the names of its APIs.
func ExampleNew() {
	const text = `package dashboard_users

import rego.v1

deny contains "listen paths begin with /internal/" if {
	not startswith(input.request.body.listen_path, "/internal/")
}

patch_request contains {"name": upper(input.request.body.name)}`

	engine, err := opa.New(opa.Config{
		OrgRules: func(context.Context, tenant.ID) (string, error) { return text, nil },
	}, things)
	if err != nil {
		fmt.Println(err)
		return
	}
	verdict, err := engine.Decide(context.Background(), &operation.Call{
		Spec: &things[1].Spec, RawPath: "/api/apis/1", Principal: operation.Principal{ID: "u1", OrgID: "org1", Active: true},
		Body: []byte(`{"name":"orders","listen_path":"/orders/"}`),
	})
	fmt.Println(verdict.Denials, string(verdict.Patch), err)
	// Output: [listen paths begin with /internal/] {"name":"ORDERS"} <nil>
}
