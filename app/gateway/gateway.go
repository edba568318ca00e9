package gateway

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/compress"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/presence"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Nodes serves gateway nodes. It has no durable state: any replica can answer any call,
// and no nonce is ever refused (docs/wire/gateway-nodes.md#rules-that-matter-most).
type Nodes struct {
	store   store.Store
	tokens  gateway.Tokens
	now     system.Clock
	log     *slog.Logger
	board   presence.Board
	tracker *tracker
	feeds   []*kept
	crossed func(context.Context, Trigger) error
	debts   debts
}

// Config is the configuration of Nodes.
type Config struct {
	Store   store.Store
	Tokens  gateway.Tokens
	Now     system.Clock
	Log     *slog.Logger
	Board   presence.Board
	Coding  compress.Coding // gzip, of feeds
	Sources []gateway.Source
	Crossed func(context.Context, Trigger) error // tells an organisation that a key crossed a limit; nil: none is told
}

// New returns the use cases of gateway nodes.
func New(c Config) *Nodes {
	n := &Nodes{store: c.Store, tokens: c.Tokens, now: c.Now, log: c.Log, board: c.Board, crossed: c.Crossed,
		tracker: &tracker{board: c.Board, now: c.Now, log: c.Log, known: map[string]presence.Node{}, news: map[string]bool{}, left: map[string]time.Time{}}}
	for _, s := range c.Sources {
		n.feeds = append(n.feeds, &kept{source: s, log: c.Log, coding: c.Coding})
	}
	return n
}

// Run keeps the list of live nodes up to date, and tells nodes that got an old feed to
// reload, until ctx ends.
func (n *Nodes) Run(ctx context.Context) error {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if err := n.tracker.flush(ctx); err != nil && ctx.Err() == nil {
				n.log.Debug("the list of live nodes could not be updated; trying again", "error", err)
			}
			n.settle(ctx)
		}
	}
}

// Authenticate returns the guard's Authenticator of the node surface. An empty secret
// closes the surface. The text of a refusal is neutral, because certain words in it
// stop a gateway's reloads for good (docs/wire/gateway-nodes.md#recovery-words).
func Authenticate(equal func(secret, presented string) bool, nodeSecret string) guard.Authenticator {
	return func(_ context.Context, c *operation.Call) error {
		if !equal(nodeSecret, c.Token) {
			return fault.New(fault.Denied, guard.CodeNodeSecret, "Not authorised")
		}
		c.Principal, c.Scope = operation.Principal{ID: "node", Active: true}, tenant.Everyone("gateway node")
		return nil
	}
}

// Reply is the response to every call of a node, with the next nonce.
type Reply struct {
	Status  string
	Message any
	Nonce   string
}

// Operations lists the calls of nodes and the lists of nodes.
func (n *Nodes) Operations() []operation.Operation {
	reply := func(message any) any {
		return map[string]any{"Status": "OK", "Message": message, "Nonce": "539fe157-4aba-4e87-a9db-c28cfa000c92"}
	}
	node := reply(Registration{NodeID: "6c70db7e-1ae1-46a3-a2f4-820afa2558a8"})
	group := operation.Group{Surface: operation.Node, Tag: "Gateway nodes", Style: operation.Style{Word: "OK"}}
	group.Name, group.Path = "register", "/register"
	ops := group.Rows(
		operation.GET("node", "/node", "Register a node", n.Register,
			operation.Example(nil, node)),
		operation.GET("ping", "/ping", "Heartbeat", n.Ping,
			operation.Notes("After a 403 the node registers again."), operation.Faulting("node.unknown"), operation.Example(nil, node)),
	)
	group.Name, group.Path = "system", "/system"
	rows := []operation.Row{
		operation.DELETE("node.delete", "/node", "Deregister a node", n.Deregister, operation.Example(nil, node)),
		operation.POST("quota_trigger", "/key/quota_trigger", "Report that a key crossed a usage limit", n.QuotaTrigger,
			operation.Redact("key"), operation.Notes("The receivers of key_event and hashed_key_event of the organisation get an event. The event has the hash of the key; the key itself is not stored and not sent."),
			operation.Example(map[string]any{"Message": "Quota trigger reached", "org_id": "5f1a0c5d8e3b2a1f00000001", "key": "5f1a0c5d8e3b2a1f00000001b3d07a2c",
				"trigger_limit": 80, "usage_percentage": 80}, reply(map[string]any{}))),
	}
	for _, f := range n.feeds {
		rows = append(rows, operation.GET(f.source.Name, "/"+f.source.Name, "List every "+f.source.What+" as gateways load it", n.serve(f),
			operation.Notes("The list has the records of all organisations; the node filters them. Records that no gateway could load are left out: see system.feeds.list."), operation.Example(nil, reply([]any{}))))
	}
	ops = append(ops, group.Rows(rows...)...)
	return append(append(ops, n.listing()...), n.feedListing()...)
}

type caller struct {
	NodeID   string `header:"x-tyk-nodeid" doc:"Identifier that the node got at registration."`
	Nonce    string `header:"x-tyk-nonce" doc:"Nonce of the last response. A wrong nonce is never refused."`
	Session  string `header:"x-tyk-session-id" doc:"Identifier of the node's process; constant while it runs."`
	Hostname string `header:"x-tyk-hostname" doc:"Host name of the node."`
}

func (n *Nodes) reply(message any) Reply {
	return Reply{Status: "OK", Message: message, Nonce: n.tokens.Nonce(n.now())}
}

// Registration is the message of a successful registration. Heartbeats and
// deregistrations repeat it: gateways do not accept a text there, and older ones fail
// with one.
type Registration struct{ NodeID string }

// Register returns the ID of a node: the same one for the same session.
func (n *Nodes) Register(_ context.Context, in caller) (Reply, error) {
	id := n.tokens.NodeID(in.Session)
	n.tracker.welcome(heard{id: id, session: in.Session, hostname: in.Hostname})
	return n.reply(Registration{id}), nil
}

// Ping notes that a node is alive. A node that has not registered here, or has
// deregistered, gets an error. This is the one call where a refusal does no harm
// (docs/wire/gateway-nodes.md#recovery-words).
func (n *Nodes) Ping(_ context.Context, in caller) (Reply, error) {
	if !n.tokens.Ours(in.NodeID) || n.tracker.gone(in.NodeID) {
		return Reply{}, fault.New(fault.Denied, "node.unknown", "Not authorised")
	}
	n.tracker.hear(heard{id: in.NodeID, session: in.Session, hostname: in.Hostname, beat: true})
	return n.reply(Registration{in.NodeID}), nil
}

// Deregister removes a node from the list.
func (n *Nodes) Deregister(ctx context.Context, in caller) (Reply, error) {
	if n.tokens.Ours(in.NodeID) {
		n.tracker.forget(ctx, in.NodeID)
	}
	return n.reply(Registration{in.NodeID}), nil
}

func (n *Nodes) serve(f *kept) func(context.Context, caller) (answer, error) {
	return func(ctx context.Context, in caller) (answer, error) {
		e, stale, err := f.current(ctx, n.store)
		if err != nil {
			if errors.Is(err, store.ErrUnavailable) {
				n.debts.owe(f, 0)
			}
			return answer{}, err
		}
		if stale {
			n.debts.owe(f, e.rev)
			n.log.Warn("the store is away: a node gets the last known feed", "feed", f.source.Name, "revision", uint64(e.rev))
		}
		if n.tokens.Ours(in.NodeID) {
			n.tracker.hear(heard{id: in.NodeID, session: in.Session, feed: f.source.Name, rev: e.rev})
		}
		return answer{e, []byte(n.tokens.Nonce(n.now()) + `"}`)}, nil
	}
}

// Trigger is the report of a node that a key crossed a usage limit.
type Trigger struct {
	Message string    `json:"Message"`
	OrgID   tenant.ID `json:"org_id"`
	Key     string    `json:"key,omitempty"` // a credential in plain text: it is hashed, and never stored
	Limit   float64   `json:"trigger_limit"`
	Usage   float64   `json:"usage_percentage"`
}

type triggerIn struct {
	caller
	Trigger Trigger `body:""`
}

// QuotaOperation is the operation by which nodes report crossed limits. Its commits
// change no resource.
const QuotaOperation = "system.quota_trigger"

// QuotaTrigger tells an organisation that a key crossed a usage limit. The node gets a
// success response and the next nonce even if that fails, because it does not report
// again.
func (n *Nodes) QuotaTrigger(ctx context.Context, in triggerIn) (Reply, error) {
	n.log.Info("a key crossed a usage limit", "org_id", string(in.Trigger.OrgID), "limit", in.Trigger.Limit, "usage", in.Trigger.Usage)
	if n.crossed != nil {
		if err := n.crossed(ctx, in.Trigger); err != nil {
			n.log.Error("a report of a key that crossed a usage limit is lost: its organisation is not told", "org_id", string(in.Trigger.OrgID), "error", err)
		}
	}
	return n.reply(struct{}{}), nil
}

// Live is a node that is alive.
type Live struct {
	NodeID    string      `json:"node_id"`
	SessionID string      `json:"session_id"`
	Hostname  string      `json:"hostname"`
	FirstSeen time.Time   `json:"first_seen"`
	LastSeen  time.Time   `json:"last_seen"`
	LastBeat  *time.Time  `json:"last_beat"` // null before the first heartbeat
	Feeds     []FeedState `json:"feeds"`
}

// FeedState says whether a node has the current version of a feed. It has no revision,
// which would tell one organisation how much others write.
type FeedState struct {
	Name    string `json:"name"`
	Fetched bool   `json:"fetched" doc:"true: the node has fetched the feed at least once."`
	Behind  bool   `json:"behind"`
}

// List returns the nodes that are alive, including those that called other replicas.
func (n *Nodes) List(ctx context.Context, _ struct{}) (NodeList, error) {
	now := map[string]store.Revision{} // current revision by feed
	err := n.store.View(ctx, tenant.Everyone("gateway feed"), func(r store.Reader) error {
		for _, f := range n.feeds {
			_, rev, err := f.touched(ctx, r)
			if err != nil {
				return err
			}
			now[f.source.Name] = rev
		}
		return nil
	})
	if err != nil {
		return NodeList{}, err
	}
	nodes, err := n.alive(ctx)
	if err != nil {
		return NodeList{}, err
	}
	out := make([]Live, 0, len(nodes))
	for _, p := range nodes {
		l := Live{NodeID: p.ID, SessionID: p.Session, Hostname: p.Hostname, FirstSeen: p.FirstSeen, LastSeen: p.LastSeen, Feeds: []FeedState{}}
		if !p.LastBeat.IsZero() {
			l.LastBeat = &p.LastBeat
		}
		for _, f := range n.feeds {
			rev, fetched := p.Feeds[f.source.Name]
			l.Feeds = append(l.Feeds, FeedState{Name: f.source.Name, Fetched: fetched, Behind: !fetched || rev < now[f.source.Name]})
		}
		out = append(out, l)
	}
	return listOf(out), nil
}
