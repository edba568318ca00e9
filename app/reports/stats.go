// Package reports holds the reads about an organisation as a whole: its usage
// statistics, and its notifications (docs/wire/organisation-notifications.md,
// docs/wire/system.md#statistics).
package reports

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Lifetime is the part of an API that statistics need.
type Lifetime struct {
	Created time.Time
	Active  bool // gateways load it
}

// Stats counts the usage of an organisation, by day (UTC).
type Stats struct {
	Store store.Store
	Now   system.Clock
	// APIs yields the APIs of the organisation a reader is scoped to.
	APIs func(ctx context.Context, r store.Reader) iter.Seq2[Lifetime, error]
	// Gateways returns how many gateway nodes are alive.
	Gateways func(ctx context.Context) (int, error)
}

// unlimited is the entitlement of an installation, which needs no licence.
const unlimited = -1

// Day is the usage of one entity on one day.
type Day struct {
	Date              string `json:"date"` // "2026-01-31"
	MaxUsage          int    `json:"max_usage"`
	MinUsage          int    `json:"min_usage"`
	AvgUsage          int    `json:"avg_usage"`
	MaxActiveUsage    int    `json:"max_active_usage"`
	MinActiveUsage    int    `json:"min_active_usage"`
	AvgActiveUsage    int    `json:"avg_active_usage"`
	Entitlement       int    `json:"license_entitlement"`        // -1: unlimited
	EntitlementActive int    `json:"license_entitlement_active"` // -1: unlimited
}

// Usage is the usage of every entity; entities that the request did not ask for are
// empty.
type Usage struct {
	APIs       []Day `json:"apis"`
	Dataplanes []Day `json:"dataplanes"`
	Gateways   []Day `json:"dataplanes_gateways"`
}

// StatsReport is the response of the statistics.
type StatsReport struct {
	Status  string `json:"status"`
	Message string `json:"message"`
	Stats   Usage  `json:"stats"`
}

// Codes of the faults of statistics.
const (
	codeRange = "stats.range"
	codeStats = "stats.not_found"
)

// Operations lists the reads.
func (s *Stats) Operations() []operation.Operation {
	day := Day{Date: "2026-01-31", MaxUsage: 12, MinUsage: 10, AvgUsage: 11, MaxActiveUsage: 9, MinActiveUsage: 9, AvgActiveUsage: 9,
		Entitlement: unlimited, EntitlementActive: unlimited}
	return operation.Group{
		Surface: operation.Management, Name: "system.stats", Path: "/api/system/stats", Tag: "System", Permission: access.System,
		Style: operation.Style{Word: "Success", Faults: map[string]operation.Answer{
			codeRange: {Status: 400, Text: "Request validation failed."}, codeStats: {Text: "Stats not found."}, "internal": {Text: "Failed to system stats."}}},
	}.Rows(operation.GET("get", "", "Count the APIs and data planes of the organisation by day", s.Get, operation.Faulting(codeRange, codeStats),
		operation.Notes("An API counts from the day of its creation; deleted APIs do not count. Data planes are known for today only."),
		operation.Example(nil, StatsReport{Status: "Success", Message: retrieved, Stats: Usage{APIs: []Day{day}, Dataplanes: []Day{}, Gateways: []Day{}}})))
}

const retrieved = "System stats retrieved."

type statsIn struct {
	Scope      tenant.Scope
	Start      string `query:"start_day" doc:"First day, such as 2026-01-31. Default: the first day of the previous year."`
	End        string `query:"end_day" doc:"Last day. Default: today."`
	Resolution string `query:"resolution" oneof:"day" doc:"Period of each entry."`
	Entity     string `query:"entity" oneof:"apis,dataplanes,dataplanes.gateways" doc:"What is counted. Default: apis."`
}

// Get returns the usage of one entity, sorted by day.
func (s *Stats) Get(ctx context.Context, in statsIn) (StatsReport, error) {
	today := s.Now().UTC().Truncate(day)
	from, to, err := in.days(today)
	if err != nil {
		return StatsReport{}, err
	}
	out := StatsReport{Status: "Success", Message: retrieved, Stats: Usage{APIs: []Day{}, Dataplanes: []Day{}, Gateways: []Day{}}}
	switch in.Entity {
	case "", "apis":
		out.Stats.APIs, err = s.apis(ctx, in.Scope, from, to)
	case "dataplanes":
		out.Stats.Dataplanes, err = s.gateways(ctx, today, to, func(nodes int) int { return min(nodes, 1) })
	case "dataplanes.gateways":
		out.Stats.Gateways, err = s.gateways(ctx, today, to, func(nodes int) int { return nodes })
	default:
		err = invalid("entity", "apis, dataplanes or dataplanes.gateways")
	}
	return out, err
}

const (
	day     = 24 * time.Hour
	longest = 3653 * day // ten years
)

// days returns the first and the last day of the request. Future days are left out.
func (in statsIn) days(today time.Time) (from, to time.Time, err error) {
	if in.Resolution != "" && in.Resolution != "day" {
		return from, to, invalid("resolution", "day")
	}
	from, to = time.Date(today.Year()-1, 1, 1, 0, 0, 0, 0, time.UTC), today
	if in.Start != "" {
		if from, err = time.Parse(time.DateOnly, in.Start); err != nil {
			return from, to, invalid("start_day", "a day such as 2026-01-31")
		}
	}
	if in.End != "" {
		if to, err = time.Parse(time.DateOnly, in.End); err != nil {
			return from, to, invalid("end_day", "a day such as 2026-01-31")
		}
	}
	if to.Before(from) && in.End != "" {
		return from, to, invalid("end_day", "no day before start_day")
	}
	if to.Sub(from) > longest {
		return from, to, invalid("start_day", "at most ten years before end_day")
	}
	if from.After(today) {
		return from, to, fault.New(fault.NotFound, codeStats, "there are no statistics of future days")
	}
	if to.After(today) {
		to = today
	}
	return from, to, nil
}

func invalid(field, want string) error {
	return fault.New(fault.Invalid, codeRange, "query parameter %s must be %s", field, want).At(field)
}

// apis counts APIs by day, from the first day on which there was one.
func (s *Stats) apis(ctx context.Context, scope tenant.Scope, from, to time.Time) ([]Day, error) {
	var all []Lifetime
	err := s.Store.View(ctx, scope, func(r store.Reader) (err error) {
		all, err = store.Collect(s.APIs(ctx, r))
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b Lifetime) int { return a.Created.Compare(b.Created) })
	// Lifetimes are sorted by creation. The APIs that were created before a day are its
	// minimum, those that were created by its end its maximum.
	out := []Day{}
	if len(all) == 0 {
		return out, nil
	}
	if first := all[0].Created.UTC().Truncate(day); first.After(from) {
		from = first
	}
	total, active, next := 0, 0, 0
	until := func(t time.Time) {
		for ; next < len(all) && all[next].Created.Before(t); next++ {
			if total++; all[next].Active {
				active++
			}
		}
	}
	for at := from; !at.After(to); at = at.Add(day) {
		until(at)
		low, lowActive := total, active
		until(at.Add(day))
		out = append(out, count(at, low, total, lowActive, active))
	}
	return out, nil
}

func count(at time.Time, low, high, lowActive, highActive int) Day {
	return Day{
		Date: at.Format(time.DateOnly), MinUsage: low, MaxUsage: high, AvgUsage: (low + high) / 2,
		MinActiveUsage: lowActive, MaxActiveUsage: highActive, AvgActiveUsage: (lowActive + highActive) / 2,
		Entitlement: unlimited, EntitlementActive: unlimited,
	}
}

// gateways counts the nodes that are alive now, if the request includes today.
func (s *Stats) gateways(ctx context.Context, today, to time.Time, of func(nodes int) int) ([]Day, error) {
	if to.Before(today) {
		return []Day{}, nil
	}
	nodes, err := s.Gateways(ctx)
	n := of(nodes)
	return []Day{count(today, n, n, n, n)}, err
}
