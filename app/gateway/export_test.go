package gateway

import "context"

// Settle calls settle, which Run calls now and then.
func (n *Nodes) Settle(ctx context.Context) { n.settle(ctx) }
