package sql

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// waiting returns a queue with n units of each organisation, in order of arrival.
func waiting(t *testing.T, counts map[tenant.ID]int, order ...tenant.ID) (*queue, map[*unit]string) {
	t.Helper()
	q, names := &queue{lanes: map[tenant.ID]*lane{}}, map[*unit]string{}
	for _, org := range order {
		scope, err := tenant.Of(org)
		if err != nil {
			t.Fatal(err)
		}
		for i := range counts[org] {
			u := &unit{scope: scope}
			names[u] = fmt.Sprintf("%s%d", org, i)
			q.add(u)
		}
	}
	return q, names
}

func took(group []*unit, names map[*unit]string) (out []string) {
	for _, u := range group {
		out = append(out, names[u])
	}
	return out
}

// An organisation that floods the writer delays another by one of its units: the unit of
// the other is in the next group, however many wait, and shares it with none that takes
// long.
func TestFloodDelaysOthersByOneUnit(t *testing.T) {
	q, names := waiting(t, map[tenant.ID]int{"flood": 1000}, "flood")
	for range 3 {
		for _, u := range q.take() {
			u.load = time.Second
			q.charge(u, time.Time{})
		}
	}
	other, err := tenant.Of("other")
	if err != nil {
		t.Fatal(err)
	}
	u := &unit{scope: other}
	names[u] = "other"
	q.add(u)
	if got := took(q.take(), names); len(got) != 1 || got[0] != "other" {
		t.Errorf("the next group is %v", got)
	}
	if got := q.take(); len(got) != 1 {
		t.Errorf("a unit that takes long shares its group: %v", took(got, names))
	}
}

// Organisations share the writer by their usage, and none starves.
func TestWriterIsShared(t *testing.T) {
	q, _ := waiting(t, map[tenant.ID]int{"heavy": 10, "light": 500}, "heavy", "light")
	var heavy, light int
	for q.size > 300 {
		group, load := q.take(), time.Duration(0)
		for i, u := range group {
			if load > groupTime {
				q.putBack(group[i:])
				break
			}
			u.load = time.Millisecond
			if light++; u.scope.Org() == "heavy" {
				u.load = 50 * time.Millisecond
				light, heavy = light-1, heavy+1
			}
			load += u.load
			q.charge(u, time.Time{})
		}
	}
	if heavy < 3 || heavy > 6 {
		t.Errorf("%d heavy units to %d light ones", heavy, light)
	}
}

// Units of one organisation stay in order, including units that were put back.
func TestOrderWithinAnOrganisation(t *testing.T) {
	q, names := waiting(t, map[tenant.ID]int{"a": 5, "b": 3}, "a", "b")
	group := q.take()
	q.putBack(group[1:])
	var got []string
	for q.size > 0 {
		for _, u := range q.take() {
			got = append(got, names[u])
		}
	}
	seen := map[byte]byte{}
	for _, name := range got {
		if name[1] < seen[name[0]] {
			t.Errorf("out of order: %v", got)
		}
		seen[name[0]] = name[1]
	}
	if len(got) != 7 {
		t.Errorf("%d units, of 7", len(got))
	}
}

// A unit does not wait for a job that is taken at the same time: each has its own
// transaction.
func TestJobsAreAlone(t *testing.T) {
	q, names := waiting(t, map[tenant.ID]int{"a": 1, "b": 1, "c": 1}, "a", "b", "c")
	job := &unit{job: func(context.Context, *session) error { return nil }}
	names[job] = "job"
	q.add(job)
	for q.size > 0 {
		if group := q.take(); len(group) > 1 && slices.Contains(group, job) {
			t.Errorf("%v", took(group, names))
		}
	}
}
