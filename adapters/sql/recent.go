package sql

import (
	"sync"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// recent caches the last commits of this process, so that its followers need not query the
// database. It also wakes the followers.
type recent struct {
	mu        sync.Mutex
	commits   map[store.Revision]store.Commit
	oldest    store.Revision
	newest    store.Revision
	bytes     int
	hints     uint64         // how often other processes may have committed
	ends      bool           // this process is committing: a hint may be about its own commit
	told      store.Revision // the latest revision hinted at in the meantime
	changed   chan struct{}
	followers map[*follower]bool
}

// follower is a follower of the log, with the last revision that it received.
type follower struct{ at store.Revision }

// Bounds of the cache in recent. A large commit is often followed by others at once, which have
// waited for it. Commits that a follower needs next are kept up to recentMost: reading a commit
// from the log takes seconds, for which all readers of the follower's copy wait.
const (
	recentCommits = 4096
	recentBytes   = 32 << 20
	recentMost    = 72 << 20 // most of it is shared with the records
)

func (r *recent) init() {
	r.commits, r.changed, r.followers = map[store.Revision]store.Commit{}, make(chan struct{}), map[*follower]bool{}
}

// join adds a follower that starts after a revision.
func (r *recent) join(after store.Revision) *follower {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := &follower{after}
	r.followers[f] = true
	return f
}

// took records how far a follower has got.
func (r *recent) took(f *follower, at store.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.at = at
	r.trim()
}

func (r *recent) leave(f *follower) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.followers, f)
	r.trim()
}

// trim drops the oldest commits while there are too many. The caller holds the lock.
func (r *recent) trim() {
	for ; len(r.commits) > 1 && (r.bytes > recentBytes || len(r.commits) > recentCommits); r.oldest++ {
		c, ok := r.commits[r.oldest]
		if !ok {
			continue
		}
		if r.bytes <= recentMost {
			for f := range r.followers {
				if f.at+1 == r.oldest { // the follower needs this commit next; followers further behind read the log anyway
					return
				}
			}
		}
		r.bytes -= c.Weight()
		delete(r.commits, r.oldest)
	}
}

func (r *recent) add(commits []store.Commit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range commits {
		if c.Rev <= r.newest {
			r.drop(c.Rev - 1)
		}
		if len(r.commits) == 0 {
			r.oldest = c.Rev
		}
		r.commits[c.Rev] = c
		r.bytes += c.Weight()
		r.newest = c.Rev
	}
	r.trim()
	r.ring()
}

// ring wakes followers. The caller holds the lock.
func (r *recent) ring() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// forget drops the commits up to a revision.
func (r *recent) forget(upTo store.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rev, c := range r.commits {
		if rev <= upTo {
			r.bytes -= c.Weight()
			delete(r.commits, rev)
		}
	}
	r.oldest = max(r.oldest, upTo+1)
}

// cut drops the commits after a revision, which is the last one of a database that was put back
// to an earlier state: followers must not get what the database no longer has.
func (r *recent) cut(head store.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(head)
}

// drop is cut for a caller that holds the lock.
func (r *recent) drop(head store.Revision) {
	for rev, c := range r.commits {
		if rev > head {
			r.bytes -= c.Weight()
			delete(r.commits, rev)
		}
	}
	r.newest = min(r.newest, head)
}

// hint makes followers query the database, unless they know all commits up to last; 0: the last
// revision is unknown.
func (r *recent) hint(last store.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case last > 0 && last <= r.newest:
	case last > 0 && r.ends: // the database notifies before the commit returns
		r.told = max(r.told, last)
	default:
		r.hints++
		r.ring()
	}
}

// ending marks that this process is committing, until the returned function is called.
func (r *recent) ending() (ended func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ends = false
		if r.told > r.newest {
			r.hints++
			r.ring()
		}
		r.told = 0
	}
}

// since returns the commits after a revision up to the first gap, and whether later commits
// follow the gap.
func (r *recent) since(after store.Revision) (out []store.Commit, gap bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rev := after + 1; len(out) < window; rev++ {
		c, ok := r.commits[rev]
		if !ok {
			break
		}
		out = append(out, c)
	}
	return out, len(out) == 0 && r.newest > after
}
