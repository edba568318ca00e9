package apps_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// closed is a dashboard that accepts no connections for calls about keys.
type closed struct{ dashboard.Dashboard }

func (closed) CreateKey(context.Context, string, *doc.Node) (dashboard.Key, error) {
	return dashboard.Key{}, fmt.Errorf("create a key: %w: connection refused", dashboard.ErrUnsent)
}

func (closed) DeleteKey(context.Context, dashboard.KeyName) error {
	return fmt.Errorf("delete a key: %w: connection refused", dashboard.ErrUnsent)
}

// TestNoConnection: an approval that cannot connect to the dashboard leaves nothing to undo,
// so later sagas of the app do not wait.
func TestNoConnection(t *testing.T) {
	d := newOurs(t, false)
	w := open(t, d)
	w.dash = ours{closed{d}}
	w.start(&fate{})
	for n := range 2 {
		err := w.provision(`{"PlanID":2,"ProductIDs":[1]}`)
		if err == nil || !strings.Contains(err.Error(), "no connection") || strings.Contains(err.Error(), "later") {
			t.Errorf("%d: %v", n, err)
		}
		if s, failed := w.sagas.Status(t.Context()); failed != nil || s.Active+s.Rest != 0 {
			t.Errorf("%d: %+v are open, %v", n, s, failed)
		}
	}
	if all := w.requests(); len(all) != 2 || all[1].Status != string(request.Pending) {
		t.Errorf("%+v", all)
	}
	w.dash = d
	w.start(&fate{})
	if err := errors.Join(w.approve("1"), w.approve("2")); err != nil {
		t.Error(err)
	}
	w.consistent("when it takes connections again")
	w.clear()
}
