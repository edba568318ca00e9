package remote_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/dashboard/remote"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
)

// failing returns errors for the calls, one after the other.
type failing struct{ left []error }

func (f *failing) Fetch(context.Context, fetch.Request) (fetch.Answer, error) {
	err := f.left[0]
	f.left = f.left[1:]
	return fetch.Answer{}, err
}

// TestUnsent: if no attempt could connect, the key was not requested; after an attempt that may
// have arrived, the key may exist.
func TestUnsent(t *testing.T) {
	none, lost := fetch.ErrUnconnected, fetch.ErrUnreachable
	for _, c := range []struct {
		attempts []error
		unsent   bool
	}{{[]error{none, none, none}, true}, {[]error{lost, none, none}, false}, {[]error{none, lost, none}, false}, {[]error{none, none, lost}, false}} {
		d := remote.New(&failing{c.attempts}, remote.Config{URL: "http://dashboard.example", Pause: time.Nanosecond})
		_, err := d.CreateKey(t.Context(), "till", doc.NewObject())
		if !errors.Is(err, dashboard.ErrUnreachable) || errors.Is(err, dashboard.ErrUnsent) != c.unsent {
			t.Errorf("%v: %v", c.attempts, err)
		}
	}
}
