package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// rulesRows measures one decision by the default rules in Rego, and by the built-in
// ones.
func rulesRows(ctx context.Context, b *bench) (rows []row, err error) {
	w, err := newWorld(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.stop(ctx)) }()
	table := w.Operations()
	engine, err := opa.New(opa.Config{Logger: quiet()}, table)
	if err != nil {
		return nil, err
	}
	call, err := w.upsertCall(table)
	if err != nil {
		return nil, err
	}
	results, err := b.race(ctx, "rules", deciding("built in", rules.BuiltIn{}, call), deciding("Rego", engine, call))
	if err != nil {
		return nil, err
	}
	micros := 1e6 / results[1].rate()
	return []row{
		{figure: "built-in decision", value: significant(1e6 / results[0].rate()), unit: "µs", allocs: median(results[0].allocs)},
		{id: "rules/opa", figure: "decision by the default rules in Rego", value: significant(micros), unit: "µs",
			ratios: []ratio{{results[0].over(results[1]), "time of the built-in decision"}}, aim: atMost(micros, 100, "µs"), allocs: median(results[1].allocs)},
	}, nil
}

// upsertCall is an upsert by a user who may write and is not an admin.
func (w *world) upsertCall(table []operation.Operation) (*operation.Call, error) {
	for i := range table {
		if table[i].ID == "clientidps.mappings.put" {
			return &operation.Call{
				Spec: &table[i].Spec, Scope: w.scope, RequestID: "bench", RawPath: "/api/clientidps/corp-0/mappings/api-5",
				Path: map[string]string{"id": "corp-0", "apiId": "api-5"}, Body: json.RawMessage(mapping(0)),
				Principal: operation.Principal{ID: "5f1a0c5d8e3b2a1f00000002", OrgID: w.org, Active: true,
					Permissions: access.Map{"apis": access.LevelWrite, "policies": access.LevelRead}},
			}, nil
		}
	}
	return nil, errors.New("the table has no upsert")
}

// deciding is a contestant that decides about a permitted call.
func deciding(what string, e rules.Engine, call *operation.Call) contestant {
	return contestant{name: what, do: func(ctx context.Context, _, _ int) error {
		v, err := e.Decide(ctx, call)
		if err == nil && len(v.Denials) > 0 {
			err = fmt.Errorf("refused: %v", v.Denials)
		}
		return err
	}}
}
