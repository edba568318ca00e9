package sql

import (
	"context"
	"database/sql"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/presence"
)

// Board stores the presence of gateway nodes in an unlogged table, for all replicas of a
// cluster. It exists on PostgreSQL only: a SQLite database belongs to one process, which can
// keep its nodes in memory.
type Board struct {
	db     *sql.DB
	source string
	swept  atomic.Int64 // when old rows were last deleted, in milliseconds
}

var _ presence.Board = (*Board)(nil)

// NewBoard returns the board of the replica named source.
func NewBoard(db *sql.DB, source string) *Board { return &Board{db: db, source: source} }

// Note implements presence.Board. Thousands of nodes take one statement.
func (b *Board) Note(ctx context.Context, nodes []presence.Node) error {
	var ids, texts []string
	var seen []int64
	newest := int64(0)
	for _, n := range nodes {
		text, err := json.Marshal(n)
		if err != nil {
			return err
		}
		at := n.LastSeen.UnixMilli()
		newest = max(newest, at)
		ids, texts, seen = append(ids, n.ID), append(texts, string(text)), append(seen, at)
	}
	txn, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = txn.Rollback() }()
	if _, err := txn.ExecContext(ctx, `set local synchronous_commit = off`); err != nil {
		return err
	}
	if _, err := txn.ExecContext(ctx, `insert into node (id, source, seen, doc)
		select distinct on (id) id, $1, seen, doc from unnest($2::text[], $3::bigint[], $4::text[]) as n(id, seen, doc) order by id, seen desc
		on conflict (id, source) do update set seen = excluded.seen, doc = excluded.doc`, b.source, ids, seen, texts); err != nil {
		return err
	}
	if err := txn.Commit(); err != nil {
		return err
	}
	// Old rows are deleted, at most once in nodesEvery, except rows that a replica is writing.
	if passed := newest - b.swept.Load(); 0 <= passed && passed < nodesEvery.Milliseconds() { // negative: a clock was put back
		return nil
	}
	b.swept.Store(newest)
	_, err = b.db.ExecContext(ctx, `delete from node where ctid in (select ctid from node where seen < $1 limit 10000 for update skip locked)`, newest-keepNode.Milliseconds())
	return err
}

// Old rows belong to killed gateways and to ended replicas: each start of either uses a new
// name. keepNode is longer than the difference between the clocks of two replicas.
const (
	keepNode   = time.Hour
	nodesEvery = time.Minute
)

// Forget implements presence.Board.
func (b *Board) Forget(ctx context.Context, id string) error {
	_, err := b.db.ExecContext(ctx, `delete from node where id = $1`, id)
	return err
}

// Nodes implements presence.Board.
func (b *Board) Nodes(ctx context.Context, since time.Time) ([]presence.Node, error) {
	rows, err := b.db.QueryContext(ctx, `select doc from node where seen >= $1 order by id`, since.UnixMilli())
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []presence.Node
	for rows.Next() {
		var text []byte
		var n presence.Node
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &n); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return presence.Merge(out), rows.Err()
}
