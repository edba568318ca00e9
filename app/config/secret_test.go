package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestAddressMasksPasswords(t *testing.T) {
	cases := []struct{ address, want string }{
		{"", ""},
		{"gatehouse.db", "gatehouse.db"},
		{"file:gatehouse.db?_pragma=busy_timeout(5000)", "file:gatehouse.db?_pragma=busy_timeout(5000)"},
		{"file:x.db?_auth_pass=hunter2", "file:x.db?_auth_pass=********"},
		{"postgres://db:5432/gatehouse?sslmode=disable", "postgres://db:5432/gatehouse?sslmode=disable"},
		{"postgres://me@db/gatehouse", "postgres://me@db/gatehouse"},
		{"postgres://me:hunter2@db/gatehouse", "postgres://me:********@db/gatehouse"},
		{"postgres://me:@db/gatehouse", "postgres://me@db/gatehouse"},
		{"postgres://me:hun/te@r2@db/gatehouse", "postgres://me:********@db/gatehouse"},
		{" postgresql://:hunter2@db", " postgresql://:********@db"},
		{"postgres://db/g?user=me&password=hun ter2&sslmode=disable", "postgres://db/g?user=me&password=********&sslmode=disable"},
		{"postgres://db/g?SSLPassword=hunter2", "postgres://db/g?SSLPassword=********"},
		{"host=db user=me password=hunter2 dbname=g", "host=db user=me password=******** dbname=g"},
		{"host=db password = hunter2", "host=db password = ********"},
		{"password='hun ter\\'2' host=db", "password=******** host=db"},
		{"password='hun ter2", "password=********"},
		{"password='hunter2\\", "password=********"},
		{"password=hun\\ ter2 host=db", "password=******** host=db"},
		{"password=hun&te;r2\\", "password=********"},
		{"password=a'b c'd host=db", "password=******** c'd host=db"},
		{"password=ab://c@d host=db", "password=******** host=db"},
		{"password= passfile=/p host=db", "password= ******** host=db"},
		{"passfile=/home/me/.pgpass host=db", "passfile=/home/me/.pgpass host=db"},
		{"http://me:hunter2@collector:4318", "http://me:********@collector:4318"},
	}
	for _, c := range cases {
		if have := Address(c.address).String(); have != c.want {
			t.Errorf("%s\nhave %s\nwant %s", c.address, have, c.want)
		}
		if have := Address(c.address).Reveal(); have != c.address {
			t.Errorf("%s is revealed as %s", c.address, have)
		}
	}
}

func TestSecretsPrintAsAsterisks(t *testing.T) {
	const hidden = "hunter2"
	values := map[string]any{
		"secret":  Secret(hidden),
		"address": Address("postgres://me:" + hidden + "@db"),
		"list":    []Secret{hidden, ""},
		"inside": struct {
			S Secret
			A Address
		}{hidden, "password=" + hidden},
		"settings": Settings{AdminSecret: hidden, EncryptionKeys: []Secret{hidden}, Redis: Redis{Password: hidden}},
	}
	for name, v := range values {
		for how, printed := range printings(t, v) {
			if strings.Contains(printed, hidden) || !strings.Contains(printed, mask) {
				t.Errorf("%s as %s: %s", name, how, printed)
			}
		}
	}
	for how, printed := range printings(t, Secret("")) {
		if strings.Contains(printed, "*") {
			t.Errorf("an empty secret as %s: %s", how, printed)
		}
	}
	if Secret(hidden).Reveal() != hidden || Secret(hidden).GoString() != `"********"` || Address("password=x").GoString() != `"password=********"` {
		t.Error("Reveal or GoString")
	}
}

func printings(t *testing.T, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		out[verb] = fmt.Sprintf(verb, v)
	}
	var text, object bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("m", "v", v)
	slog.New(slog.NewJSONHandler(&object, nil)).Info("m", "v", v)
	out["slog text"], out["slog json"] = text.String(), object.String()
	for how, marshal := range map[string]func(any) ([]byte, error){"json": json.Marshal, "yaml": yaml.Marshal} {
		b, err := marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out[how] = string(b)
	}
	return out
}
