package config

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestYAMLOfDefaults(t *testing.T) {
	s, _ := Load(nil, "", nil, Options{})
	have := string(s.YAML())
	for _, want := range []string{
		"listen_port: 3000\nlisten_address: \"\"\nhttp_server_options:\n  use_ssl: false\n  certificates: []\n",
		"\nlog_level: info\nlog_format: standard\nhome_dir: .\nstorage:\n  main:\n    type: sqlite\n    connection_string: \"\"\n",
		"\nadmin_secret: \"\"\n",
		"\n  additional_permissions: {}\n",
		"\nhistory:\n  max_age: 720h\n  max_bytes: 2147483648\naudit:\n  enabled: true\n  store_type: db\n  path: \"\"\n  format: text\n  reads: false\n  detailed_recording: false\n  signing_keys: []\n  file_max_bytes: 104857600\n  file_keep: 5\n  max_age: 9600h\n  max_bytes: 67108864\nlimits:\n  max_body_bytes: 33554432\n",
		"\ndeliveries:\n  enabled: true\n  workers: 8\n  pause: 5s\n  keep_done: 24h\n  keep_failed: 720h\n  allowed_networks: []\n",
		"\n  request_timeout: 30s\n",
	} {
		if !strings.Contains(have, want) {
			t.Errorf("%q is not in\n%s", want, have)
		}
	}
	if strings.Contains(have, "mongo") || strings.Contains(have, "license") {
		t.Error("settings without effect are printed")
	}
}

// TestYAMLLoadsAgain checks all settings except secrets, which are masked.
func TestYAMLLoadsAgain(t *testing.T) {
	s, report := Load([]byte(`
listen_port: 0
home_dir: "123"
log_format: json
health_check_endpoint_name: /a/b
http_server_options: {use_ssl: true, certificates: [{cert_file: c, key_file: k}], ssl_certificates: [p.pem]}
storage: {main: {type: postgres, connection_string: "host=db password=hunter2 dbname=g"}}
security: {open_policy: {enabled: true}, additional_permissions: {b: "true", a: "x: y"}}
redis_hosts: {h: 1}
edge_endpoints: [{name: eu, endpoint: "https://eu.example", tags: [a]}]
tyk_api_config: {Host: gw, Secret: hunter2}
admin_secret: hunter2
shared_node_secret: hunter2
encryption_keys: [hunter2]
history: {max_age: 90m}
limits: {request_timeout: 1h0m1s}
bootstrap: {email: a@b, password: hunter2}
`), "", nil, Options{})
	if len(report.Warnings)+len(report.Problems) > 0 {
		t.Fatalf("report %+v", report)
	}
	first := s.YAML()
	if bytes.Contains(first, []byte("hunter2")) || bytes.Count(first, []byte(mask)) != 6 {
		t.Errorf("secrets in\n%s", first)
	}
	again, report := Load(first, "", nil, Options{})
	if second := again.YAML(); !bytes.Equal(first, second) || len(report.Warnings)+len(report.Problems) > 0 {
		t.Errorf("first\n%s\nsecond\n%s\nreport %+v", first, second, report)
	}
	again.AdminSecret, again.NodeSecret, again.EncryptionKeys = s.AdminSecret, s.NodeSecret, s.EncryptionKeys
	again.Gateway.Secret = s.Gateway.Secret
	again.Bootstrap.Password, again.Storage.ConnectionString = s.Bootstrap.Password, s.Storage.ConnectionString
	for _, one := range []*Settings{&s, &again} { // nil and empty are the same
		one.TLS.CipherSuites = nil
		one.Redis.Addrs, one.Security.AllowedExamples, one.Limits.Proxies, one.SSO.Defaults, one.Audit.Signing, one.Mail.Server, one.Deliveries.Networks, one.Portal.Local, one.Collector.IgnoreTags, one.Console.Servers, one.Console.Origins = nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil
	}
	if !reflect.DeepEqual(s, again) {
		t.Errorf("first %+v\nagain %+v", s, again)
	}
}

func TestDurationText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 30 * time.Second: "30s", 10 * time.Minute: "10m", time.Hour: "1h", 90 * time.Minute: "1h30m",
		time.Hour + time.Second: "1h0m1s", -time.Minute: "-1m", time.Millisecond: "1ms",
	} {
		if have := durationText(d); have != want {
			t.Errorf("%v: have %s, want %s", d, have, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	have := Markdown()
	for _, want := range []string{
		"| `listen_port` | `SVC_DB_LISTENPORT` | whole number | `3000` | TCP port of all surfaces; 0 picks a free one |\n",
		"| `log_level` | `SVC_LOGLEVEL`, `SVC_DB_LOGLEVEL` | text | `info` |",
		"| `encryption_keys` | `SVC_DB_ENCRYPTIONKEYS` | list of secrets |  |",
	} {
		if !strings.Contains(have, want) {
			t.Errorf("%q is not in\n%s", want, have)
		}
	}
	rows := 0
	for _, row := range table {
		if row.use == used {
			rows++
		}
	}
	for line := range strings.Lines(have) {
		if strings.Count(line, "|") != 6 {
			t.Errorf("not a row of five cells: %s", line)
		}
	}
	if lines := strings.Count(have, "\n"); lines != rows+2 {
		t.Errorf("%d lines for %d settings", lines, rows)
	}
}
