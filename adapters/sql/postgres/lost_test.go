package postgres

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

// TestLost: a driver's error about a lost connection means that the database cannot be reached,
// also when the error is wrapped in a message.
func TestLost(t *testing.T) {
	closed := errors.New("conn closed")
	for _, c := range []struct {
		err  error
		lost bool
	}{
		{nil, false}, {errors.New("no"), false}, {io.EOF, true}, {closed, true}, {errors.Join(closed, nil), true},
		{fmt.Errorf("sql: commit: %w", errors.Join(closed)), true},
	} {
		if have := lost(c.err); have != c.lost {
			t.Errorf("%v: %v", c.err, have)
		}
	}
}
