package remote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// order returns the gateways, those first whose last call went well.
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

// share bounds one attempt so that those after it have time as well.
func share(ctx context.Context, attempts int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok || attempts < 2 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(attempts))
}

// attempt asks one gateway, unless it is left alone for now.
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

// read asks the gateways one after the other until one answers.
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

// arrived looks up whether a write has been carried out. Nil where that cannot be known.
type arrived func(ctx context.Context) (bool, error)

// write asks a gateway to change something. When the answer is lost, it is looked up
// whether the change has arrived, and sent again if not. A body of nil means that it has
// arrived and nothing is known of the answer.
func (c *Client) write(ctx context.Context, k call, look arrived) ([]byte, error) {
	nodes := c.order()
	if len(nodes) == 1 {
		nodes = append(nodes, nodes[0]) // it may answer again
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
		class = gateway.ErrUncertain // also if it is not there now: it may come late
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

// again is the look-up of a write that can be repeated without harm.
func again(context.Context) (bool, error) { return false, nil }
