package sql

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// maxGroup bounds how many units of work share a transaction.
const maxGroup = 256

// groupTime is about how long the units of a transaction may take together: the first of
// them waits for the last. A unit that takes longer gets a transaction of its own.
const groupTime = 10 * time.Millisecond

// queue holds the units that wait for the writer. Each organisation has a lane, and the
// lane that has used the writer least is served first: an organisation that floods the
// writer delays another by one of its units, not by all of them. Units of an organisation
// stay in order.
type queue struct {
	lanes map[tenant.ID]*lane
	clock time.Duration // the usage of the lane served last, at which a lane that was idle starts
	size  int
}

// heavyFor is for how long units are prepared outside the writer after a large one.
const heavyFor = 10 * time.Second

// lane is the queue of one organisation. Units across organisations, and jobs of the store
// itself, share the lane of no organisation.
type lane struct {
	units []*unit
	used  time.Duration // of the writer, about
	cost  time.Duration // of one unit, estimated from the last ones
	heavy time.Time     // until then units are prepared outside the writer, because one was large
	turn  chan struct{} // held by the unit that is being prepared
}

// alone reports whether a unit has a transaction of its own: in a group, other units would
// only wait for it.
func (u *unit) alone() bool { return u.job != nil || u.pause != nil }

// add appends a unit to the lane of its organisation.
func (q *queue) add(u *unit) {
	l := q.lane(u.scope.Org())
	if len(l.units) == 0 {
		l.used = max(l.used, q.clock)
	}
	l.units = append(l.units, u)
	q.size++
}

// putBack returns units that did not run, in order, to the front.
func (q *queue) putBack(units []*unit) {
	front := map[*lane][]*unit{}
	for _, u := range units {
		l := q.lane(u.scope.Org())
		front[l] = append(front[l], u)
	}
	for l, first := range front {
		l.units = append(first, l.units...)
	}
	q.size += len(units)
}

// maxLanes is how many lanes of idle organisations are kept.
const maxLanes = 1024

func (q *queue) lane(org tenant.ID) *lane {
	l, ok := q.lanes[org]
	if !ok {
		if len(q.lanes) >= maxLanes {
			for org, l := range q.lanes {
				if len(l.units) == 0 && l.used <= q.clock {
					delete(q.lanes, org)
				}
			}
		}
		l = &lane{used: q.clock, turn: make(chan struct{}, 1)}
		q.lanes[org] = l
	}
	return l
}

// charge adds the cost of a unit to its organisation's usage.
func (q *queue) charge(u *unit, now time.Time) {
	l := q.lane(u.scope.Org())
	l.used += u.load
	l.cost = max(u.load, l.cost-l.cost/8)
	if u.weight > aside {
		l.heavy = now.Add(heavyFor)
	}
}

// take removes the units of the next group: from the lanes in turn, beginning with the lane
// that has used the writer least, as long as the group stays short.
func (q *queue) take() (group []*unit) {
	var waiting []*lane
	for _, l := range q.lanes {
		if len(l.units) > 0 {
			waiting = append(waiting, l)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	slices.SortFunc(waiting, func(a, b *lane) int { return cmp.Compare(a.used, b.used) })
	q.clock = max(q.clock, waiting[0].used)
	for left := groupTime; len(waiting) > 0; {
		waiting = slices.DeleteFunc(waiting, func(l *lane) bool {
			if len(group) == maxGroup || len(group) > 0 && (l.cost > left || l.units[0].alone() || group[0].alone()) {
				return true
			}
			group = append(group, l.units[0])
			l.units = l.units[1:]
			left -= l.cost
			q.size--
			return len(l.units) == 0
		})
	}
	return group
}
