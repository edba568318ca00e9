package scenarios

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	logins "github.com/gatehouse-io/gatehouse/e2e/idp"
)

// TestPortalOrders takes from a household all that it has and stands on, in every order.
// After each removal the gateway, the identity provider and the registry have exactly what
// they should.
func TestPortalOrders(t *testing.T) {
	e := controlled(t, environment{"PORTAL_SERVE": "shared", "STORAGE_MAIN_TYPE": "memory"}.with(hashing).with(registering))
	s := openShop(t, e, e.addr)
	s.publish(t)
	server := logins.New(logins.Other)
	t.Cleanup(server.Close)
	orders := permutations(slices.Sorted(maps.Keys(removals)))
	shown, all := 30, len(orders)
	if r := random(t); !long() { // those in which it is another one's turn come at random
		at := r.Perm(len(removals))
		orders = slices.DeleteFunc(orders, func(order []string) bool { return slices.Index(order, "identity provider") != at[0] })
	}
	began := time.Now()
	for n, order := range orders {
		h := s.settle(t, server, n)
		h.consistent(t, "settled")
		token := ""
		if n%shown == 0 {
			token = h.token(t)
			h.opens(t, "settled", token)
		}
		for i, name := range order {
			removals[name](h, t)
			what := fmt.Sprintf("%q of %q", order[:i+1], order)
			h.consistent(t, what)
			if n%shown == 0 {
				h.opens(t, what, token)
			}
		}
		h.clear(t)
	}
	t.Logf("%d of %d orders in %v", len(orders), all, time.Since(began).Round(time.Millisecond))
	e.healthy(t)
}

// token asks the identity provider as the client.
func (h *household) token(t *testing.T, scopes ...string) string {
	t.Helper()
	token, status := h.login.Token(h.client, h.secret, scopes...)
	if status != http.StatusOK {
		t.Fatalf("no token for %q: %d", scopes, status)
	}
	return token
}

// permutations returns all orders of a list.
func permutations(list []string) (out [][]string) {
	if len(list) < 2 {
		return [][]string{list}
	}
	for i, first := range list {
		rest := slices.Concat(list[:i], list[i+1:])
		for _, order := range permutations(rest) {
			out = append(out, append([]string{first}, order...))
		}
	}
	return out
}
