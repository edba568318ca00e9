package config

import "time"

// Values of analytics.messages.
const (
	MessagesAll     = "all"
	MessagesBodies  = "bodies"
	MessagesHeaders = "headers"
	MessagesNone    = "none"
)

// Collector says whether this program stores the traffic that gateways report, and how
// much of it.
type Collector struct {
	Enabled    bool
	Join       bool // join days, also without collecting
	Every      time.Duration
	Backlog    int64
	Messages   string // MessagesAll … MessagesNone
	TrackAll   bool
	PerMinute  bool
	IgnoreTags []string
	Calls      time.Duration
	Bytes      int64
	Counters   time.Duration
}

// collecting are the settings of the collector.
var collecting = []setting{
	{name: "analytics.collect", preset: "false", field: func(s *Settings) any { return &s.Collector.Enabled },
		meaning: "collect the records of gateways from Redis and store them in storage.analytics, storage.logs and storage.uptime; no pump is needed"},
	{name: "analytics.collect_interval", preset: "1s", field: func(s *Settings) any { return &s.Collector.Every },
		meaning: "interval at which records are collected from Redis; gateways drop records after a minute"},
	{name: "analytics.collect_backlog", preset: "1000000", zero: true, field: func(s *Settings) any { return &s.Collector.Backlog },
		meaning: "maximum number of records that wait in Redis while the database is unavailable; further records are lost"},
	{name: "analytics.join_days", preset: "true", field: func(s *Settings) any { return &s.Collector.Join },
		meaning: "aggregate the counters of past days, so that queries over long periods are fast. In the database of a pump this creates the table gatehouse_rollup and needs a database user with write access; the collector always does it"},
	{name: "analytics.messages", preset: MessagesHeaders, choices: []string{MessagesAll, MessagesBodies, MessagesHeaders, MessagesNone},
		field:   func(s *Settings) any { return &s.Collector.Messages },
		meaning: "what is stored of recorded requests and responses: headers (without credentials), bodies (headers and bodies, without credentials), all (with credentials) or none"},
	{name: "analytics.mask_credentials", preset: "true", field: func(s *Settings) any { return &s.Analytics.Mask },
		meaning: "mask credentials in recorded requests and responses for users who read the log of calls, also in records that another program stored"},
	{name: "analytics.track_all_paths", preset: "false", field: func(s *Settings) any { return &s.Collector.TrackAll },
		meaning: "count every path, not only tracked endpoints"},
	{name: "analytics.store_analytics_per_minute", preset: "false", field: func(s *Settings) any { return &s.Collector.PerMinute },
		meaning: "count by minute instead of by hour"},
	{name: "analytics.ignore_tag_prefix_list", field: func(s *Settings) any { return &s.Collector.IgnoreTags },
		meaning: "prefixes of tags that are not counted"},
	{name: "analytics.keep_calls", preset: "720h", field: func(s *Settings) any { return &s.Collector.Calls },
		meaning: "age at which records of calls are deleted; 0: never"},
	{name: "analytics.keep_calls_bytes", preset: "0", field: func(s *Settings) any { return &s.Collector.Bytes },
		meaning: "maximum size of all records of calls in bytes; the oldest are deleted first; 0: no limit"},
	{name: "analytics.keep_counters", preset: "0", field: func(s *Settings) any { return &s.Collector.Counters },
		meaning: "age at which counters are deleted; 0: never"},
}

func collectorFindings(s *Settings) []finding {
	c := &s.Collector
	return []finding{
		{c.Enabled && !s.Redis.Enabled(), "analytics.collect", "it needs the Redis of the gateways; set redis_host"},
		{c.Every < 100*time.Millisecond || c.Every > 20*time.Second, "analytics.collect_interval", "expected 100ms to 20s"},
		{c.Backlog < 1000, "analytics.collect_backlog", "expected at least 1000"},
		{c.Calls < 0 || c.Calls > 0 && c.Calls < time.Hour, "analytics.keep_calls", "expected 0, or at least 1h"},
		{c.Bytes < 0 || c.Bytes > 0 && c.Bytes < 1<<20, "analytics.keep_calls_bytes", "expected 0, or at least 1048576"},
		{c.Counters < 0 || c.Counters > 0 && c.Counters < time.Hour, "analytics.keep_counters", "expected 0, or at least 1h"},
	}
}
