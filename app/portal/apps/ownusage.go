package apps

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CodeUsage is the fault code for a dashboard that does not report usage.
const CodeUsage = "portal_own_apps.usage"

// Usage is what an app has called.
type Usage struct {
	From string     `json:"From" doc:"First day."`
	To   string     `json:"To" doc:"Last day, which is today."`
	Days []UsageDay `json:"Days" doc:"All days of the period, in order."`
}

// UsageDay is the usage of one day.
type UsageDay struct {
	Date    string  `json:"Date"`
	Calls   int64   `json:"Calls"`
	Errors  int64   `json:"Errors"`
	Latency float64 `json:"Latency" doc:"Average latency in milliseconds."`
}

var exampleUsage = Usage{"2026-01-01", "2026-01-02", []UsageDay{{Date: "2026-01-01"}, {"2026-01-02", 120, 3, 41.5}}}

// Bounds of queries to dashboards.
const (
	usageDays    = 30
	maxUsageDays = 90
	maxUsageKeys = 50 // of an app at a provider: the newest; one query names as many
)

// everyApp stands for all apps of the user; no app has this number.
const everyApp = "0"

type usageIn struct {
	ownNamed
	Days string `query:"days" doc:"Number of days up to today, 90 at most. Default: 30."`
}

// ownUsage sums the calls of the keys of apps, from the dashboards that have the keys.
func (s *Service) ownUsage(ctx context.Context, in usageIn) (out Usage, err error) {
	days, err := strconv.Atoi(cmp.Or(in.Days, strconv.Itoa(usageDays)))
	if err != nil || days < 1 || days > maxUsageDays {
		days = usageDays
	}
	to := s.Now().UTC().Truncate(24 * time.Hour)
	from := to.AddDate(0, 0, 1-days)
	keys, err := s.reported(ctx, in)
	if err != nil {
		return out, err
	}
	var all []dashboard.Day
	for _, at := range slices.Sorted(maps.Keys(keys)) {
		list, err := s.counted(ctx, at, keys[at], from, to)
		if err != nil {
			s.Log.WarnContext(ctx, "the usage of an app cannot be read", "org_id", string(s.Scope.Org()), "provider", int64(at), "error", err)
			return out, fault.New(fault.Unavailable, CodeUsage, "usage cannot be read now: try again in a few minutes")
		}
		all = append(all, list...)
	}
	return summed(all, from, days), nil
}

// counted queries a provider for the calls of keys, a few keys at a time: a URL cannot
// contain more.
func (s *Service) counted(ctx context.Context, at table.ID, keys []string, from, to time.Time) (out []dashboard.Day, err error) {
	p, err := s.Open(ctx, s.Scope, at)
	if err != nil {
		return nil, err
	}
	for some := range slices.Chunk(keys, maxUsageKeys) {
		list, err := p.Dashboard.KeyUsage(ctx, some, from, to)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

// reported returns the names under which gateways report the keys of apps, by provider.
func (s *Service) reported(ctx context.Context, in usageIn) (map[table.ID][]string, error) {
	out := map[table.ID][]string{}
	err := s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		var list []usable
		if in.App == everyApp {
			u, err := in.of(ctx, r)
			if err != nil {
				return err
			}
			if list, err = usableBy(ctx, r, u); err != nil {
				return err
			}
		} else {
			v, err := in.find(ctx, r)
			if err != nil {
				return err
			}
			list = []usable{v}
		}
		for _, v := range list {
			keys, err := s.reportedOf(ctx, r, v.app.ID)
			if err != nil {
				return err
			}
			for at, names := range keys {
				out[at] = append(out[at], names...)
			}
		}
		return nil
	})
	return out, err
}

// reportedOf returns the current and former keys of one app, newest first.
func (s *Service) reportedOf(ctx context.Context, r store.Reader, app table.ID) (map[table.ID][]string, error) {
	list, err := credentialsOf(ctx, r, app)
	if err != nil {
		return nil, err
	}
	former, err := s.formerOf(ctx, r, app)
	if err != nil {
		return nil, err
	}
	out := map[table.ID][]string{}
	add := func(at table.ID, name string) {
		if name != "" && at != 0 && len(out[at]) < maxUsageKeys && !slices.Contains(out[at], name) {
			out[at] = append(out[at], name)
		}
	}
	for _, c := range slices.Backward(list) {
		v, err := s.opened(c)
		if err != nil {
			return nil, err
		}
		add(c.ProviderID, reportedAs(v))
	}
	for _, f := range slices.Backward(former) {
		add(f.Provider, f.Name)
	}
	return out, nil
}

// summed adds up the days of several dashboards: every day of the period, in order.
func summed(all []dashboard.Day, from time.Time, days int) Usage {
	out := Usage{From: from.Format(time.DateOnly), Days: make([]UsageDay, days)}
	for i := range out.Days {
		out.Days[i].Date = from.AddDate(0, 0, i).Format(time.DateOnly)
	}
	out.To = out.Days[days-1].Date
	for _, d := range all {
		i := int(d.Date.Sub(from) / (24 * time.Hour))
		if i < 0 || i >= days || d.Calls <= 0 {
			continue
		}
		o := &out.Days[i]
		o.Latency = (o.Latency*float64(o.Calls) + d.Latency*float64(d.Calls)) / float64(o.Calls+d.Calls)
		o.Calls, o.Errors = o.Calls+d.Calls, o.Errors+d.Errors
	}
	return out
}
