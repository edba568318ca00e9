package gateway

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/presence"
)

const codeAbsent = "node.not_found"

// listing lists the operations of users about nodes.
func (n *Nodes) listing() []operation.Operation {
	example := Live{NodeID: "6c70db7e-1ae1-46a3-a2f4-820afa2558a8", Hostname: "gw-1",
		Feeds: []FeedState{{Name: "clientidps", Fetched: true, Behind: true}}}
	group := operation.Group{
		Surface: operation.Management, Name: "system.nodes", Path: "/api/system/nodes", Tag: "System", Permission: access.System,
		Style: operation.Style{Word: "OK"},
	}
	ops := group.Rows(operation.GET("list", "", "List the gateway nodes that are active", n.List, operation.Lists(operation.Item{ID: "node_id", Name: "hostname"}),
		operation.Notes("A node that has sent no request for 15 seconds is left out. data has the format that existing clients read; nodes has more details."),
		operation.Example(nil, listOf([]Live{example}))))
	group.Name, group.Path = "system.nodes", "/api/system/node"
	return append(ops, group.Rows(operation.GET("get", "/{id}/{host}", "Fetch the configuration of a gateway node", n.Node,
		operation.Notes("Nodes do not report the tags by which they select APIs, so the response has no tags."), operation.Faulting(codeAbsent),
		operation.Example(nil, untold())))...)
}

// NodeList is the response to the list of nodes.
type NodeList struct {
	Data  NodeNames `json:"data"`
	Nodes []Live    `json:"nodes"`
	Pages int       `json:"pages"` // 1: all nodes are on it
}

// NodeNames is the list of nodes in the form that existing clients read
// (docs/wire/system.md#nodes). There is no licence, so nothing expires: -1 is
// unlimited.
type NodeNames struct {
	Nodes     []NodeName `json:"nodes"`
	Active    int        `json:"active_node_count"`
	Available int        `json:"nodes_available"`
	Remaining int        `json:"nodes_remaining"`
	Until     int64      `json:"valid_until"` // Unix time in seconds
}

// NodeName is a node in NodeNames.
type NodeName struct {
	ID       string `json:"id"`
	Hostname string `json:"hostname"`
}

const (
	unlimited = -1
	forever   = 253402300799 // 9999-12-31T23:59:59Z
)

func listOf(nodes []Live) NodeList {
	names := make([]NodeName, 0, len(nodes))
	for _, l := range nodes {
		names = append(names, NodeName{ID: l.NodeID, Hostname: l.Hostname})
	}
	return NodeList{Pages: 1, Nodes: nodes, Data: NodeNames{Nodes: names, Active: len(nodes), Available: unlimited, Remaining: unlimited, Until: forever}}
}

// NodeDetail is the configuration of a node, as far as it is known.
type NodeDetail struct {
	Data struct {
		Options struct {
			Segmented bool     `json:"node_is_segmented"`
			Tags      []string `json:"tags"`
		} `json:"db_app_conf_options"`
	} `json:"data"`
}

// untold returns the configuration of a node that has not reported it. No node reports
// it so far.
func untold() (d NodeDetail) {
	d.Data.Options.Tags = []string{}
	return d
}

type nodeIn struct {
	ID   string `path:"id" doc:"Identifier of the node."`
	Host string `path:"host" doc:"Host name of the node."`
}

// Node returns the configuration of a node that is alive.
func (n *Nodes) Node(ctx context.Context, in nodeIn) (NodeDetail, error) {
	nodes, err := n.alive(ctx)
	if err != nil {
		return NodeDetail{}, err
	}
	if !slices.ContainsFunc(nodes, func(p presence.Node) bool { return p.ID == in.ID && p.Hostname == in.Host }) {
		return NodeDetail{}, fault.New(fault.NotFound, codeAbsent, "node not found")
	}
	return untold(), nil
}

// Alive returns how many nodes are alive, including those that called other replicas.
func (n *Nodes) Alive(ctx context.Context) (int, error) {
	nodes, err := n.alive(ctx)
	return len(nodes), err
}

func (n *Nodes) alive(ctx context.Context) ([]presence.Node, error) {
	if err := n.tracker.flush(ctx); err != nil {
		return nil, err
	}
	return n.board.Nodes(ctx, n.now().Add(-forgetAfter))
}
