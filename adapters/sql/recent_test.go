package sql

import (
	"bytes"
	"testing"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// A large commit stays in memory until close followers have received it, although others
// follow right after. Followers that are far behind, or do not advance, keep a limited
// amount.
func TestFollowersTakeLargeCommitsFromMemory(t *testing.T) {
	var r recent
	r.init()
	add := func(rev store.Revision, size int) {
		change := store.NewChange(nil, &store.Record{Org: "a", Kind: "k", ID: "1", Doc: bytes.Repeat([]byte("x"), size)})
		r.add([]store.Commit{{Rev: rev, Changes: []store.Change{change}}})
	}
	const large = recentBytes/2 + 1 // counted twice: the record and the difference
	add(1, 10)
	near, far := r.join(1), r.join(0)
	add(2, large)
	add(3, 10)
	if got, _ := r.since(near.at); len(got) != 2 || got[0].Rev != 2 {
		t.Fatalf("the large commit went before it was taken: %d", len(got))
	}
	if got, _ := r.since(far.at); len(got) > 0 && got[0].Rev != 1 {
		t.Errorf("a gap: from %d", got[0].Rev)
	}
	r.took(far, 3)
	r.took(near, 3)
	if got, _ := r.since(1); len(got) != 0 {
		t.Errorf("a large commit stays when all have taken it: %d", len(got))
	}
	for rev := store.Revision(4); rev < 4+recentMost/recentBytes*2; rev++ { // near does not advance
		add(rev, large)
	}
	if r.bytes > recentMost {
		t.Errorf("%d bytes are kept for a follower that does not move", r.bytes)
	}
	r.leave(near)
	r.leave(far)
	if r.bytes > 2*recentBytes+1000 || len(r.commits) != 1 {
		t.Errorf("%d bytes of %d commits without followers", r.bytes, len(r.commits))
	}
}
