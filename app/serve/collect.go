package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/records"
	"github.com/gatehouse-io/gatehouse/adapters/redis"
	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/collector"
	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
	port "github.com/gatehouse-io/gatehouse/ports/analytics"
	"github.com/gatehouse-io/gatehouse/ports/observe"
)

// collect returns the option for the collector, or for joining counters that a pump
// writes. A command beside a service does neither, nor does a portal alone.
func (c *Composition) collect(s config.Settings, log *slog.Logger, p Purpose, places *analytics.Store) ([]app.Option, error) {
	o := s.Collector
	if p.Beside || p.Lost || s.Portal.Serve == config.PortalAlone {
		return nil, nil
	}
	var sinks []port.Sink
	for _, w := range places.Writers() {
		sinks = append(sinks, w)
	}
	if !o.Enabled {
		if !o.Join {
			return nil, nil
		}
		return []app.Option{app.WithCollector(collector.Settings{Sinks: sinks})}, nil
	}
	client, err := redis.Open(redisConfig(s.Redis, log))
	if err != nil {
		return nil, err
	}
	c.closers = append(c.closers, client)
	out := collector.Settings{
		Queue: redis.NewClaims(client), Decoder: records.Decoder{}, Every: o.Every, Backlog: o.Backlog, Keep: record.Level(o.Messages),
		Count: aggregate.Options{PerMinute: o.PerMinute, TrackAll: o.TrackAll, IgnoreTags: o.IgnoreTags},
		Calls: o.Calls, Bytes: o.Bytes, Counters: o.Counters, Sinks: sinks,
	}
	return []app.Option{app.WithCollector(out)}, nil
}

// showReaders writes a line if the collector has noticed that another program takes
// records from the lists of the gateways.
func showReaders(ctx context.Context, s config.Settings, log *slog.Logger, out io.Writer) {
	if !s.Collector.Enabled || !s.Redis.Enabled() {
		return
	}
	names, err := readers(ctx, s, log)
	switch text := collector.Sharing(names); {
	case err != nil:
		fmt.Fprintln(out, "analytics: Redis does not say whether another program reads the lists of the gateways:", err)
	case text != "":
		fmt.Fprintln(out, "analytics:", text)
	}
}

// readers returns the lists from which another program also takes records.
func readers(ctx context.Context, s config.Settings, log *slog.Logger) (names []string, err error) {
	client, err := redis.Open(redisConfig(s.Redis, log))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, readersTime)
	defer cancel()
	lists, err := redis.NewClaims(client).Shared(ctx, port.Lists())
	for _, l := range lists {
		names = append(names, l.Name)
	}
	return names, err
}

// readersTime is the timeout of Redis for a command.
const readersTime = 5 * time.Second

// collectorGauges are the metrics of the collector.
func collectorGauges(a *app.App) []observe.Gauge {
	number := func(name, help string, of func(collector.Status) int64) observe.Gauge {
		return observe.Gauge{Name: "gatehouse_collector_" + name, Help: help, Value: func() float64 { return float64(of(a.Collector())) }}
	}
	yes := func(b bool) int64 {
		if b {
			return 1
		}
		return 0
	}
	return []observe.Gauge{
		number("active", "1 if this process collects the records of gateways from Redis.", func(s collector.Status) int64 { return yes(s.Collecting) }),
		number("records", "Records that this process has stored since it started.", func(s collector.Status) int64 { return s.Records }),
		number("unreadable", "Entries that could not be decoded and were set aside, since the process started.", func(s collector.Status) int64 { return s.Asides }),
		number("dropped_counts", "Counts that were dropped because their dimension has too many values, since the process started.", func(s collector.Status) int64 { return s.Dropped }),
		number("waiting", "Records that are claimed and not stored yet.", func(s collector.Status) int64 { return s.Waiting }),
		number("trouble", "1 if records cannot be claimed or stored.", func(s collector.Status) int64 { return yes(s.Trouble != nil) }),
		number("shared_lists", "Lists from which another program takes records at the same time.", func(s collector.Status) int64 { return int64(len(s.Others)) }),
	}
}
