package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// A plan is based on a snapshot that may be seconds old when the writer runs it. Meanwhile other
// units may have committed thousands of times. The plan is compared with their commits outside the
// writer, so that the writer itself has only the last few commits to compare.

// errBehind means that a plan must first be compared outside the writer with more commits.
var errBehind = errors.New("sql: the plan is compared with what was committed meanwhile")

// looksBehind is how many times a plan is compared outside the writer before it counts as outdated:
// other processes commit faster than this one reaches the writer.
const looksBehind = 8

// hand submits a unit whose plan has been compared with the commits since its snapshot. The last
// time, the unit runs in the writer if its plan does not hold.
func (s *Store) hand(u *unit, last bool) (store.Revision, error) {
	for look := 1; ; look++ {
		for !u.plan.stale {
			at := u.plan.head
			if err := s.look(u.ctx, s.Readers, u.plan); err != nil {
				return 0, err
			}
			if u.plan.head == at {
				break
			}
		}
		if u.plan.stale = u.plan.stale || look > looksBehind; u.plan.stale && !last {
			return 0, errAside
		}
		// A copy: the writer may still write the cost into a unit that was sent back.
		turn := &unit{ctx: u.ctx, scope: u.scope, fn: u.fn, plan: u.plan, weight: u.weight, last: last}
		if err := s.writer.submit(turn); !errors.Is(err, errBehind) {
			return turn.rev, err
		}
	}
}

// look compares a plan with some of the commits that it has not been compared with. Commits that
// this process does not have in memory are read from the log.
func (s *Store) look(ctx context.Context, q querier, p *plan) error {
	if commits := s.Recent(p.head); len(commits) > 0 {
		p.see(commits)
		return nil
	}
	rows, err := s.logRows(ctx, q, fmt.Sprintf(`select first, last, body from change_log where last > $1 order by last limit %d`, window), int64(p.head))
	for ; err == nil && len(rows) > 0 && !p.stale; rows = rows[1:] {
		var commits []store.Commit
		if rows[0].first > p.head+1 || s.sizeOf(rows[0]) > mostCompared {
			p.stale = true
			break
		}
		if commits, _, err = s.commitsIn(ctx, q, rows[0]); errors.Is(err, store.ErrDamaged) || err == nil && len(commits) == 0 {
			p.stale = true
			return nil
		}
		p.see(commits)
	}
	return err
}

// mostCompared bounds the text of a log row that is read to compare a plan with it: a longer row
// takes as much memory as the stored data.
const mostCompared = 8 << 20

// sizeOf returns the approximate length of the text of a log row.
func (s *Store) sizeOf(r logRow) int {
	if len(r.body) > mostContents {
		return len(r.body)
	}
	plain, _, err := s.unpack(r.body, logPlace(r.first, r.last))
	c, ok := contentsOf(plain)
	if err != nil || !ok {
		return len(r.body)
	}
	return c.size
}

// see compares a plan with the next commits; commits that it has seen are ignored.
func (p *plan) see(commits []store.Commit) {
	for _, c := range commits {
		if c.Rev > p.head {
			p.stale, p.head = p.stale || p.reads.touchedBy(c), c.Rev
		}
	}
}

// mostBehind is how many commits the writer reads from the log itself: they exist where other
// processes write as well.
const mostBehind = 16

// holds reports, in the writer, whether nothing has changed that a plan read: neither in the
// commits that it has not seen, nor in this transaction.
func (g *group) holds(p *plan) (bool, error) {
	for !p.stale && p.head < g.head {
		if g.head-p.head > mostBehind && len(g.s.Recent(p.head)) == 0 {
			return false, errBehind
		}
		at := p.head
		if err := g.s.look(g.ctx, g.q, p); err != nil {
			return false, err
		}
		p.stale = p.stale || p.head == at
	}
	p.stale = p.stale || p.head > g.head // the database has been restored to an earlier revision
	return !p.stale && !slices.ContainsFunc(g.commits, func(c logged) bool { return p.reads.touchedBy(c.Commit) }), nil
}
