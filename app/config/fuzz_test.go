package config

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

const front, back = "FRONTOFSECRET", "BACKOFSECRET"

// FuzzLoad loads arbitrary files and environments, with a secret in a setting for
// secrets: it must not panic or print the secret, and its output must load again.
func FuzzLoad(f *testing.F) {
	f.Add([]byte("listen_port: 1\nfoo: *bar\n"), "SVC_DB_PAGESIZE=x\nSVC_DB_NOSUCH=1", "s", uint8(0))
	f.Add([]byte(`{"storage": {"main": {"type": "mongo"}}, "redis_hosts": {"h": 1}}`), "SVC_LOGLEVEL=x", "a'b \\&@:/", uint8(3))
	f.Add([]byte("a: &a {main: *a}\nstorage: *a\n<<: *a\n"), "SVC_DB_HOSTS={", "é\n,", uint8(9))
	f.Add([]byte("- x"), "=\n\x00=\xff", "]", uint8(200))
	f.Fuzz(func(t *testing.T, file []byte, environ, middle string, place uint8) {
		all := string(file) + environ
		if strings.Contains(all, front) || strings.Contains(all, back) {
			return
		}
		name, value := hide(front+middle+back, int(place))
		inEnvironment := append(strings.Split(environ, "\n"), "SVC_DB_"+own.byName[strings.ToLower(name)].suffix+"="+value)
		for _, c := range []struct {
			file    []byte
			environ []string
		}{{file, inEnvironment}, {inFile(t, name, value), strings.Split(environ, "\n")}} {
			s, report := Load(c.file, "f", c.environ, Options{})
			printed := s.YAML()
			out := fmt.Sprintf("%s\n%q\n%v\n%+v\n%#v", printed, report.Warnings, report.Err(), s, s)
			if strings.Contains(out, front) || strings.Contains(out, back) {
				t.Fatalf("%s is printed: %s", name, out)
			}
			if _, again := Load(printed, "f", quiet, Options{}); report.Err() == nil && again.Err() != nil {
				t.Fatalf("loading again: %v\n%s", again.Err(), printed)
			}
		}
	})
}

// hide returns one of the settings for secrets, and a value that contains the secret.
func hide(hidden string, place int) (name, value string) {
	var names []string
	for _, row := range table {
		if row.use == used && (row.kind == secret || row.kind == secretList || row.kind == secretMap || row.kind == address) {
			names = append(names, row.name)
		}
	}
	name = names[place%len(names)]
	if own.byName[strings.ToLower(name)].kind != address {
		return name, hidden
	}
	forms := []string{
		"postgres://me:" + url.QueryEscape(hidden) + "@db/g?sslmode=disable",
		"postgres://db/g?password=" + url.QueryEscape(hidden) + "&sslmode=disable",
		"host=db password='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(hidden) + "' dbname=g",
	}
	return name, forms[place/len(names)%len(forms)]
}

// inFile returns a file with one setting.
func inFile(t *testing.T, name, value string) []byte {
	var v any = value
	switch own.byName[strings.ToLower(name)].kind {
	case secretList:
		v = []string{value}
	case secretMap:
		v = map[string]string{"SMTPPassword": value}
	}
	parts := strings.Split(name, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		v = map[string]any{parts[i]: v}
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
