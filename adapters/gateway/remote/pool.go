package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// order returns the gateways; gateways whose last call succeeded come first.
func (c *Client) order() []*node {
	var good, bad []*node
	for _, n := range c.nodes {
		n.mu.Lock()
		away := n.asked && !n.answers
		n.mu.Unlock()
		if away {
			bad = append(bad, n)
		} else {
			good = append(good, n)
		}
	}
	return append(good, bad...)
}

// share limits the time of one attempt so that later attempts have time as well.
func share(ctx context.Context, attempts int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok || attempts < 2 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(attempts))
}

// attempt calls one gateway, unless its circuit breaker is open.
func (c *Client) attempt(ctx context.Context, n *node, k call, shares int) outcome {
	done, err := n.breaker.Allow()
	if err != nil {
		return outcome{err: fmt.Errorf("%w: %s is left alone for a moment", errTrouble, n.url)}
	}
	within, cancel := share(ctx, shares)
	defer cancel()
	out := c.ask(within, n, k)
	health := error(nil)
	if errors.Is(out.err, errTrouble) {
		if health = out.err; errors.Is(ctx.Err(), context.Canceled) {
			health = errGivenUp
		}
	}
	n.note(health)
	done(health)
	return out
}

// read calls the gateways one after the other until one answers.
func (c *Client) read(ctx context.Context, k call) ([]byte, error) {
	nodes := c.order()
	err := errors.New("there is no gateway")
	for i, n := range nodes {
		if ctx.Err() != nil {
			break
		}
		out := c.attempt(ctx, n, k, len(nodes)-i)
		if !errors.Is(out.err, errTrouble) {
			return out.body, out.err
		}
		err = out.err
	}
	if ctx.Err() != nil {
		err = errors.Join(err, ctx.Err())
	}
	return nil, fmt.Errorf("%w: %w", gateway.ErrUnreachable, err)
}

// arrived looks up whether a write has been carried out. It is nil if that cannot be
// looked up.
type arrived func(ctx context.Context) (bool, error)

// write calls a gateway to change something. When the answer is lost, write looks up
// whether the change has arrived, and sends the call again if it has not. A nil body
// means that the change has arrived and its answer is lost.
func (c *Client) write(ctx context.Context, k call, look arrived) ([]byte, error) {
	nodes := c.order()
	if len(nodes) == 1 {
		nodes = append(nodes, nodes[0]) // the first gateway may answer again
	}
	err, class := errors.New("there is no gateway"), gateway.ErrUnreachable
	for i, n := range nodes {
		if ctx.Err() != nil {
			err = errors.Join(err, ctx.Err())
			break
		}
		out := c.attempt(ctx, n, k, 2*(len(nodes)-i))
		if !errors.Is(out.err, errTrouble) {
			return out.body, out.err
		}
		if err = out.err; !out.sent {
			continue
		}
		class = gateway.ErrUncertain // also when the look-up does not find it: the change may arrive late
		if look == nil {
			return nil, fmt.Errorf("%w: %w", gateway.ErrUncertain, err)
		}
		switch there, lookErr := look(ctx); {
		case lookErr != nil:
			return nil, fmt.Errorf("%w: %w", class, err)
		case there:
			return nil, nil
		}
	}
	return nil, fmt.Errorf("%w: %w", class, err)
}

// again is the look-up for a write that can be repeated without harm.
func again(context.Context) (bool, error) { return false, nil }
