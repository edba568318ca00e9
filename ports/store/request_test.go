package store_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestRequestWithin: a request within another one updates the outer one, and has its own entry
// in the change log.
func TestRequestWithin(t *testing.T) {
	outer := store.Request(t.Context())
	store.NoteCurrent(outer, 3)
	inner := store.Request(outer)
	if at := store.Current(inner); at != 0 {
		t.Errorf("a request within another one begins at %d", at)
	}
	store.NoteCurrent(inner, 7)
	store.NoteCurrent(inner, 5)
	store.NoteWritten(inner)
	if at := store.Current(outer); at != 7 || store.Current(inner) != 7 {
		t.Errorf("the outer request is at %d, the inner one at %d", at, store.Current(inner))
	}
	if store.Written(outer) || !store.Written(inner) {
		t.Error("what the inner request wrote counts for the outer one")
	}
	store.NoteCurrent(outer, 9)
	if at := store.Current(inner); at != 7 {
		t.Errorf("the inner request is at %d", at)
	}
}
