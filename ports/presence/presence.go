// Package presence is the port that knows which gateway nodes are alive. It is about the
// present only: its data is not durable, and losing it loses only a list.
package presence

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Node is a gateway process, as known from its last calls.
type Node struct {
	ID        string                    // given at registration
	Session   string                    // constant for the life of the process
	Hostname  string                    // as reported by the node
	FirstSeen time.Time                 // by this service
	LastSeen  time.Time                 // last call of any sort
	LastBeat  time.Time                 // last heartbeat; zero before the first
	Feeds     map[string]store.Revision // revision of each feed it fetched last
}

// Board stores the known nodes. All replicas of a cluster share it.
type Board interface {
	// Note stores facts about nodes; later times win. It must be cheap: it is called about once a
	// second with all new facts.
	Note(ctx context.Context, nodes []Node) error
	// Forget removes a node that has deregistered.
	Forget(ctx context.Context, id string) error
	// Nodes returns every node that has called since a time.
	Nodes(ctx context.Context, since time.Time) ([]Node, error)
}

// Merge merges the facts of several replicas about the same nodes, sorted by ID: the latest
// times and the highest feed revisions count.
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
