package sql

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/presence"
)

// Board keeps the presence of gateway nodes in a table that is never synced to
// disk, for all replicas of a cluster. It exists on PostgreSQL only: a SQLite
// database belongs to one process, which can remember its nodes by itself.
type Board struct {
	db     *sql.DB
	source string
}

var _ presence.Board = (*Board)(nil)

// NewBoard returns the board of one replica, named by source.
func NewBoard(db *sql.DB, source string) *Board { return &Board{db, source} }

// Note implements presence.Board.
func (b *Board) Note(ctx context.Context, nodes []presence.Node) error {
	txn, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = txn.Rollback() }()
	if _, err := txn.ExecContext(ctx, `set local synchronous_commit = off`); err != nil {
		return err
	}
	for _, n := range nodes {
		text, err := json.Marshal(n)
		if err != nil {
			return err
		}
		if _, err := txn.ExecContext(ctx, `insert into node (id, source, seen, doc) values ($1, $2, $3, $4)
			on conflict (id, source) do update set seen = excluded.seen, doc = excluded.doc`, n.ID, b.source, n.LastSeen.UnixMilli(), string(text)); err != nil {
			return err
		}
	}
	return txn.Commit()
}

// Forget implements presence.Board.
func (b *Board) Forget(ctx context.Context, id string) error {
	_, err := b.db.ExecContext(ctx, `delete from node where id = $1`, id)
	return err
}

// Nodes implements presence.Board. It also drops what is older.
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
