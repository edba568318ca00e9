package delivery

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/delivery"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Lane is a receiver, for packages that show its deliveries to its owner.
type Lane struct{ Audience, Name string }

// Page returns the deliveries from and to of a lane, the newest first, and the number
// of all. With a state, only deliveries in this state count.
func (l Lane) Page(ctx context.Context, r store.Reader, state delivery.State, from, to int) ([]delivery.Delivery, int, error) {
	var found []*store.Row[listed]
	for row, err := range column.All(ctx, r) {
		if err != nil {
			return nil, 0, err
		}
		if v := &row.Value; v.Audience == l.Audience && v.Lane == l.Name && (state == "" || v.State == state) {
			found = append(found, row)
		}
	}
	slices.SortFunc(found, func(a, b *store.Row[listed]) int { return strings.Compare(b.Value.Place, a.Value.Place) })
	page, err := column.Resources(found[min(from, len(found)):min(to, len(found))])
	return page, len(found), err
}

// Get returns a delivery of the lane.
func (l Lane) Get(ctx context.Context, r store.Reader, id string) (delivery.Delivery, error) {
	d, err := deliveries.Get(ctx, r, id)
	if err == nil && (d.Value.Audience != l.Audience || d.Value.Lane != l.Name) {
		return delivery.Delivery{}, deliveries.Absent()
	}
	return d.Value, err
}

// Resend restarts a delivery of the lane that has ended.
func (l Lane) Resend(ctx context.Context, w store.Writer, id string, at time.Time) error {
	if _, err := l.Get(ctx, w, id); err != nil {
		return err
	}
	_, err := deliveries.Edit(ctx, w, id, nil, func(d delivery.Delivery) (delivery.Delivery, error) { return d.Again(at) })
	return err
}
