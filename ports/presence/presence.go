// Package presence is the port that knows which gateway nodes are alive. It is
// about the present only: nothing here is durable, and losing it loses nothing
// but a list.
package presence

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Node is a gateway process as last heard of.
type Node struct {
	ID        string                    // given at registration
	Session   string                    // constant for the life of the process
	Hostname  string                    // as the node says
	FirstSeen time.Time                 // by this service
	LastSeen  time.Time                 // last call of any sort
	LastBeat  time.Time                 // last heartbeat; zero before the first
	Feeds     map[string]store.Revision // revision of each feed it fetched last
}

// Board is where nodes are noted, shared by all replicas of a cluster.
type Board interface {
	// Note remembers what was heard of nodes; later times win. It must be cheap:
	// it is called about once a second with all news.
	Note(ctx context.Context, nodes []Node) error
	// Forget drops a node that said goodbye.
	Forget(ctx context.Context, id string) error
	// Nodes returns every node heard of since a time.
	Nodes(ctx context.Context, since time.Time) ([]Node, error)
}

// Merge joins what several replicas heard of the same nodes, in order of ID:
// the latest times and the furthest feeds count.
func Merge(nodes []Node) []Node {
	byID := map[string]Node{}
	for _, n := range nodes {
		o, known := byID[n.ID]
		if !known {
			byID[n.ID] = n
			continue
		}
		if o.LastSeen.After(n.LastSeen) {
			n, o = o, n
		}
		if o.LastBeat.After(n.LastBeat) {
			n.LastBeat = o.LastBeat
		}
		if o.FirstSeen.Before(n.FirstSeen) {
			n.FirstSeen = o.FirstSeen
		}
		feeds := maps.Clone(o.Feeds)
		if feeds == nil {
			feeds = map[string]store.Revision{}
		}
		for feed, rev := range n.Feeds {
			feeds[feed] = max(rev, feeds[feed])
		}
		n.Feeds = feeds
		byID[n.ID] = n
	}
	return slices.SortedFunc(maps.Values(byID), func(a, b Node) int { return strings.Compare(a.ID, b.ID) })
}
