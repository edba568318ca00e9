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

// TestPortalOrders deletes everything in a household, and everything that it depends on,
// in every order. After each deletion the gateway, the identity provider and the registry
// have exactly the expected state.
func TestPortalOrders(t *testing.T) {
	r := random(t)
	env := environment{"STORAGE_MAIN_TYPE": "memory"}.with(hashing)
	t.Run("in one process", func(t *testing.T) {
		e := controlled(t, environment{"PORTAL_SERVE": "shared"}.with(env).with(registering))
		all := permutations(slices.Sorted(maps.Keys(removals)))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if at := r.IntN(len(removals)); !long() { // all orders of the others
			all = slices.DeleteFunc(all, func(order []string) bool { return order[at] != "identity provider" })
		}
		openShop(t, e, e.addr).orders(t, all)
	})
	t.Run("as two processes", func(t *testing.T) {
		e := controlled(t, env)
		addr, _ := runPortal(t, env.with(registering))
		all := permutations(slices.Sorted(maps.Keys(removals)))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		if !long() {
			all = all[:20]
		}
		openShop(t, e, addr).orders(t, all)
	})
}

// shown is after how many households the gateway is called.
const shown = 30

func (s *shop) orders(t *testing.T, orders [][]string) {
	s.publish(t)
	server := logins.New(logins.Other)
	t.Cleanup(server.Close)
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
	t.Logf("%d orders in %v", len(orders), time.Since(began).Round(time.Millisecond))
	s.healthy(t)
}

// token requests a token from the identity provider as the client.
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
