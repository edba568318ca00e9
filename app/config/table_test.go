package config

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTableIsConsistent(t *testing.T) {
	names, suffixes := map[string]bool{}, map[string]bool{}
	path := regexp.MustCompile(`^[A-Za-z][\w]*(\.[A-Za-z][\w]*)*$`)
	for _, row := range table {
		if key := strings.ToLower(row.name); names[key] || own.sections[key] {
			t.Errorf("%s: the name is taken", row.name)
		} else {
			names[key] = true
		}
		if suffixes[row.suffix] {
			t.Errorf("%s: the suffix %s is taken", row.name, row.suffix)
		}
		suffixes[row.suffix] = true
		if !path.MatchString(row.name) || !regexp.MustCompile(`^[A-Z_]+$`).MatchString(row.suffix) {
			t.Errorf("%s, %s: not a name and a suffix", row.name, row.suffix)
		}
		if row.use == used && expected[row.kind] == "" {
			t.Errorf("%s: nothing says what a %s looks like", row.name, row.kind)
		}
		if len(row.name) > longest || len(ourPrefix+row.suffix) > longest {
			t.Errorf("%s: longer than what suggestions look at", row.name)
		}
	}
	for name := range irregular {
		if !names[strings.ToLower(name)] {
			t.Errorf("irregular suffix of %s, which is not in the table", name)
		}
	}
}

func TestSettingsInUse(t *testing.T) {
	var s Settings
	fields := map[any]string{}
	var last string
	seen := map[string]bool{}
	for _, row := range table {
		if row.use != used {
			if row.field != nil || row.meaning != "" || row.preset != "" {
				t.Errorf("%s: has no use but a field, a default or a meaning", row.name)
			}
			continue
		}
		field := row.field(&s)
		if other, taken := fields[field]; taken {
			t.Errorf("%s and %s share a field", row.name, other)
		}
		fields[field] = row.name
		if row.preset != "" && !assign(field, scalar(row.preset)) {
			t.Errorf("%s: the default %q is not %s", row.name, row.preset, expected[row.kind])
		}
		if len(row.choices) > 0 && row.preset != "" && !slices.Contains(row.choices, row.preset) {
			t.Errorf("%s: the default is not a choice", row.name)
		}
		if row.meaning == "" || strings.ContainsAny(row.meaning, "|\n") {
			t.Errorf("%s: meaning %q", row.name, row.meaning)
		}
		section, _, _ := strings.Cut(row.name, ".")
		if section != last && seen[section] {
			t.Errorf("%s: the rows of its section are not together", row.name)
		}
		last, seen[section] = section, true
	}
}

// ours are the settings that only Gatehouse has.
var ours = []string{
	"audit.file_keep", "audit.file_max_bytes", "audit.max_age", "audit.max_bytes", "audit.reads", "audit.signing_keys",
	"bootstrap.access_key", "bootstrap.email", "bootstrap.first_name", "bootstrap.last_name", "bootstrap.org_id",
	"bootstrap.owner_name", "bootstrap.owner_slug", "bootstrap.password", "enable_ownership", "encrypt_at_rest", "encryption_keys",
	"analytics.collect", "analytics.collect_backlog", "analytics.collect_interval", "analytics.ignore_tag_prefix_list", "analytics.join_days", "analytics.keep_calls", "analytics.keep_calls_bytes",
	"analytics.keep_counters", "analytics.mask_credentials", "analytics.messages", "analytics.store_analytics_per_minute", "analytics.track_all_paths",
	"console.enabled", "console.origins", "console.servers",
	"deliveries.allowed_networks", "deliveries.enabled", "deliveries.keep_done", "deliveries.keep_failed", "deliveries.pause", "deliveries.workers",
	"gateway_control.timeout", "history.max_age", "history.max_bytes", "identity_broker.private_providers", "import.allow_private_addresses", "limits.body_memory", "limits.body_rate", "limits.connections", "limits.failed_credentials", "limits.max_body_bytes", "limits.max_body_values", "limits.max_depth", "limits.organisation_bytes", "limits.request_timeout", "limits.trusted_proxies", "limits.write_time",
	"listen_address", "log_level", "max_staleness", "metrics.listen_address", "portal.configuration", "portal.id", "portal.local", "portal.private_dashboards", "portal.serve", "portal.url", "reads", "security.allowed_examples_urls", "separate_gateways", "shutdown.grace_period", "sso_allow_admin_default",
	"tracing.otlp_endpoint",
}

// TestTableCoversTheField compares the table with published lists of settings: it is
// complete, and has the same spelling and types.
func TestTableCoversTheField(t *testing.T) {
	known := map[string]setting{}
	for _, row := range table {
		known[row.name] = row
	}
	for _, name := range ours {
		if _, ok := known[name]; !ok {
			t.Errorf("%s is missing", name)
		}
		delete(known, name)
	}
	records := publicList(t)
	if records == nil {
		t.Skip("GATEHOUSE_CONTRACT_DIR is not set: the comparison with the published settings is left out, see docs/wire/README.md#published-files")
	}
	for _, r := range records[1:] {
		row, ok := known[r[0]]
		if !ok || row.suffix != r[1] || !slices.Contains(kindsOf[r[2]], row.kind) {
			t.Errorf("want %v, have %q %q %q", r, row.name, row.suffix, row.kind)
		}
		delete(known, r[0])
	}
	for name := range known {
		t.Errorf("%s is neither of the field nor ours", name)
	}
}

var kindsOf = map[string][]kind{
	"string": {text, secret, address}, "DBType": {text}, "bool": {boolean},
	"int": {integer}, "int64": {integer}, "uint": {integer}, "uint16": {integer},
	"[]string": {list}, "map[string]string": {dictionary, secretMap}, "map[ObjectGroup]string": {dictionary},
	"CertsData": {certificates}, "EdgeEndpoints": {endpoints},
}

func publicList(t *testing.T) [][]string {
	t.Helper()
	dir := os.Getenv("GATEHOUSE_CONTRACT_DIR")
	if dir == "" {
		return nil
	}
	f, err := os.Open(filepath.Join(dir, "data", "dashboard-settings.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return records
}
