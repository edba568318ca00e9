package opa_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

func tableOf(n int) (ops []operation.Operation) {
	for i := range n {
		p := access.Permission(fmt.Sprint("group", i%16))
		ops = append(ops, spec(fmt.Sprint("op", i), "PUT", fmt.Sprintf("/api/things%d/{id}", i), p, access.Write))
	}
	return ops
}

// BenchmarkDecide decides a permitted call by a user who is not an admin, under the
// default rules.
func BenchmarkDecide(b *testing.B) {
	for _, c := range []struct {
		name  string
		rows  int
		whole bool
		org   bool
	}{
		{"40 rows", 40, false, false}, {"340 rows", 340, false, false},
		{"40 rows, rules of the organisation", 40, false, true}, {"40 rows, whole table", 40, true, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			ops := tableOf(c.rows)
			cfg := opa.Config{WholeTable: c.whole}
			if c.org {
				cfg.OrgRules = orgRules(opa.DefaultRules())
			}
			e, err := opa.New(cfg, ops)
			if err != nil {
				b.Fatal(err)
			}
			m := access.Map{}
			for i := range 16 {
				m[fmt.Sprint("group", i)] = access.LevelWrite
			}
			var calls []*operation.Call
			for i := range ops {
				in := call(b, ops, ops[i].ID, fmt.Sprintf("/api/things%d/5f1a0c5d8e3b2a1f00000001", i), m)
				in.Body = append(append([]byte(`{"mappings":"`), bytes.Repeat([]byte("x"), 2000)...), `"}`...)
				calls = append(calls, in)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if v := decide(b, e, calls[i%len(calls)]); len(v.Denials) > 0 {
					b.Fatal(v)
				}
				i++
			}
		})
	}
}
