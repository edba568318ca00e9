package postgres

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

// TestLost: the error of a driver about a connection that is gone means that the database is away,
// also when others have put words before it.
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
