package gateway

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/presence"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// memory is a presence.Board within one process.
type memory struct {
	mu    sync.Mutex
	nodes map[string]presence.Node
}

// NewMemory returns a board that is lost when the process ends.
func NewMemory() presence.Board { return &memory{nodes: map[string]presence.Node{}} }

// Note implements presence.Board.
func (m *memory) Note(_ context.Context, nodes []presence.Node) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range nodes {
		m.nodes[n.ID] = n
	}
	return nil
}

// Forget implements presence.Board.
func (m *memory) Forget(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.nodes, id)
	return nil
}

// Nodes implements presence.Board.
func (m *memory) Nodes(_ context.Context, since time.Time) ([]presence.Node, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []presence.Node
	for id, n := range m.nodes {
		if n.LastSeen.Before(since) {
			delete(m.nodes, id)
			continue
		}
		out = append(out, n)
	}
	return presence.Merge(out), nil
}

// tracker collects the calls of nodes that this process gets, and writes them to the
// board once a second, so that no call of a node waits for the board.
type tracker struct {
	board presence.Board
	now   system.Clock
	log   *slog.Logger
	mu    sync.Mutex
	known map[string]presence.Node
	news  map[string]bool
	left  map[string]time.Time // time of deregistration, by node
}

// heard is a call of a node.
type heard struct {
	id, session, hostname string
	beat                  bool
	feed                  string
	rev                   store.Revision
}

// forgetAfter is how long a silent node is kept: nodes send a heartbeat every 2 s.
const forgetAfter = 15 * time.Second

func (t *tracker) hear(h heard) {
	if h.id == "" {
		return
	}
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, gone := t.left[h.id]; gone { // a call that was in progress when the node deregistered
		return
	}
	n, ok := t.known[h.id]
	if !ok {
		n = presence.Node{ID: h.id, FirstSeen: now}
	}
	n.LastSeen = now
	if h.session != "" {
		n.Session = short(h.session)
	}
	if h.hostname != "" {
		n.Hostname = short(h.hostname)
	}
	if h.beat {
		n.LastBeat = now
	}
	if h.feed != "" {
		n.Feeds = maps.Clone(n.Feeds)
		if n.Feeds == nil {
			n.Feeds = map[string]store.Revision{}
		}
		n.Feeds[h.feed] = h.rev
	}
	t.known[h.id] = n
	t.news[h.id] = true
}

// short truncates a text that a node sends about itself, because lists of nodes show
// it. A host name has at most 253 bytes, and a session is a UUID.
func short(text string) string { return strings.ToValidUTF8(text[:min(len(text), 255)], "") }

// welcome notes a node that registers. It may have deregistered before.
func (t *tracker) welcome(h heard) {
	t.mu.Lock()
	delete(t.left, h.id)
	t.mu.Unlock()
	t.hear(h)
}

// gone reports whether a node has deregistered recently.
func (t *tracker) gone(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, gone := t.left[id]
	return gone
}

// forgetFor is how long the deregistration of a gateway waits for a board that hangs:
// the gateway does not stop before it has the response.
const forgetFor = time.Second

func (t *tracker) forget(ctx context.Context, id string) {
	t.mu.Lock()
	delete(t.known, id)
	delete(t.news, id)
	t.left[id] = t.now()
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, forgetFor)
	defer cancel()
	if err := t.board.Forget(ctx, id); err != nil {
		t.log.Debug("a node that left stays listed until it is missed", "node_id", id, "error", err)
	}
}

// flush writes news to the board, and removes nodes that have been silent for long.
func (t *tracker) flush(ctx context.Context) error {
	t.mu.Lock()
	var nodes []presence.Node
	for id := range t.news {
		nodes = append(nodes, t.known[id])
	}
	clear(t.news)
	for id, n := range t.known {
		if t.now().Sub(n.LastSeen) > forgetAfter {
			delete(t.known, id)
		}
	}
	for id, at := range t.left {
		if t.now().Sub(at) > forgetAfter {
			delete(t.left, id)
		}
	}
	t.mu.Unlock()
	if len(nodes) == 0 {
		return nil
	}
	return t.board.Note(ctx, nodes)
}

// flushEvery is how often news are written to the board.
const flushEvery = time.Second
