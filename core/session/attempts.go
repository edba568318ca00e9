package session

import "time"

// Remaining returns how long an answer waits that has taken some time, so that all take
// the least one.
func Remaining(spent, least time.Duration) time.Duration { return max(0, least-max(0, spent)) }

// Attempts counts, for names such as addresses, what has been tried and was wrong. A
// window begins with the first wrong attempt; when Limit of them were made, the name
// waits for its end. Waiting does not make it longer, so that an attacker makes no user
// wait for more than one window. Calls must not overlap.
type Attempts struct {
	Limit  int // 0: none
	Window time.Duration
	Room   int // names that are remembered

	names map[string]tally
}

type tally struct {
	since time.Time
	n     int
}

// Take counts an attempt as wrong before it is made, so that many at once are no way
// around the limit; GiveBack takes that back. wait says how long the name must wait
// instead; 0: it need not.
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

// GiveBack takes back what Take counted: the attempt was right. Earlier wrong ones
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

// Len returns how many names are remembered.
func (a *Attempts) Len() int { return len(a.names) }

func (a *Attempts) over(t tally, now time.Time) bool { return now.Sub(t.since) >= a.Window }

// makeRoom forgets windows that are over when there are too many names and, when that
// is not enough, those with the fewest attempts: a name that waits goes on waiting
// however many others an attacker makes up.
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
	enough := a.Room * 9 / 10 // so that the next many need not look again
	for least := 1; len(a.names) > enough; least++ {
		for name, t := range a.names {
			if t.n <= least && len(a.names) > enough {
				delete(a.names, name)
			}
		}
	}
}
