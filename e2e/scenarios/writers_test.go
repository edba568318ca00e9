package scenarios

import (
	"context"
	"fmt"
	"strconv"
	"sync"
)

// sharedIDP is the record that all writers write.
const sharedIDP = "shared"

// promise is the outcome of a series of writes of rising numbers: all up to acked were
// acknowledged; those up to tried may have happened.
type promise struct{ acked, tried int }

// admits returns an error if a value that was read cannot be the stored one.
func (p promise) admits(value string) error {
	n, err := strconv.Atoi(value)
	switch {
	case value == "" && p.acked == 0:
		return nil
	case err != nil:
		return fmt.Errorf("value %q, acknowledged %d", value, p.acked)
	case n < p.acked:
		return fmt.Errorf("lost: value %d, acknowledged %d", n, p.acked)
	case n > p.tried:
		return fmt.Errorf("value %d, but only %d were ever sent", n, p.tried)
	}
	return nil
}

// writer is one client. It owns one API's mapping, which it replaces, and one pair of
// scopes in a shared mapping, which it patches. Both scopes of a pair always get the
// same value in one request.
type writer struct {
	name string

	mu            sync.Mutex
	upsert, patch promise
	failures      int
}

func newWriters(n int) (all []*writer) {
	for i := range n {
		all = append(all, &writer{name: "w" + strconv.Itoa(i)})
	}
	return all
}

// write makes one upsert and one patch; it stops at the first failure.
func (w *writer) write(ctx context.Context, c *client, seen func(idp) error) error {
	if err := w.attempt(&w.upsert, seen, func(value string) (idp, error) {
		return c.putMapping(ctx, sharedIDP, "own-"+w.name, mapping{map[string]string{"a": value, "b": value}})
	}); err != nil {
		return err
	}
	return w.attempt(&w.patch, seen, func(value string) (idp, error) {
		return c.patchMappings(ctx, sharedIDP, scopes(ordersAPI, map[string]any{w.name + ".a": value, w.name + ".b": value}))
	})
}

func (w *writer) attempt(p *promise, seen func(idp) error, send func(value string) (idp, error)) error {
	w.mu.Lock()
	p.tried++
	n := p.tried
	w.mu.Unlock()
	answer, err := send(strconv.Itoa(n))
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.failures++
		return err
	}
	p.acked = n
	return seen(answer)
}

// progress returns how many writes were acknowledged and how many failed.
func (w *writer) progress() (acked, failed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.upsert.acked + w.patch.acked, w.failures
}

// verify compares a record with this writer's acknowledged writes.
func (w *writer) verify(p idp) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	own, shared := p.APIMappings["own-"+w.name].ScopeToPolicy, p.APIMappings[ordersAPI].ScopeToPolicy
	if err := w.upsert.admits(own["a"]); err != nil {
		return fmt.Errorf("upserts of %s: %w", w.name, err)
	}
	if err := w.patch.admits(shared[w.name+".a"]); err != nil {
		return fmt.Errorf("patches of %s: %w", w.name, err)
	}
	return nil
}

// torn returns an error for a pair whose halves differ.
func torn(p idp, writers []*writer) error {
	for _, w := range writers {
		own, shared := p.APIMappings["own-"+w.name].ScopeToPolicy, p.APIMappings[ordersAPI].ScopeToPolicy
		if own["a"] != own["b"] || shared[w.name+".a"] != shared[w.name+".b"] {
			return fmt.Errorf("torn: %s has %v and %v", w.name, own, shared)
		}
	}
	return nil
}

// verifyAll reads the shared record from a replica and compares it.
func verifyAll(ctx context.Context, c *client, writers []*writer) error {
	p, err := c.idp(ctx, sharedIDP)
	if err != nil {
		return err
	}
	if err := torn(p, writers); err != nil {
		return err
	}
	for _, w := range writers {
		if err := w.verify(p); err != nil {
			return err
		}
	}
	return nil
}
