package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// portal loads the settings of the portal.
func portal(t *testing.T, file string, environ ...string) (Settings, Report) {
	t.Helper()
	s := Settings{Portal: Portal{Serve: PortalOwn, ID: "default"}}
	report := LoadPortal(&s, []byte(file), "portal.conf", environ)
	return s, report
}

// sample returns two values of a setting that differ from its default and from each
// other, in the form of the environment, and an invalid one, or "" if every text is
// valid.
func sample(row *setting) (values [2]string, bad string) {
	switch {
	case len(row.choices) > 1:
		for i, n := 0, 0; n < 2; i++ {
			values[n] = row.choices[i%len(row.choices)]
			n++
		}
		return values, "unheard-of"
	case len(row.choices) == 1:
		return [2]string{row.choices[0], row.choices[0]}, "unheard-of"
	}
	if row.name == "SSOCustomLoginURL" {
		return [2]string{"https://login.example", "/login"}, "javascript:alert(1)"
	}
	if row.name == "TLSConfig.CipherSuites" {
		return [2]string{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}, "TLS_RSA_WITH_RC4_128_SHA"
	}
	switch row.kind {
	case boolean:
		return [2]string{"true", "false"}, "maybe"
	case integer:
		return [2]string{"11", "12"}, "many"
	case objects:
		return [2]string{`[{"Key":"A","Value":"b"}]`, `[{"Key":"C","Value":"d"}]`}, "X-Header: y"
	}
	if row.name == "CORS.AllowedOrigins" {
		return [2]string{"https://one.example", "https://two.example"}, "one.example"
	}
	return [2]string{"one", "two"}, ""
}

// TestPortalSettings states for each setting of the portal: its default, its variable
// with each prefix, which prefix wins, that the environment overrides the file, and
// that an invalid value prevents the start and is reported with the name of the
// setting.
func TestPortalSettings(t *testing.T) {
	defaults, report := portal(t, "")
	if len(report.Warnings)+len(report.Problems) > 0 {
		t.Fatalf("%+v", report)
	}
	value := func(row *setting, s Settings) any { return reflect.ValueOf(row.field(&s)).Elem().Interface() }
	for i := range ofPortal.rows {
		row := &ofPortal.rows[i]
		if have := value(row, defaults); row.preset != "" {
			s := defaults
			n, ok := textNode(row.kind, row.preset)
			if !ok || !assign(row.field(&s), n) || !reflect.DeepEqual(value(row, s), have) {
				t.Errorf("%s: the default is %v", row.name, have)
			}
		}
		values, bad := sample(row)
		expect := func(text string) any {
			s := defaults
			n, ok := textNode(row.kind, text)
			if !ok || !assign(row.field(&s), n) {
				t.Fatalf("%s: %s is no value", row.name, text)
			}
			return value(row, s)
		}
		path := strings.Split(row.name, ".")
		file := strings.Join(path, ": {") + ": '" + values[1] + "'" + strings.Repeat("}", len(path)-1)
		if row.kind == objects || row.kind == list {
			file = strings.Join(path, ": {") + ": " + "[" + strings.Trim(values[1], "[]") + "]" + strings.Repeat("}", len(path)-1)
		}
		if s, report := portal(t, file); len(report.Problems) > 0 || !reflect.DeepEqual(value(row, s), expect(values[1])) {
			t.Errorf("%s of the file: %v, %+v", row.name, value(row, s), report)
		}
		variables := ofPortal.variables(row)
		if row.suffix != "" && !row.whole && len(variables) != 3 {
			t.Errorf("%s: %v", row.name, variables)
		}
		for j, name := range variables {
			environ := []string{name + "=" + values[0]}
			for _, weaker := range variables[j+1:] {
				environ = append(environ, weaker+"="+values[1])
			}
			if s, report := portal(t, file, environ...); len(report.Problems) > 0 || !reflect.DeepEqual(value(row, s), expect(values[0])) {
				t.Errorf("%s: %v, %+v", name, value(row, s), report)
			}
			if bad == "" || row.lenient {
				continue
			}
			if _, report := portal(t, "", name+"="+bad); len(report.Problems) != 1 || report.Problems[0].Setting != row.name || !strings.Contains(report.Problems[0].Message, name) {
				t.Errorf("%s=%s: %+v", name, bad, report)
			}
		}
		if s, report := portal(t, "", strings.Split(strings.Join(variables, "=\n")+"=", "\n")...); len(report.Problems) > 0 || !reflect.DeepEqual(value(row, s), value(row, defaults)) {
			t.Errorf("%s: an empty variable is a value", row.name)
		}
	}
}

// TestPortalValues states which values are problems, and which are only warnings.
func TestPortalValues(t *testing.T) {
	for environ, setting := range map[string]string{
		"PORTAL_HOSTPORT=70000": "HostPort", "PORTAL_REFRESHINTERVAL=0": "RefreshInterval", "PORTAL_SESSION_LIFETIME=-1": "Session.LifeTime",
		`PORTAL_RESPONSE_HEADERS=[{"Key":"X A","Value":"b"}]`: "ResponseHeaders", `PORTAL_RESPONSE_HEADERS=[{"Key":"","Value":"b"}]`: "ResponseHeaders", `PORTAL_RESPONSE_HEADERS=[{"Key":"X-A"}]`: "ResponseHeaders",
		`PORTAL_RESPONSE_HEADERS=[{"Key":"X-A","Value":"b\r\nSet-Cookie: c=d"}]`: "ResponseHeaders", `PORTAL_RESPONSE_HEADERS=[{"Key":"content-length","Value":"7"}]`: "ResponseHeaders", "PORTAL_CORS_MAX_AGE=-1": "CORS.MaxAge",
		"PORTAL_TLS_MIN_VERSION=1.2": "TLSConfig.MinVersion", "PORTAL_RESPONSE_HEADERS={}": "ResponseHeaders", "PORTAL_DATABASE_DIALECT=oracle": "Database.Dialect",
		"PORTAL_DATABASE_RETRYDELAY=86400001": "Database.RetryDelay", "PORTAL_REFRESHINTERVAL=525601": "RefreshInterval", "PORTAL_NOTIFICATIONS_JOB_FREQUENCY=999999999999": "NotificationsJobFrequency", "PORTAL_SESSION_LIFETIME=999999999999": "Session.LifeTime", "PORTAL_SESSION_IDLE_TIMEOUT=9999999999": "Session.IdleTimeout",
		"PORTAL_CORS_ALLOWED_ORIGINS=https://a.example,shop.example": "CORS.AllowedOrigins", "PORTAL_CORS_ALLOWED_ORIGINS=https://shop.example/page": "CORS.AllowedOrigins", "PORTAL_CORS_ALLOWED_ORIGINS=ftp://shop.example": "CORS.AllowedOrigins", "PORTAL_CORS_ALLOWED_ORIGINS=https://": "CORS.AllowedOrigins", "PORTAL_CORS_ALLOWED_ORIGINS=*.example/page": "CORS.AllowedOrigins",
		"PORTAL_CORS_ALLOWED_METHODS=GET POST": "CORS.AllowedMethods", "PORTAL_CORS_ALLOWED_METHODS=*": "CORS.AllowedMethods",
		"PORTAL_SESSION_NAME=a b": "Session.Name", "PORTAL_SESSION_NAME=a;b": "Session.Name", "PORTAL_TLS_CIPHER_SUITES=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,FOO": "TLSConfig.CipherSuites", "PORTAL_STORAGE=db\nPORTAL_THEMING_PATH=./mine": "Theming.Path",
	} {
		if _, report := portal(t, "", strings.Split(environ, "\n")...); len(report.Problems) != 1 || report.Problems[0].Setting != setting {
			t.Errorf("%s: %+v", environ, report)
		}
	}
	if s, report := portal(t, "", "PORTAL_SESSION_SAMESITE=sometimes"); len(report.Problems) > 0 || s.Portal.Session.SameSite != "Strict" {
		t.Errorf("%+v", report)
	}
	for _, origins := range []string{"*", "null", "*.shop.example", "https://*.shop.example", "https://shop.example/", "http://*,https://*", "http://localhost:3000", "http*://shop.example"} {
		if _, report := portal(t, "", "PORTAL_CORS_ALLOWED_ORIGINS="+origins); len(report.Problems) > 0 {
			t.Errorf("%s: %+v", origins, report)
		}
	}
	if _, report := portal(t, "Hostport: 3001\nLicenceKey: x", "SVC_PORTAL_HOSTPROT=1", "PORTAL_PATH=theirs"); len(report.Problems) > 0 || len(report.Warnings) != 2 {
		t.Errorf("%+v", report)
	}
	if _, report := portal(t, "", "PORTAL_ASSETS_CACHE_DISABLE=true"); len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0], "AssetsCache.Disable") {
		t.Errorf("a setting without effect: %+v", report)
	}
	if text := PortalMarkdown(); !strings.Contains(text, "| `HostPort` | `HOSTPORT` | whole number | `3001` | yes |") || strings.Count(text, "\n") != len(ofPortal.rows)+2 {
		t.Error(text)
	}
}

// TestPortalLog states that the portal's own log settings apply only in a process of
// its own.
func TestPortalLog(t *testing.T) {
	for _, c := range []struct {
		serve   string
		environ []string
		want    Log
	}{
		{PortalAlone, nil, Log{LevelWarn, FormatStandard}}, {PortalAlone, []string{"PORTAL_LOG_LEVEL=panic"}, Log{LevelError, FormatStandard}}, {PortalAlone, []string{"PORTAL_LOG_LEVEL=debug", "PORTAL_LOG_FORMAT=prod"}, Log{LevelDebug, FormatJSON}},
		{PortalAlone, []string{"PORTAL_LOG_FORMAT=dev"}, Log{LevelWarn, FormatStandard}}, {PortalOwn, []string{"PORTAL_LOG_LEVEL=debug", "PORTAL_LOG_FORMAT=prod"}, Log{LevelWarn, FormatStandard}},
	} {
		s := Settings{Portal: Portal{Serve: c.serve}, Log: Log{LevelWarn, FormatStandard}}
		if report := LoadPortal(&s, nil, "", c.environ); len(report.Problems)+len(report.Warnings) > 0 || s.Log != c.want {
			t.Errorf("%s %v: %v, %+v", c.serve, c.environ, s.Log, report)
		}
	}
}

// TestPortalDatabase states that the database in the portal's own settings is used by a
// process that serves only the portal, unless storage.main is set.
func TestPortalDatabase(t *testing.T) {
	for _, c := range []struct {
		name, serve       string
		main              Storage
		environ           []string
		want              Storage
		problems, warning string
	}{
		{"silence", PortalAlone, Storage{Type: SQLite}, nil, Storage{Type: SQLite}, "", ""},
		{"a dialect", PortalAlone, Storage{Type: SQLite}, []string{"PORTAL_DATABASE_DIALECT=sqlite3"}, Storage{SQLite, "portal.db", 3, 5 * time.Second, Pool{Life: 30 * time.Minute}, true}, "", ""},
		{"a file", PortalAlone, Storage{Type: SQLite}, []string{"PORTAL_DATABASE_CONNECTIONSTRING=mine.db"}, Storage{SQLite, "mine.db", 3, 5 * time.Second, Pool{Life: 30 * time.Minute}, true}, "", ""},
		{"an address", PortalAlone, Storage{Type: SQLite}, []string{"PORTAL_DATABASE_DIALECT=postgres", "PORTAL_DATABASE_CONNECTIONSTRING=host=db", "PORTAL_DATABASE_MAXRETRIES=7", "PORTAL_DATABASE_RETRYDELAY=100"}, Storage{Postgres, "host=db", 7, 100 * time.Millisecond, Pool{Life: 30 * time.Minute}, true}, "", ""},
		{"connections", PortalAlone, Storage{Type: SQLite}, []string{"PORTAL_DATABASE_DIALECT=postgres", "PORTAL_DATABASE_CONNECTIONSTRING=host=db", "PORTAL_DATABASE_MAX_OPEN_CONNECTIONS=8", "PORTAL_DATABASE_MAX_IDLE_CONNECTIONS=4", "PORTAL_DATABASE_CONNECTION_MAX_LIFETIME=60000"}, Storage{Postgres, "host=db", 3, 5 * time.Second, Pool{8, 4, time.Minute}, true}, "", ""},
		{"connections of a week", PortalAlone, Storage{Type: SQLite}, []string{"PORTAL_DATABASE_DIALECT=postgres", "PORTAL_DATABASE_CONNECTIONSTRING=host=db", "PORTAL_DATABASE_CONNECTION_MAX_LIFETIME=604800000"}, Storage{Postgres, "host=db", 3, 5 * time.Second, Pool{Life: 7 * 24 * time.Hour}, true}, "", ""},
		{"too few connections", PortalAlone, Storage{Type: SQLite}, []string{"PORTAL_DATABASE_DIALECT=postgres", "PORTAL_DATABASE_CONNECTIONSTRING=host=db", "PORTAL_DATABASE_MAX_OPEN_CONNECTIONS=1", "PORTAL_DATABASE_MAX_IDLE_CONNECTIONS=0", "PORTAL_DATABASE_CONNECTION_MAX_LIFETIME=0"}, Storage{Postgres, "host=db", 3, 5 * time.Second, Pool{3, 1, 0}, true}, "", ""},
		{"no address", PortalAlone, Storage{Type: SQLite}, []string{"PORTAL_DATABASE_DIALECT=postgres"}, Storage{Type: SQLite}, "Database.ConnectionString", ""},
		{"mysql", PortalAlone, Storage{Type: SQLite}, []string{"PORTAL_DATABASE_DIALECT=mysql", "PORTAL_DATABASE_CONNECTIONSTRING=db"}, Storage{Type: SQLite}, "Database.Dialect", ""},
		{"storage.main", PortalAlone, Storage{Type: Postgres, ConnectionString: "host=main"}, []string{"PORTAL_DATABASE_DIALECT=sqlite3"}, Storage{Type: Postgres, ConnectionString: "host=main"}, "", "do not count"},
		{"memory", PortalAlone, Storage{Type: Memory}, []string{"PORTAL_DATABASE_CONNECTIONSTRING=mine.db"}, Storage{Type: Memory}, "", "do not count"},
		{"a dashboard", PortalOwn, Storage{Type: SQLite}, []string{"PORTAL_DATABASE_DIALECT=mysql"}, Storage{Type: SQLite}, "", "do not count"},
	} {
		s := Settings{Portal: Portal{Serve: c.serve}, Storage: c.main}
		report := LoadPortal(&s, nil, "", c.environ)
		problem, warning := "", ""
		for _, p := range report.Problems {
			problem += p.Setting
		}
		for _, w := range report.Warnings {
			warning += w
		}
		if s.Storage != c.want || problem != c.problems || (warning == "") != (c.warning == "") || !strings.Contains(warning, c.warning) {
			t.Errorf("%s: %v, %+v", c.name, s.Storage, report)
		}
	}
}

// TestPortalShown states that secrets are masked, and that no value is null.
func TestPortalShown(t *testing.T) {
	s, report := portal(t, "", "PORTAL_JWT_SIGNING_KEY=signing-key", "PORTAL_API_SECRET=secret", "PORTAL_LICENSEKEY=a long licence", "PORTAL_S3_AWS_SECRET_ACCESS_KEY=s3-secret-key",
		"PORTAL_S3_AWS_ACCESS_KEY_ID=s3-access-key", "PORTAL_DATABASE_CONNECTIONSTRING=host=db password=hush")
	if len(report.Problems) > 0 {
		t.Fatal(report)
	}
	text, err := json.Marshal(s.Portal.Shown())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"signing-key", "a long licence", "s3-secret-key", "s3-access-key", "hush ", "password", `"secret"`, "null"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is shown: %s", secret, text)
		}
	}
	for _, part := range []string{`"JwtSigningKey":"sig....key"`, `"PortalAPISecret":"****"`, `"CipherSuites":[]`, `"HostPort":3001`, `"StoreSessionName":"portal-session"`, `"Theme":"default"`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s is not shown: %s", part, text)
		}
	}
}

// TestPortalStorage states where files are stored if the settings of the portal do not
// say it: beside the SQLite file of the home directory, or in the configured database.
func TestPortalStorage(t *testing.T) {
	for environ, want := range map[string]string{
		"": FilesInFolder, "SVC_DB_STORAGE_MAIN_TYPE=memory": FilesInStore, "SVC_DB_STORAGE_MAIN_CONNECTIONSTRING=/var/lib/portal.db": FilesInStore,
		"SVC_DB_STORAGE_MAIN_TYPE=sqlite": FilesInFolder, "PORTAL_STORAGE=db": FilesInStore,
	} {
		s, report := Load(nil, "", []string{environ}, Options{})
		more := LoadPortal(&s, nil, "portal.conf", []string{environ})
		if len(report.Problems)+len(more.Problems) > 0 {
			t.Fatalf("%s: %+v %+v", environ, report, more)
		}
		if have := s.PortalStorage(); have != want {
			t.Errorf("%s: %s", environ, have)
		}
	}
}
