package gateway

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// feedListing lists the operations of users about feeds.
func (n *Nodes) feedListing() []operation.Operation {
	return operation.Group{
		Surface: operation.Management, Name: "system.feeds", Path: "/api/system/feeds", Tag: "System", Permission: access.System,
		Style: operation.Style{Word: "OK"},
	}.Rows(operation.GET("list", "", "List the feeds of gateways and what is left out of them", n.Feeds, operation.Lists(operation.Item{Name: "feed"}),
		operation.Notes("A record that gateways could not read is left out of its feed; the others are served. Problems describe the fault and contain no values."),
		operation.Example(nil, []FeedContent{{Name: "apis", Entries: 7, LeftOut: []feed.LeftOut{{
			Kind: "api", ID: "5f1a0c5d8e3b2a1f00000007", OrgID: "5f1a0c5d8e3b2a1f00000001",
			Problems: []shape.Problem{{Path: "api_definition.active", Want: "true or false", Got: "a string"}},
		}}}})))
}

// FeedContent says which records of an organisation are in a feed.
type FeedContent struct {
	Name    string         `json:"feed"`
	Entries int            `json:"entries"`
	LeftOut []feed.LeftOut `json:"left_out"`
}

type feedsIn struct{ Scope tenant.Scope }

// Feeds returns, for each feed, which records of the organisation gateways get, and
// which are left out.
func (n *Nodes) Feeds(ctx context.Context, in feedsIn) ([]FeedContent, error) {
	out := make([]FeedContent, 0, len(n.feeds))
	for _, f := range n.feeds {
		e, _, err := f.current(ctx, n.store)
		if err != nil {
			return nil, err
		}
		c := FeedContent{Name: f.source.Name, LeftOut: []feed.LeftOut{}}
		for org, count := range e.counts {
			if in.Scope.Admits(org) {
				c.Entries += count
			}
		}
		for _, l := range e.left {
			if in.Scope.Admits(l.OrgID) {
				c.LeftOut = append(c.LeftOut, l)
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// LeftOut returns how many records of all organisations a feed leaves out.
func (n *Nodes) LeftOut(ctx context.Context, name string) (int, error) {
	for _, f := range n.feeds {
		if f.source.Name == name {
			e, _, err := f.current(ctx, n.store)
			if err != nil {
				return 0, err
			}
			return len(e.left), nil
		}
	}
	return 0, nil
}

// FeedNames returns the names of the feeds.
func (n *Nodes) FeedNames() []string {
	var out []string
	for _, f := range n.feeds {
		out = append(out, f.source.Name)
	}
	return out
}
