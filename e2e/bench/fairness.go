package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/caps"
)

// fairly is how many times longer the writes of one organisation may take while another
// floods the service.
const fairly = 10

// fairnessRows measures how writes of one organisation affect another: first the
// largest policies alone, whose cost must be linear in their size, then small writes of
// a second organisation while the first floods the service.
func fairnessRows(ctx context.Context, b *bench) (rows []row, err error) {
	return b.onEach(ctx, fairnessOn, onSQLite, onPostgres)
}

func fairnessOn(ctx context.Context, b *bench, k backend) (rows []row, err error) {
	_, flooded, done, err := b.worldOn(ctx, k, app.WithAdminSecret(adminSecret))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	first, err := flooded.Bootstrap(ctx, identity.First{OrgID: "5f1a0c5d8e3b2a1f0000ffff", OwnerSlug: "other", Email: "other@example.com"})
	if err != nil {
		return nil, err
	}
	other := &world{App: flooded.App, token: first.AccessKey, org: first.OrgID}
	if err := other.seed(ctx, "corp", 1, 10); err != nil {
		return nil, err
	}
	most := capOfRights()
	var each [2]time.Duration
	for i, n := range []int{most / 10, most} {
		if each[i], err = flooded.rightsCost(ctx, n); err != nil {
			return nil, err
		}
	}
	ratioOf := float64(each[1]) / float64(each[0])
	rows = append(rows, row{id: "fairness/" + k.name + "/cap", figure: fmt.Sprintf("%s: replacing all of %s access rights, for each", k.name, grouped(int64(most))),
		value: significant(float64(each[1].Nanoseconds()) / 1e3), unit: "µs", ratios: []ratio{{ratioOf, "as many as a tenth"}}, aim: atMost(ratioOf, 2, "× for each of a tenth")})
	for _, f := range floods {
		r, err := f.rows(ctx, b, k, flooded, other)
		rows = append(rows, r...)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", f.id, err)
		}
	}
	return rows, nil
}

// capOfRights returns how many access rights a policy may have.
func capOfRights() int {
	for _, c := range caps.Policy.Caps {
		if c.Field == "access_rights" {
			return c.Most
		}
	}
	return 0
}

// rights returns a policy with n access rights that differ in each round.
func rights(id string, n, round int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"id":%[1]q,"name":%[1]q,"rate":1,"per":1,"access_rights":{`, id)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"api-%d-%d":{"versions":["Default"]}`, round, i)
	}
	b.WriteString("}}")
	return b.String()
}

// rightsCost returns the time of replacing all rights of a policy, per right.
func (w *world) rightsCost(ctx context.Context, n int) (time.Duration, error) {
	id := fmt.Sprintf("cost-%d", n)
	if _, err := w.call(ctx, "policies.create", nil, rights(id, n, 0)); err != nil {
		return 0, err
	}
	const rounds = 5
	began := time.Now()
	for round := range rounds {
		if _, err := w.call(ctx, "policies.replace", map[string]string{"id": id}, rights(id, n, round+1)); err != nil {
			return 0, err
		}
	}
	return time.Since(began) / time.Duration(rounds*n), nil
}

// writes upserts one mapping after the other and returns the time of each.
func (w *world) writes(ctx context.Context, n int) (took delays, err error) {
	for i := range n {
		began := time.Now()
		if _, err := w.call(ctx, "clientidps.mappings.put", map[string]string{"id": "corp-0", "apiId": "api-5"}, mapping(i)); err != nil {
			return nil, err
		}
		took.add(time.Since(began))
	}
	return took, nil
}
