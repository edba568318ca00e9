package config

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// quiet are settings without which every configuration has warnings.
var quiet = []string{"SVC_DB_ADMINSECRET=a", "SVC_DB_NODESECRET=n"}

func load(t *testing.T, file string, environ ...string) (Settings, Report) {
	t.Helper()
	return Load([]byte(file), "gatehouse.conf", append(quiet[:2:2], environ...), Options{})
}

func TestDefaults(t *testing.T) {
	s, report := load(t, "")
	if len(report.Warnings)+len(report.Problems) > 0 {
		t.Fatalf("report %+v", report)
	}
	want := Settings{
		Listen: Listen{Port: 3000}, TLS: TLS{MinVersion: 771}, HealthEndpoint: "health",
		Log: Log{Level: "info", Format: "standard"}, HomeDir: ".", Storage: Storage{Type: "sqlite"},
		Reads: "current", MaxStaleness: time.Minute, StopGrace: 3 * time.Second, History: History{MaxAge: 720 * time.Hour, MaxBytes: 2 << 30},
		Audit:       Audit{Enabled: true, Store: AuditDB, MaxAge: 9600 * time.Hour, MaxBytes: 64 << 20, Format: AuditText, FileSize: 100 << 20, FileKeep: 5},
		Deliveries:  Deliveries{Enabled: true, Workers: 8, Pause: 5 * time.Second, KeepDone: 24 * time.Hour, KeepFailed: 720 * time.Hour},
		Collector:   Collector{Join: true, Every: time.Second, Backlog: 1_000_000, Messages: MessagesHeaders, Calls: 720 * time.Hour},
		AdminSecret: "a", NodeSecret: "n", PageSize: 10, NotifyOnChange: true, EncryptAtRest: true,
		Sessions:  Sessions{Lifetime: 3600, Window: 900},
		Limits:    Limits{MaxBodyBytes: 32 << 20, MaxBodyValues: 300_000, BodyRate: 64 << 10, Connections: 4000, Organisation: 2 << 30, Failures: 1000, MaxDepth: 128, RequestTimeout: 30 * time.Second, WriteTime: 5 * time.Second},
		Redis:     Redis{Port: 6379, TimeoutSeconds: 5},
		Gateway:   Gateway{Timeout: 5 * time.Second},
		Analytics: Analytics{Mask: true},
		Expiry:    CertificateExpiry{Minutes: 60, Days: 30},
		Console:   Console{Enabled: true},
		Portal:    Portal{Serve: PortalOff, ID: "default", PrivateDashboards: true},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("have %#v\nwant %#v", s, want)
	}
	if s.Redis.Enabled() || s.Bootstrap.Active() || s.Security.OpenPolicy.Enabled {
		t.Error("Redis, bootstrap or OPA is on by default")
	}
	if have := s.SQLiteFile(); have != "gatehouse.db" {
		t.Errorf("SQLite file %q", have)
	}
}

func TestPrecedence(t *testing.T) {
	const file = `{"listen_port": 1, "log_level": "error"}`
	cases := []struct {
		name    string
		file    string
		environ string
		port    int
		level   string
	}{
		{"nothing set", "", "", 3000, "info"},
		{"file beats default", file, "", 1, "error"},
		{"field prefix beats file", file, "TYK_DB_LISTENPORT=2 TYK_DB_LOGLEVEL=warn", 2, "warn"},
		{"our prefix beats the field's", file, "SVC_DB_LISTENPORT=3 TYK_DB_LISTENPORT=2 SVC_DB_LOGLEVEL=debug TYK_LOGLEVEL=warn", 3, "debug"},
		{"shared level beats our own", file, "SVC_LOGLEVEL=warn SVC_DB_LOGLEVEL=debug", 1, "warn"},
		{"shared level of the field beats its own", "", "TYK_DB_LOGLEVEL=debug TYK_LOGLEVEL=error", 3000, "error"},
		{"an empty variable is absent", file, "SVC_DB_LISTENPORT= TYK_DB_LISTENPORT=2 SVC_LOGLEVEL=", 2, "error"},
		{"the last of two equal names counts", "", "SVC_DB_LISTENPORT=4 SVC_DB_LISTENPORT=5", 5, "info"},
		{"null in the file is absent", "listen_port: null\nlog_level: ~\n", "", 3000, "info"},
		{"a wrong value that is overruled is no problem", "listen_port: x", "SVC_DB_LISTENPORT=6", 6, "info"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, report := load(t, c.file, strings.Fields(c.environ)...)
			if s.Listen.Port != c.port || s.Log.Level != c.level || len(report.Warnings)+len(report.Problems) > 0 {
				t.Errorf("port %d level %s, report %+v", s.Listen.Port, s.Log.Level, report)
			}
		})
	}
}

func TestLogLevel(t *testing.T) {
	cases := []struct {
		set, want string
		slog      slog.Level
		warnings  int
	}{
		{"error", "error", slog.LevelError, 0},
		{"warn", "warn", slog.LevelWarn, 0},
		{"info", "info", slog.LevelInfo, 0},
		{"debug", "debug", slog.LevelDebug, 0},
		{"INFO", "info", slog.LevelInfo, 1},
		{"warning", "info", slog.LevelInfo, 1},
		{"7", "info", slog.LevelInfo, 1},
		{"[debug]", "info", slog.LevelInfo, 1},
	}
	for _, c := range cases {
		for _, source := range []string{"file", "SVC_LOGLEVEL", "TYK_DB_LOGLEVEL"} {
			file, environ := "", quiet[:2:2]
			if source == "file" {
				file = "log_level: " + c.set
			} else {
				environ = append(environ, source+"="+c.set)
			}
			s, report := Load([]byte(file), "", environ, Options{})
			if s.Log.Level != c.want || s.Log.Slog() != c.slog || len(report.Warnings) != c.warnings || len(report.Problems) > 0 {
				t.Errorf("%s %s: level %s, report %+v", source, c.set, s.Log.Level, report)
			}
			s, report = Load([]byte(file), "", environ, Options{Debug: true})
			if s.Log.Level != "debug" || len(report.Warnings) != c.warnings {
				t.Errorf("%s %s with debug: level %s, report %+v", source, c.set, s.Log.Level, report)
			}
		}
	}
	// An invalid value is not replaced by a valid one of lower precedence.
	s, report := load(t, "log_level: error", "SVC_LOGLEVEL=loud", "SVC_DB_LOGLEVEL=debug")
	if s.Log.Level != "info" || len(report.Warnings) != 1 {
		t.Errorf("level %s, warnings %q", s.Log.Level, report.Warnings)
	}
}

func TestSpellings(t *testing.T) {
	cases := []struct {
		file, environ string
		field         func(Settings) any
		want          any
	}{
		{`{"listen_port": "8080"}`, "LISTENPORT= 8080 ", func(s Settings) any { return s.Listen.Port }, 8080},
		{`{"listen_port": 8.08e3}`, "LISTENPORT=8080.0", func(s Settings) any { return s.Listen.Port }, 8080},
		{"\t{\"LISTEN_PORT\": 8080}", "LISTENPORT=8080", func(s Settings) any { return s.Listen.Port }, 8080},
		{"limits.max_body_bytes: 3.3554432e+07", "LIMITS_MAXBODYBYTES=3.3554432e+07", func(s Settings) any { return s.Limits.MaxBodyBytes }, int64(32 << 20)},
		{"http_server_options: {min_version: 772}", "HTTPSERVEROPTIONS_MINVERSION=772", func(s Settings) any { return s.TLS.MinVersion }, uint16(772)},
		{"enable_cluster: 'TRUE'", "ENABLECLUSTER=yes", func(s Settings) any { return s.Redis.Cluster }, true},
		{"notify_on_change: 0", "NOTIFYONCHANGE=off", func(s Settings) any { return s.NotifyOnChange }, false},
		{"redis_password: 0123", "REDISPASSWORD=0123", func(s Settings) any { return s.Redis.Password }, Secret("0123")},
		{`{"home_dir": "\/srv\/\ud83d\ude00"}`, "HOMEDIR=/srv/😀", func(s Settings) any { return s.HomeDir }, "/srv/😀"},
		{"redis_tls_max_version: 1.2", "REDISTLSMAXVERSION=1.2", func(s Settings) any { return s.Redis.TLS.MaxVersion }, "1.2"},
		{"log_format: ''", "LOGFORMAT=standard", func(s Settings) any { return s.Log.Format }, "standard"},
		{"audit: {enabled: true}", "AUDIT_ENABLED=true", func(s Settings) any { return s.Audit.Reads }, true},
		{"audit: {enabled: true, reads: false}", "AUDIT_READS=false", func(s Settings) any { return s.Audit.Reads }, false},
		{"audit: {enabled: false}", "AUDIT_ENABLED=false", func(s Settings) any { return s.Audit.Enabled }, false},
		{"audit: {store_type: no_op}", "AUDIT_STORETYPE=no_op", func(s Settings) any { return s.Audit.Store }, AuditNone},
		{"audit: {path: a.log}", "AUDIT_PATH=a.log", func(s Settings) any { return s.Audit.File() }, "a.log"},
		{"audit: {detailed_recording: true}", "AUDIT_DETAILEDRECORDING=true", func(s Settings) any { return s.Audit.Detailed }, true},
		{"audit: {format: json}", "AUDIT_FORMAT=json", func(s Settings) any { return s.Audit.Format }, AuditJSON},
		{"audit: {file_max_bytes: 65536}", "AUDIT_FILEMAXBYTES=65536", func(s Settings) any { return s.Audit.FileSize }, int64(65536)},
		{"audit: {file_keep: 2}", "AUDIT_FILEKEEP=2", func(s Settings) any { return s.Audit.FileKeep }, 2},
		{"audit: {signing_keys: [one, two]}", `AUDIT_SIGNINGKEYS=["one","two"]`, func(s Settings) any { return s.Audit.Signing }, []Secret{"one", "two"}},
		{"audit: {max_age: 720h}", "AUDIT_MAXAGE=720h", func(s Settings) any { return s.Audit.MaxAge }, 720 * time.Hour},
		{"audit: {max_bytes: 1}", "AUDIT_MAXBYTES=1", func(s Settings) any { return s.Audit.MaxBytes }, int64(1)},
		{"analytics: {join_days: false}", "ANALYTICS_JOINDAYS=false", func(s Settings) any { return s.Collector.Join }, false},
		{"analytics: {collect_interval: 2s}", "ANALYTICS_COLLECTINTERVAL=2s", func(s Settings) any { return s.Collector.Every }, 2 * time.Second},
		{"analytics: {collect_backlog: 5000}", "ANALYTICS_COLLECTBACKLOG=5000", func(s Settings) any { return s.Collector.Backlog }, int64(5000)},
		{"analytics: {messages: all}", "ANALYTICS_MESSAGES=all", func(s Settings) any { return s.Collector.Messages }, "all"},
		{"analytics: {track_all_paths: true}", "ANALYTICS_TRACKALLPATHS=1", func(s Settings) any { return s.Collector.TrackAll }, true},
		{"analytics: {store_analytics_per_minute: true}", "ANALYTICS_STOREANALYTICSPERMINUTE=1", func(s Settings) any { return s.Collector.PerMinute }, true},
		{"analytics: {ignore_tag_prefix_list: [a, b]}", "ANALYTICS_IGNORETAGPREFIXLIST=a,b", func(s Settings) any { return s.Collector.IgnoreTags }, []string{"a", "b"}},
		{"analytics: {keep_calls: 48h}", "ANALYTICS_KEEPCALLS=48h", func(s Settings) any { return s.Collector.Calls }, 48 * time.Hour},
		{"analytics: {keep_calls_bytes: 2097152}", "ANALYTICS_KEEPCALLSBYTES=2097152", func(s Settings) any { return s.Collector.Bytes }, int64(2 << 20)},
		{"analytics: {keep_counters: 48h}", "ANALYTICS_KEEPCOUNTERS=48h", func(s Settings) any { return s.Collector.Counters }, 48 * time.Hour},
		{"deliveries: {enabled: false}", "DELIVERIES_ENABLED=no", func(s Settings) any { return s.Deliveries.Enabled }, false},
		{"deliveries: {workers: 3}", "DELIVERIES_WORKERS=3", func(s Settings) any { return s.Deliveries.Workers }, 3},
		{"deliveries: {pause: 1s}", "DELIVERIES_PAUSE=1s", func(s Settings) any { return s.Deliveries.Pause }, time.Second},
		{"deliveries: {keep_done: 1h}", "DELIVERIES_KEEPDONE=1h", func(s Settings) any { return s.Deliveries.KeepDone }, time.Hour},
		{"deliveries: {keep_failed: 48h}", "DELIVERIES_KEEPFAILED=48h", func(s Settings) any { return s.Deliveries.KeepFailed }, 48 * time.Hour},
		{"deliveries: {allowed_networks: [10.0.0.0/8, '::1']}", "DELIVERIES_ALLOWEDNETWORKS=10.0.0.0/8,::1", func(s Settings) any { return s.Deliveries.Networks }, []string{"10.0.0.0/8", "::1"}},
		{"history: {max_age: 3600}", "HISTORY_MAXAGE=1h", func(s Settings) any { return s.History.MaxAge }, time.Hour},
		{"history: {max_age: 1.5}", "HISTORY_MAXAGE=1500ms", func(s Settings) any { return s.History.MaxAge }, 1500 * time.Millisecond},
		{"health_check_endpoint_name: /live", "HEALTHCHECKENDPOINTNAME=live", func(s Settings) any { return s.HealthEndpoint }, "live"},
		{`{"redis_addrs": ["a:1", "b:2"]}`, "REDISADDRS=a:1, b:2,", func(s Settings) any { return s.Redis.Addresses() }, []string{"a:1", "b:2"}},
		{`{"redis_hosts": {"b": 2, "a": "1"}}`, "HOSTS=b:2,a:1", func(s Settings) any { return s.Redis.Addresses() }, []string{"a:1", "b:2"}},
		{"redis_host: a", `HOSTS={"a": 6379}`, func(s Settings) any { return s.Redis.Addresses() }, []string{"a:6379"}},
		{"x: &k [one, two]\nencryption_keys: *k", `ENCRYPTIONKEYS=["one","two"]`, func(s Settings) any { return s.EncryptionKeys }, []Secret{"one", "two"}},
		{"security: {additional_permissions: {a: Label A, b: 'B: b'}}", "SECURITY_ADDITIONALPERMISSIONS=a:Label A,b:B: b",
			func(s Settings) any { return s.Security.AdditionalPermissions }, map[string]string{"a": "Label A", "b": "B: b"}},
		{`{"http_server_options": {"certificates": [{"domain_name": "d", "cert_file": "c", "key_file": "k", "name": "n"}]}}`,
			`HTTPSERVEROPTIONS_CERTIFICATES=[{"domain_name": "d", "cert_file": "c", "key_file": "k"}]`,
			func(s Settings) any { return s.TLS.Certificates }, []Certificate{{"d", "c", "k"}}},
		{`{"edge_endpoints": [{"name": "eu", "endpoint": "https://eu.example", "Tags": ["a", 1], "region": {}}, {"endpoint": "e", "tags": null}]}`,
			`EDGEENDPOINTS=[{"name": "eu", "endpoint": "https://eu.example", "tags": ["a", "1"]}, {"endpoint": "e"}]`,
			func(s Settings) any { return s.Edges }, []Edge{{"eu", "https://eu.example", []string{"a", "1"}}, {Endpoint: "e"}}},
		{"tyk_api_config: {Host: 'gw'}", "TYKAPI_HOST=gw", func(s Settings) any { return s.Gateway.URL() }, "http://gw"},
		{"tyk_api_config: {Host: 'gw-1, https://gw-2:8443/,,gw-3:1', Port: 8080}", "TYKAPI_HOST=gw-1:8080,https://gw-2:8443,gw-3:1", func(s Settings) any { return s.Gateway.URLs() }, []string{"http://gw-1:8080", "https://gw-2:8443", "http://gw-3:1"}},
		{"gateway_control: {timeout: 2s}", "GATEWAYCONTROL_TIMEOUT=2s", func(s Settings) any { return s.Gateway.Timeout }, 2 * time.Second},
		{"security: {allowed_examples_urls: ['https://e.example/repository.json']}", "SECURITY_ALLOWEDEXAMPLESURLS=https://e.example/repository.json",
			func(s Settings) any { return s.Security.AllowedExamples }, []string{"https://e.example/repository.json"}},
		{"streaming: {enabled: on, enable_all_experimental: 1}", "STREAMING_ENABLED=true", func(s Settings) any { return s.Definitions.Streams }, true},
		{"oas_config: {validate_examples: true}", "OAS_VALIDATEEXAMPLES=true", func(s Settings) any { return s.Definitions.ValidateExamples }, true},
		{"import: {allow_private_addresses: true}", "IMPORT_ALLOWPRIVATEADDRESSES=yes", func(s Settings) any { return s.AllowPrivateAddresses }, true},
	}
	for _, c := range cases {
		s, report := load(t, c.file)
		if have := c.field(s); !reflect.DeepEqual(have, c.want) || len(report.Problems) > 0 {
			t.Errorf("%s: have %#v, want %#v, problems %v", c.file, have, c.want, report.Problems)
		}
		s, report = load(t, "", "SVC_DB_"+c.environ)
		if have := c.field(s); !reflect.DeepEqual(have, c.want) || len(report.Problems) > 0 {
			t.Errorf("%s: have %#v, want %#v, problems %v", c.environ, have, c.want, report.Problems)
		}
	}
}

func TestProblems(t *testing.T) {
	cases := []struct{ file, environ, setting, says string }{
		{"listen_port: abc", "", "listen_port", "expected a whole number (gatehouse.conf)"},
		{"listen_port: [1]", "", "listen_port", "expected a whole number"},
		{"", "LISTENPORT=abc", "listen_port", "expected a whole number (SVC_DB_LISTENPORT)"},
		{"", "LISTENPORT=99999999999999999999", "listen_port", "expected a whole number"},
		{"", "LISTENPORT=0x10", "listen_port", "expected a whole number"},
		{"", "LISTENPORT=65536", "listen_port", "0 to 65535"},
		{"", "LISTENPORT=-1", "listen_port", "0 to 65535"},
		{"", "LISTENADDRESS=localhost:3000", "listen_address", "without a port"},
		{"", "HTTPSERVEROPTIONS_MINVERSION=70000", "http_server_options.min_version", "whole number"},
		{"", "HTTPSERVEROPTIONS_MINVERSION=12", "http_server_options.min_version", "771 (1.2)"},
		{"", "HTTPSERVEROPTIONS_USESSL=true", "http_server_options.use_ssl", "no certificate"},
		{"", "HTTPSERVEROPTIONS_USESSL=maybe", "http_server_options.use_ssl", "true or false"},
		{"", `HTTPSERVEROPTIONS_CERTIFICATES=[{"cert_file":"c"}]`, "http_server_options.certificates", "key_file"},
		{"", `HTTPSERVEROPTIONS_CERTIFICATES=c.pem`, "http_server_options.certificates", "as JSON"},
		{"analytics: {collect: true}", "", "analytics.collect", "set redis_host"},
		{"", "ANALYTICS_COLLECT=1", "analytics.collect", "set redis_host"},
		{"", "ANALYTICS_COLLECTINTERVAL=1m", "analytics.collect_interval", "100ms to 20s"},
		{"", "ANALYTICS_COLLECTBACKLOG=10", "analytics.collect_backlog", "at least 1000"},
		{"", "ANALYTICS_MESSAGES=some", "analytics.messages", "one of all, bodies, headers, none"},
		{"", "ANALYTICS_KEEPCALLS=1s", "analytics.keep_calls", "at least 1h"},
		{"", "ANALYTICS_KEEPCALLSBYTES=1", "analytics.keep_calls_bytes", "at least 1048576"},
		{"", "ANALYTICS_KEEPCOUNTERS=-1h", "analytics.keep_counters", "at least 1h"},
		{"", "PAGESIZE=-1", "page_size", "at least 1"},
		{"", "TYKAPI_HOST=ftp://gw", "tyk_api_config.Host", "a host"},
		{"", "TYKAPI_PORT=http", "tyk_api_config.Port", "1 to 65535"},
		{"", "TYKAPI_HOST=gw,ftp://gw", "tyk_api_config.Host", "commas between"},
		{"", "GATEWAYCONTROL_TIMEOUT=0", "gateway_control.timeout", "more than 0"},
		{"", "GATEWAYCONTROL_TIMEOUT=2m", "gateway_control.timeout", "at most 1m"},
		{"", "EDGEENDPOINTS=https://eu.example", "edge_endpoints", "as JSON"},
		{"edge_endpoints: [https://eu.example]", "", "edge_endpoints", "list of objects"},
		{"edge_endpoints: [{endpoint: e, tags: a}]", "", "edge_endpoints", "list of objects"},
		{"edge_endpoints: [{name: eu}]", "", "edge_endpoints", "an endpoint in every entry"},
		{"", "SECURITY_ALLOWEDEXAMPLESURLS=repository.json", "security.allowed_examples_urls", "absolute"},
		{"", "LOGFORMAT=xml", "log_format", "standard, json"},
		{"", "STORAGE_MAIN_TYPE=mongo", "storage.main.type", "set it to postgres and storage.main.connection_string"},
		{"", "STORAGE_MAIN_TYPE=mysql", "storage.main.type", "sqlite, postgres, memory"},
		{"", "STORAGE_MAIN_TYPE=postgres", "storage.main.connection_string", "URL"},
		{"storage: sqlite", "", "storage", "expected settings below"},
		{"", "REDISADDRS=[a", "redis_addrs", "list of texts"},
		{"redis_addrs: a:1", "", "redis_addrs", "list of texts"},
		{"redis_addrs: [{}]", "", "redis_addrs", "list of texts"},
		{"", "REDISADDRS=justhost", "redis_addrs", "host:port"},
		{"", "HOSTS=justhost", "redis_hosts", "map of texts"},
		{"", "HOSTS=h:http", "redis_hosts", "port numbers"},
		{"redis_hosts: {h: [1]}", "", "redis_hosts", "map of texts"},
		{"redis_host: h\nredis_port: -1", "", "redis_port", "1 to 65535"},
		{"", "REDISTIMEOUT=-1", "redis_timeout", "at least 0"},
		{"", "REDISDATABASE=-1", "redis_database", "at least 0"},
		{"", "REDISMAXACTIVE=-1", "redis_max_active", "at least 0"},
		{"", "REDISCERTFILE=c", "redis_cert_file", "each other"},
		{"", "REDISTLSMINVERSION=2", "redis_tls_min_version", "1.3"},
		{"redis_tls_min_version: 1.3\nredis_tls_max_version: 1.2", "", "redis_tls_min_version", "redis_tls_max_version"},
		{"", "READS=nowhere", "reads", "current, local, primary"},
		{"", "MAXSTALENESS=-1s", "max_staleness", "at least 0"},
		{"", "SHUTDOWN_GRACEPERIOD=6m", "shutdown.grace_period", "0 to 5m"},
		{"", "HISTORY_MAXAGE=soon", "history.max_age", "a duration"},
		{"", "HISTORY_MAXAGE=9999999999999", "history.max_age", "a duration"},
		{"", "HISTORY_MAXAGE=-1", "history.max_age", "at least 0"},
		{"audit: {store_type: file}", "AUDIT_STORETYPE=file", "audit.path", "needs the path of a file"},
		{"audit: {file_max_bytes: 1}", "AUDIT_FILEMAXBYTES=1", "audit.file_max_bytes", "at least 65536"},
		{"audit: {file_keep: 0}", "AUDIT_FILEKEEP=0", "audit.file_keep", "at least 1"},
		{"audit: {max_age: -1}", "AUDIT_MAXAGE=-1", "audit.max_age", "at least 0"},
		{"audit: {max_bytes: -1}", "AUDIT_MAXBYTES=-1", "audit.max_bytes", "at least 0"},
		{"history: {max_bytes: -1}", "HISTORY_MAXBYTES=-1", "history.max_bytes", "at least 0"},
		{"", "LIMITS_MAXBODYBYTES=-1", "limits.max_body_bytes", "at least 1"},
		{"", "LIMITS_MAXBODYVALUES=-1", "limits.max_body_values", "at least 1"},
		{"", "LIMITS_BODYMEMORY=1000", "limits.body_memory", "1 MiB"},
		{"", "LIMITS_FAILEDCREDENTIALS=-1", "limits.failed_credentials", "at least 0"},
		{"", "DELIVERIES_ALLOWEDNETWORKS=10.0.0.0/8,intranet", "deliveries.allowed_networks", "networks"},
		{"deliveries: {workers: 257}", "", "deliveries.workers", "256"},
		{"deliveries: {pause: 2h}", "", "deliveries.pause", "1h"},
		{"deliveries: {keep_done: -1s}", "", "deliveries.keep_done", "more than 0"},
		{"deliveries: {keep_failed: -1s}", "", "deliveries.keep_failed", "more than 0"},
		{"", "LIMITS_TRUSTEDPROXIES=10.0.0.0/8,proxy", "limits.trusted_proxies", "networks"},
		{"", "LIMITS_MAXDEPTH=-1", "limits.max_depth", "at least 1"},
		{"limits.write_time: 0", "LIMITS_WRITETIME=-1s", "limits.write_time", "more than 0"},
		{"", "LIMITS_REQUESTTIMEOUT=-1", "limits.request_timeout", "more than 0"},
		{"", "METRICS_LISTENADDRESS=9090", "metrics.listen_address", "host:port"},
		{"", "HEALTHCHECKENDPOINTNAME=a b", "health_check_endpoint_name", "path"},
		{"", "HEALTHCHECKENDPOINTNAME=api/apis", "health_check_endpoint_name", "path"},
		{"redis_password: {deep: 1}", "", "redis_password", "expected a text"},
		{"", "STORAGE_MAIN_CONNECTIONSTRING=:memory:", "storage.main.connection_string", "set storage.main.type to memory"},
		{"", "STORAGE_MAIN_CONNECTIONSTRING=file::memory:?cache=shared", "storage.main.connection_string", "expected a file"},
		{"a: b: c", "", "", "gatehouse.conf is neither valid JSON nor valid YAML: mapping values"},
		{"admin_secret: *hunter2", "", "", "unknown anchor referenced"},
		{"- 1", "", "", "holds no settings"},
		{"just words", "", "", "holds no settings"},
	}
	for _, c := range cases {
		var environ []string
		if c.environ != "" {
			environ = append(environ, "SVC_DB_"+c.environ)
		}
		_, report := load(t, c.file, environ...)
		if len(report.Problems) != 1 || report.Problems[0].Setting != c.setting || !strings.Contains(report.Problems[0].Message, c.says) {
			t.Errorf("%s: problems %q", cmp.Or(c.file, c.environ), report.Problems)
		}
	}
}

// TestUnheardSecrets: there is a warning about secrets that no header can contain,
// because each call with them would be refused.
func TestUnheardSecrets(t *testing.T) {
	for secret, want := range map[string]int{"hidden": 0, "hid den": 0, "hidden\n": 3, " hidden": 3, "hid\r\nden": 3} {
		_, report := Load(nil, "", []string{"SVC_DB_ADMINSECRET=" + secret, "SVC_DB_NODESECRET=" + secret, "SVC_DB_BOOTSTRAP_ACCESSKEY=" + secret}, Options{})
		text := strings.Join(report.Warnings, "; ")
		if strings.Count(text, "no header holds that") != want || strings.Contains(text, "hid") {
			t.Errorf("%q: %s", secret, text)
		}
	}
}

func TestEveryProblemIsReportedAtOnce(t *testing.T) {
	s, report := load(t, "listen_port: x\npage_size: -2\nredis_timeout: []\n", "SVC_DB_STORAGE_MAIN_TYPE=mongo")
	var names []string
	for _, p := range report.Problems {
		names = append(names, p.Setting)
	}
	if have := strings.Join(names, " "); have != "listen_port storage.main.type redis_timeout page_size" {
		t.Errorf("problems of %s", have)
	}
	if s.Listen.Port != 3000 || s.Redis.TimeoutSeconds != 5 || s.Storage.Type != SQLite {
		t.Errorf("what is not understood has its default, not %+v", s)
	}
	if err := report.Err(); err == nil || !strings.Contains(err.Error(), "\npage_size: expected at least 1") {
		t.Errorf("error %v", err)
	}
	if err := (Report{}).Err(); err != nil {
		t.Errorf("no problems, but %v", err)
	}
}

func TestWarnings(t *testing.T) {
	cases := []struct {
		name, file, environ string
		want                []string
	}{
		{"licence and other programs' variables", "license_key: x", "SVC_PORTAL_X=1 TYK_DB_NOSUCH=1 TYK_GW_X=1 HOME=/", nil},
		{"settings without effect are listed once, sorted", `{"mongo_url": "m", "hide_listen_path": false, "ui": {"languages": {"a": "b"}}}`,
			"SVC_DB_HASHKEYS=true TYK_DB_DISABLETELEMETRY=true",
			[]string{"settings without effect in this version: disable_telemetry, hide_listen_path, mongo_url, ui.languages"}},
		{"a place of the audit trail that there is not", "audit: {store_type: syslog}", "",
			[]string{"audit.store_type: expected one of db, file, no_op (gatehouse.conf); using db"}},
		{"unknown settings of the file", "listen_prot: 1\nstorage: {main: {typ: x}, other: {deep: 1}}\nzzz: null\n", "",
			[]string{"unknown settings in gatehouse.conf: listen_prot (did you mean listen_port?), storage.main.typ (did you mean storage.main.type?), storage.other, zzz"}},
		{"unknown variables", "", "SVC_DB_REDIS_HOST=h SVC_DB_QWERTZ=1",
			[]string{"unknown environment variables: SVC_DB_QWERTZ, SVC_DB_REDIS_HOST (did you mean SVC_DB_REDISHOST?)"}},
		{"names that would break the line", "\"a\\nb\": 1\n" + strings.Repeat("x", 200) + ": 1\n", "",
			[]string{`unknown settings in gatehouse.conf: "a\nb", ` + strings.Repeat("x", 80) + "…"}},
		{"a setting given twice", "page_size: 1\npage_size: 2\n", "",
			[]string{"page_size is given more than once in gatehouse.conf; the last one counts"}},
		{"one of each kind", "log_level: x\nfoo: 1\nhide_listen_path: true\n", "SVC_DB_FOO=1",
			[]string{"unknown settings in gatehouse.conf: foo", "unknown environment variables: SVC_DB_FOO",
				"log_level: expected one of error, warn, info, debug (gatehouse.conf); using info",
				"settings without effect in this version: hide_listen_path"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, report := load(t, c.file, strings.Fields(c.environ)...)
			if !reflect.DeepEqual(report.Warnings, c.want) || len(report.Problems) > 0 {
				t.Errorf("have %q\nwant %q\nproblems %v", report.Warnings, c.want, report.Problems)
			}
		})
	}
	_, report := Load(nil, "", nil, Options{})
	if len(report.Warnings) != 2 || !strings.HasPrefix(report.Warnings[0], "admin_secret") || !strings.HasPrefix(report.Warnings[1], "shared_node_secret") {
		t.Errorf("without secrets: %q", report.Warnings)
	}
}

func TestAddresses(t *testing.T) {
	cases := []struct {
		redis Redis
		want  string
	}{
		{Redis{Port: 6379}, "[]"},
		{Redis{Host: "::1", Port: 1}, "[[::1]:1]"},
		{Redis{Host: "h", Port: 1, Hosts: map[string]string{"b": "2", "a": "3"}}, "[a:3 b:2]"},
		{Redis{Host: "h", Port: 1, Hosts: map[string]string{"a": "3"}, Addrs: []string{"z:4", "y:5"}}, "[z:4 y:5]"},
	}
	for _, c := range cases {
		if have := fmt.Sprint(c.redis.Addresses()); have != c.want || c.redis.Enabled() != (c.want != "[]") {
			t.Errorf("have %s, want %s, enabled %t", have, c.want, c.redis.Enabled())
		}
	}
	if have := (Listen{Port: 3000}).Address(); have != ":3000" {
		t.Errorf("listens on %s", have)
	}
	inHome, _ := load(t, "home_dir: /srv\n")
	named, _ := load(t, "storage: {main: {connection_string: other.db}}")
	if inHome.SQLiteFile() != filepath.Join("/srv", "gatehouse.db") || named.SQLiteFile() != "other.db" {
		t.Errorf("SQLite files %s, %s", inHome.SQLiteFile(), named.SQLiteFile())
	}
}

func TestGatewayAddresses(t *testing.T) {
	for _, c := range []struct {
		gateway      Gateway
		hosts        Hosts
		url          string
		scheme, host string
	}{
		{Gateway{}, Hosts{}, "", "http", ""},
		{Gateway{}, Hosts{Secure: true}, "", "https", ""},
		{Gateway{Host: "gw"}, Hosts{}, "http://gw", "http", "gw"},
		{Gateway{Host: "https://gw/", Port: "8080"}, Hosts{}, "https://gw:8080", "https", "gw:8080"},
		{Gateway{Host: "http://gw", Port: "8080"}, Hosts{Secure: true}, "http://gw:8080", "https", "gw:8080"},
		{Gateway{Host: "http://gw", Port: "8080"}, Hosts{Gateway: "apis.example.com"}, "http://gw:8080", "http", "apis.example.com"},
		{Gateway{Host: "gw"}, Hosts{Gateway: "https://apis.example.com/"}, "http://gw", "https", "apis.example.com"},
	} {
		s := Settings{Gateway: c.gateway, Hosts: c.hosts}
		if scheme, host := s.PublicGateway(); s.Gateway.URL() != c.url || scheme != c.scheme || host != c.host {
			t.Errorf("%+v %+v: %s, %s %s", c.gateway, c.hosts, s.Gateway.URL(), scheme, host)
		}
	}
}

func TestRead(t *testing.T) {
	t.Setenv("SVC_DB_PAGESIZE", "7")
	path := filepath.Join(t.TempDir(), "gatehouse.yaml")
	if err := os.WriteFile(path, []byte("listen_port: 4000\npage_size: 6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, report := Read(path, Options{}); s.Listen.Port != 4000 || s.PageSize != 7 || report.Err() != nil {
		t.Errorf("port %d, page size %d, %v", s.Listen.Port, s.PageSize, report.Err())
	}
	if s, report := Read("", Options{Debug: true}); s.Listen.Port != 3000 || s.Log.Level != LevelDebug || report.Err() != nil {
		t.Errorf("port %d, level %s, %v", s.Listen.Port, s.Log.Level, report.Err())
	}
	s, report := Read(path+".missing", Options{})
	if len(report.Problems) != 1 || !strings.Contains(report.Problems[0].Error(), "cannot read the configuration") || s.PageSize != 7 {
		t.Errorf("a missing file: %v, page size %d", report.Problems, s.PageSize)
	}
	if err := os.Truncate(path, maxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, report := Read(path, Options{}); len(report.Problems) != 1 || !strings.Contains(report.Problems[0].Error(), "has more than 16777216 bytes") {
		t.Errorf("a file without an end: %v", report.Problems)
	}
}

// TestSecondDocument refuses a file with settings after the first document, because
// they would have no effect.
func TestSecondDocument(t *testing.T) {
	_, report := load(t, "page_size: 6\n---\nadmin_secret: hidden\n")
	if text := fmt.Sprint(report.Problems); len(report.Problems) != 1 || !strings.Contains(text, "line 3: a second document begins") || strings.Contains(text, "hidden") {
		t.Error(text)
	}
	for _, file := range []string{"---\npage_size: 6\n", "page_size: 6\n...\n", "page_size: 6\n---\n", "page_size: 6\n---\n# the end\n"} {
		if s, report := load(t, file); len(report.Problems) > 0 || s.PageSize != 6 {
			t.Errorf("%q: page size %d, %v", file, s.PageSize, report.Problems)
		}
	}
}

// TestReadPortal: the file of the portal alone may have its own settings, those of the
// program, or both. portal.conf and portal.configuration apply if it has none of the
// portal's.
func TestReadPortal(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, entry := range quiet {
		name, value, _ := strings.Cut(entry, "=")
		t.Setenv(name, value)
	}
	for name, text := range map[string]string{
		"own.conf": `{"HostPort":4001,"RefreshInterval":3,"Session":{"Name":"sid"},"Storage":"db"}`, "both.conf": "hostport: 4002\nSTORAGE: db\nstorage: {main: {type: memory}}\npage_size: 6\nElse: 1\n",
		"main.conf": "page_size: 6\nstorage: {main: {type: memory}}\n", "named.conf": "page_size: 6\nHostPort: 4003\nportal: {configuration: portal.conf}\n", "none.conf": "[1]",
		"wrong.conf": "HostPort: many\n", "portal.conf": `{"HostPort":4000}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		file             string
		alone            bool
		port, pages      int
		storage          string
		warning, problem string
	}{
		{"", true, 4000, 10, "", "", ""}, {"main.conf", true, 4000, 6, "", "", ""}, {"own.conf", true, 4001, 10, "db", "", ""},
		{"both.conf", true, 4002, 6, "db", "unknown settings in both.conf: Else", ""},
		{"named.conf", true, 4000, 6, "", "settings of the portal in named.conf do not count: portal.configuration names another file", ""},
		{"none.conf", true, 4000, 10, "", "", "none.conf holds no settings: expected names with values"},
		{"wrong.conf", true, 3001, 10, "", "", "HostPort: expected a whole number (wrong.conf)"},
		{"own.conf", false, 0, 10, "", "unknown settings in own.conf: HostPort, RefreshInterval, Session", "Storage: expected settings below this name (own.conf)"},
	} {
		s, report := Read(c.file, Options{Portal: c.alone})
		if s.Portal.HostPort != c.port || s.PageSize != c.pages || s.Portal.Storage != c.storage {
			t.Errorf("%s: port %d, page size %d, storage %q", c.file, s.Portal.HostPort, s.PageSize, s.Portal.Storage)
		}
		var problems []string
		for _, p := range report.Problems {
			problems = append(problems, p.Error())
		}
		for _, told := range [][2]string{{strings.Join(report.Warnings, "\n"), c.warning}, {strings.Join(problems, "\n"), c.problem}} {
			if have, want := told[0], told[1]; !strings.HasPrefix(have, want) || want == "" && have != "" {
				t.Errorf("%s: %q, want %q", c.file, have, want)
			}
		}
	}
}

// TestAuditFile states the path of the file of audit records.
func TestAuditFile(t *testing.T) {
	for _, c := range []struct {
		file, want string
		on         bool
	}{
		{"", "", true},
		{"audit: {store_type: file, path: a.log}", "a.log", true},
		{"audit: {path: a.log, enabled: false}", "", false},
		{"audit: {path: a.log, store_type: no_op}", "", true},
		{"security: {audit_log_path: old.log}", "old.log", true},
		{"security: {audit_log_path: old.log}\naudit: {enabled: false, store_type: file}", "old.log", true},
		{"security: {audit_log_path: old.log}\naudit: {path: a.log}", "a.log", true},
	} {
		if s, report := load(t, c.file); s.Audit.File() != c.want || s.Audit.On() != c.on || len(report.Problems) > 0 {
			t.Errorf("%q: %q, %v, %v", c.file, s.Audit.File(), s.Audit.On(), report.Problems)
		} else if strings.Contains(c.file, "audit_log_path") && !s.Audit.Reads {
			t.Errorf("%q: reads are left out", c.file)
		}
	}
}
