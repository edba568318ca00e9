package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/records"
	"github.com/gatehouse-io/gatehouse/adapters/redis"
	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/collector"
	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	port "github.com/gatehouse-io/gatehouse/ports/analytics"
)

// The collector's workload: a list of this many records, on two cores.
const (
	reported       = 20_000
	collectorCores = 2
	template       = "gatehouse-bench-records"
)

// collectorRows measures how many records a second are taken out of Redis and stored,
// compared with only taking them out and decoding them.
func collectorRows(ctx context.Context, b *bench) (rows []row, err error) {
	if b.redis == "" {
		return []row{{figure: "records of gateways", note: noRedis}}, nil
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(collectorCores))
	rdb := goredis.NewClient(&goredis.Options{Addr: b.redis})
	client, err := redis.Open(redis.Config{Addrs: []string{b.redis}, Logger: quiet()})
	if err != nil {
		return nil, errors.Join(err, rdb.Close())
	}
	defer func() {
		err = errors.Join(err, rdb.Del(context.WithoutCancel(ctx), template).Err(), rdb.Close(), client.Close())
	}()
	if err := leaveRecords(ctx, rdb); err != nil {
		return nil, err
	}
	return b.onEach(ctx, func(ctx context.Context, b *bench, k backend) ([]row, error) {
		r, err := collected(ctx, b, k, rdb, redis.NewClaims(client))
		return []row{r}, err
	}, onSQLite, onPostgres)
}

// leaveRecords creates the list that is collected repeatedly.
func leaveRecords(ctx context.Context, rdb *goredis.Client) error {
	var entries []any
	for i := range reported {
		api, key := fmt.Sprint("api-", i%50), fmt.Sprintf("%08x", i%500)
		entries = append(entries, gatewaysim.Record{
			Time: time.Now(), Method: "GET", Path: fmt.Sprint("/orders/", i%200), RawPath: fmt.Sprint("/orders/", i), UserAgent: "Mozilla/5.0 (X11; Linux x86_64)", Code: 200 + int64(i%20/19)*204,
			RequestTime: int64(i % 90), Upstream: int64(i % 80), API: api, APIName: "Orders", Org: fmt.Sprint("org-", i%5), Version: "Non Versioned", Key: key, Track: i%2 == 0,
			Tags: []string{"gold", "key-" + key, "org-o1", "api-" + api},
		}.Msgpack())
	}
	return errors.Join(rdb.Del(ctx, template).Err(), rdb.RPush(ctx, template, entries...).Err())
}

// plainList is the list where gateways push records.
var plainList = port.List{Name: gatewaysim.RecordList}

// collected measures one kind of database.
func collected(ctx context.Context, b *bench, k backend, rdb *goredis.Client, queue port.Queue) (r row, err error) {
	places, err := b.analyticsOn(k)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, places.Close()) }()
	leases, err := memdb.New(time.Now)
	if err != nil {
		return r, err
	}
	service, err := collector.New(collector.Settings{Queue: queue, Decoder: records.Decoder{}, Sinks: []port.Sink{places.Writers()[0]}, Every: time.Millisecond, Holder: "bench"}, leases, time.Now, quiet())
	if err != nil {
		return r, err
	}
	results, err := b.race(ctx, k.name,
		contestant{name: "reading alone", do: func(ctx context.Context, _, n int) error { return readAlone(ctx, rdb, queue, fmt.Sprint("bench-", n)) }},
		contestant{name: "collecting", do: func(ctx context.Context, _, _ int) error { return collect(ctx, rdb, service) }},
	)
	if err != nil {
		return r, err
	}
	rate := results[1].rate() * reported
	return row{id: "collector/" + k.name, figure: fmt.Sprintf("%s, %d cores: records of gateways stored and counted", k.name, collectorCores), value: significant(rate), unit: "records/s",
		ratios: []ratio{{results[1].over(results[0]), "reading alone"}}, aim: atLeast(rate, 20_000, "records/s")}, nil
}

// analyticsOn opens a database for all tables.
func (b *bench) analyticsOn(k backend) (*analytics.Store, error) {
	if k.name == onSQLite.name {
		readers, writers, err := sqlite.Plain(b.path("analytics.db"), quiet())
		p := analytics.Place{Readers: readers, Writers: writers, Dialect: analytics.SQLite}
		return &analytics.Store{Counters: p, Records: p, Uptime: p}, err
	}
	db, err := postgres.Plain(b.postgres, 4)
	p := analytics.Place{Readers: db, Writers: db, Dialect: analytics.Postgres}
	return &analytics.Store{Counters: p, Records: p, Uptime: p}, err
}

// readAlone claims the list, decodes and counts its records, and releases them.
func readAlone(ctx context.Context, rdb *goredis.Client, queue port.Queue, unique string) error {
	if err := rdb.Copy(ctx, template, plainList.Name, 0, true).Err(); err != nil {
		return err
	}
	c, ok, err := queue.Claim(ctx, plainList, unique)
	if err != nil || !ok {
		return errors.Join(err, errors.New("nothing was claimed"))
	}
	for from := int64(0); ; {
		entries, err := queue.Read(ctx, c, from, port.Bounds{Entries: 4000, Bytes: 32 << 20, Largest: 16 << 20})
		if err != nil || len(entries) == 0 {
			return errors.Join(err, queue.Release(ctx, c))
		}
		batch := aggregate.New(aggregate.Options{})
		for _, e := range entries {
			r, err := records.Decoder{}.Record([]byte(e), false)
			if err != nil {
				return err
			}
			batch.Add(&r)
		}
		from += int64(len(entries))
	}
}

// collect waits until the collector has stored the list.
func collect(ctx context.Context, rdb *goredis.Client, service *collector.Service) error {
	before := service.Status().Records
	if err := rdb.Copy(ctx, template, plainList.Name, 0, true).Err(); err != nil {
		return err
	}
	run, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); _ = service.Run(run) }()
	defer func() { stop(); <-done }()
	for service.Status().Records < before+reported || service.Status().Waiting > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}
