package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// A plan rests on a snapshot that may be seconds old when the writer comes to it, and
// others have committed thousands of times meanwhile. What they did is compared beside
// the writer, so that the writer has only the last few commits to look at.

// errBehind sends a plan back whose last commits have to be compared beside the writer.
var errBehind = errors.New("sql: the plan is compared with what was committed meanwhile")

// looksBehind is how often a plan is compared beside the writer before it counts as one
// that does not hold: other processes commit faster than this one gets to the writer.
const looksBehind = 8

// hand hands a unit in whose plan has been compared with what was committed since its snapshot. The last time it runs with
// the writer if its plan does not hold.
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
		// The writer may still note what a unit has cost after it was sent back.
		turn := &unit{ctx: u.ctx, scope: u.scope, fn: u.fn, plan: u.plan, weight: u.weight, last: last}
		if err := s.writer.submit(turn); !errors.Is(err, errBehind) {
			return turn.rev, err
		}
	}
}

// look compares a plan with some of the commits that it does not know yet. Those that
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

// mostCompared bounds the text of a row of the log that is read to compare a plan with
// it: a longer one takes as much memory as what is stored.
const mostCompared = 8 << 20

// sizeOf returns how long the text of a row of the log is, about.
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

// see compares a plan with commits that follow those that it knows, or repeat them.
func (p *plan) see(commits []store.Commit) {
	for _, c := range commits {
		if c.Rev > p.head {
			p.stale, p.head = p.stale || p.reads.touchedBy(c), c.Rev
		}
	}
}

// mostBehind bounds the commits that are read from the log with the writer: there are
// some where other processes write as well.
const mostBehind = 16

// holds reports, with the writer, whether nothing that a plan rests on has changed: neither
// in the commits that it does not know yet, nor in this transaction.
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
	p.stale = p.stale || p.head > g.head // of a database that has been put back
	return !p.stale && !slices.ContainsFunc(g.commits, func(c logged) bool { return p.reads.touchedBy(c.Commit) }), nil
}
