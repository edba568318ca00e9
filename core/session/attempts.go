package session

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Remaining returns how long a response must still wait after the time spent, so that every
// response takes at least the time least.
func Remaining(spent, least time.Duration) time.Duration { return max(0, least-max(0, spent)) }

// Attempts counts wrong attempts by name, for example by address. A window begins with the
// first wrong attempt; after Limit wrong attempts the name must wait for the end of the
// window. Attempts during the wait do not make it longer, so that an attacker makes no user
// wait longer than one window. Calls must not overlap.
type Attempts struct {
	Limit  int // maximum of wrong attempts in a window; 0: unlimited
	Window time.Duration
	Room   int // maximum number of names in memory

	names map[string]tally
}

type tally struct {
	since time.Time
	n     int
}

// Take counts an attempt as wrong before it is made, so that concurrent attempts cannot exceed
// the limit; GiveBack undoes that. If the name must wait, Take counts nothing and returns how
// long; 0: the attempt may be made.
func (a *Attempts) Take(now time.Time, name string) (wait time.Duration) {
	if a.Limit <= 0 {
		return 0
	}
	t, known := a.names[name]
	if known && a.over(t, now) {
		known = false
	}
	if !known {
		a.makeRoom(now)
		t = tally{since: now}
	}
	if t.n >= a.Limit {
		return t.since.Add(a.Window).Sub(now)
	}
	t.n++
	a.names[name] = t
	return 0
}

// GiveBack undoes the count of Take for an attempt that was right. Earlier wrong attempts
// still count.
func (a *Attempts) GiveBack(name string) {
	t, known := a.names[name]
	switch {
	case !known:
	case t.n <= 1:
		delete(a.names, name)
	default:
		t.n--
		a.names[name] = t
	}
}

// Len returns the number of names in memory.
func (a *Attempts) Len() int { return len(a.names) }

func (a *Attempts) over(t tally, now time.Time) bool { return now.Sub(t.since) >= a.Window }

// makeRoom removes windows that are over when there are too many names. When that is not
// enough, it also removes the names with the fewest attempts, and among equals those whose
// windows end first. Names that wait have the most attempts: one of them goes only when
// they take nearly all room, and then the one that has waited longest. An attacker who
// wants to free a name must therefore make nine tenths of all names wait after it.
func (a *Attempts) makeRoom(now time.Time) {
	if a.names == nil {
		a.names = map[string]tally{}
	}
	if len(a.names) < a.Room {
		return
	}
	for name, t := range a.names {
		if a.over(t, now) {
			delete(a.names, name)
		}
	}
	enough := a.Room * 9 / 10 // so that the next names need no new search
	if len(a.names) <= enough {
		return
	}
	first := slices.SortedFunc(maps.Keys(a.names), func(x, y string) int {
		return cmp.Or(cmp.Compare(a.names[x].n, a.names[y].n), a.names[x].since.Compare(a.names[y].since))
	})
	for _, name := range first[:len(first)-enough] {
		delete(a.names, name)
	}
}
