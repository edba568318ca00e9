package gateway

import "context"

// Settle is what Run does now and then.
func (n *Nodes) Settle(ctx context.Context) { n.settle(ctx) }
