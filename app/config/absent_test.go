package config

import (
	"reflect"
	"strings"
	"testing"
)

// A typical sample configuration sets every setting, and gives those that are not used
// 0, an empty text, null or an empty list. That must be the same as leaving them out.
func TestSamplesWithEmptyValues(t *testing.T) {
	none, _ := load(t, "")
	for i := range table {
		row := &table[i]
		if row.use != used {
			continue
		}
		values := []string{"null", `""`, `" "`}
		switch {
		case row.kind == text || row.kind == secret || row.kind == address:
			values = []string{"null", `""`}
		case row.kind == list || row.kind == secretList:
			values = append(values, "[]", `[""]`, "[null]")
		case row.kind == certificates || row.kind == endpoints:
			values = append(values, "[]", `[{"name": "", "endpoint": "", "tags": [], "cert_file": "", "key_file": ""}]`)
		case row.kind == dictionary || row.kind == secretMap:
			values = append(values, "{}")
		}
		if row.zero {
			values = append(values, "0", `"0"`, "0.0")
		}
		for _, v := range values {
			path := strings.Split(row.name, ".")
			file := strings.Join(path, ": {") + ": " + v + strings.Repeat("}", len(path)-1)
			s, report := load(t, file)
			s.TLS.CipherSuites = nil
			s.Redis.Hosts, s.Security.AdditionalPermissions, s.Security.AllowedExamples, s.SSO.Defaults, s.Mail.Server = nil, nil, nil, nil, nil // empty or nil
			s.TLS.Certificates, s.TLS.Files, s.Edges, s.EncryptionKeys, s.Redis.Addrs, s.Limits.Proxies, s.Audit.Signing, s.Deliveries.Networks, s.Portal.Local, s.Collector.IgnoreTags, s.Console.Servers, s.Console.Origins = nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil
			if !reflect.DeepEqual(s, none) || len(report.Problems) > 0 {
				t.Errorf("%s: %+v", file, report)
			}
		}
	}
}

// 0 has the meaning that the documentation of a setting says, also in the environment.
// That includes the three settings that samples leave at 0.
func TestZeroMeansUnset(t *testing.T) {
	for _, c := range []struct{ file, environ string }{
		{"http_server_options: {min_version: 0}", "HTTPSERVEROPTIONS_MINVERSION=0"},
		{"page_size: 0", "PAGESIZE=0"},
		{"redis_port: 0", "REDISPORT=0"},
		{"tyk_api_config: {Port: 0}", "TYKAPI_PORT=0"},
		{`{"storage": "", "http_server_options": "", "security": null, "tyk_api_config": ""}`, "READS="},
	} {
		for _, prefix := range []string{ourPrefix, fieldPrefix} {
			s, report := load(t, c.file, prefix+c.environ)
			if s.TLS.MinVersion != 771 || s.PageSize != 10 || s.Redis.Port != 6379 || s.Gateway.Port != "" || len(report.Problems)+len(report.Warnings) > 0 {
				t.Errorf("%s, %s: %+v", c.file, c.environ, report)
			}
		}
	}
	if s, report := load(t, "listen_port: 0\nhistory: {max_age: 0}\nredis_database: 0\nredis_timeout: 0"); s.Listen.Port != 0 || s.History.MaxAge != 0 ||
		s.Redis.TimeoutSeconds != 0 || len(report.Problems) > 0 {
		t.Errorf("a 0 with a meaning of its own is lost: %+v %+v", s, report)
	}
}

// TLS 1.0 and 1.1 are not offered, and a warning says so.
func TestOldTLSIsAWarning(t *testing.T) {
	for version, warnings := range map[string]int{"769": 1, "770": 1, "771": 0, "772": 0, "0": 0} {
		if _, report := load(t, "http_server_options: {min_version: "+version+"}"); len(report.Warnings) != warnings || len(report.Problems) > 0 {
			t.Errorf("%s: %+v", version, report)
		}
	}
}
