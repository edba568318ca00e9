package scenarios

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

// If several APIs are created with the same listen path at the same moment, on
// different replicas, one succeeds; the others get an error, and the API is on every
// replica at once.
func (c *cluster) testAddresses(t *testing.T) {
	const rounds = 10
	for round := range rounds {
		path := fmt.Sprintf("/contested-%d/", round)
		results := c.together(func(i int, s *service) error {
			id := fmt.Sprintf("contested-%d-%d", round, i)
			api := classicAPI(id, object{"use_keyless": true, "proxy": object{"listen_path": path, "target_url": "http://127.0.0.1:9/"}})
			return s.api.call(t.Context(), http.MethodPost, classicAPIs, api, nil)
		})
		made := -1
		for i, err := range results {
			switch {
			case err == nil && made < 0:
				made = i
			case statusOf(err) != http.StatusForbidden:
				t.Errorf("round %d, replica %d: %v", round, i, err)
			}
		}
		if made < 0 {
			t.Fatalf("round %d: none was made: %v", round, errors.Join(results...))
		}
		for _, s := range c.replicas {
			s.api.get(t, fmt.Sprintf("%s/contested-%d-%d", classicAPIs, round, made), nil)
		}
	}
	for i, g := range c.gateways {
		waitFor(t, g, fmt.Sprintf("all APIs on gateway %d", i+1), func(s gatewaysim.State) bool { return len(s.APIs) == rounds+1 })
	}
}

// together runs a function on all replicas at the same moment.
func (c *cluster) together(do func(i int, s *service) error) []error {
	results := make([]error, len(c.replicas))
	var all sync.WaitGroup
	for i, s := range c.replicas {
		all.Go(func() { results[i] = do(i, s) })
	}
	all.Wait()
	return results
}
