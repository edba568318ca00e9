package signal_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/signal"
)

// table is like the table that the application makes from its registered kinds.
var table = signal.Table{
	"api":         {Created: signal.ApiAdded, Updated: signal.ApiUpdated, Deleted: signal.ApiRemoved, Alias: "api_id"},
	"policy":      signal.Always(signal.PolicyChanged, "id"),
	registry.Kind: signal.Always(signal.ClientIdPChanged, "client_idp_id"),
}

func idp(id, alias string) signal.Change {
	return signal.Change{Op: signal.Updated, Kind: registry.Kind, ID: id, Key: func(index string) string {
		switch index {
		case "client_idp_id":
			return alias
		case signal.Quiet:
			return ""
		}
		return "wrong index"
	}}
}

func TestOf(t *testing.T) {
	changed := func(payload string) signal.Signal {
		return signal.Signal{Command: "ClientIdPChanged", Payload: payload}
	}
	for _, c := range []struct {
		name    string
		changes []signal.Change
		want    []signal.Signal
	}{
		{"nothing", nil, nil},
		{"kinds that do not concern gateways", []signal.Change{{Op: signal.Created, Kind: "user", ID: "1"}, {Op: signal.Deleted, Kind: "webhook", ID: "2"}, {ID: "3"}}, nil},
		{"an identity provider", []signal.Change{idp("1", "corp")}, []signal.Signal{changed("corp")}},
		{"without an alias", []signal.Change{idp("1", "")}, []signal.Signal{changed("1")}},
		{"without keys", []signal.Change{{Op: signal.Created, Kind: registry.Kind, ID: "1"}}, []signal.Signal{changed("1")}},
		{"several, in order of the commit", []signal.Change{idp("2", "b"), {Kind: "user", ID: "7"}, idp("1", "a"), idp("3", "c")},
			[]signal.Signal{changed("b"), changed("a"), changed("c")}},
		{"one subject twice", []signal.Change{idp("1", "a"), idp("2", "b"), idp("3", "a")}, []signal.Signal{changed("a"), changed("b")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if have := table.Of(c.changes); !slices.Equal(have, c.want) {
				t.Errorf("have %v, want %v", have, c.want)
			}
		})
	}
}

func TestCatchUp(t *testing.T) {
	if have := signal.CatchUp(); !slices.Equal(have, []signal.Signal{{Command: "ClientIdPChanged"}, {Command: "GroupReload"}}) {
		t.Errorf("have %v", have)
	}
}

// TestMessage has the published test vector of docs/wire/announcements.md#message.
func TestMessage(t *testing.T) {
	for _, c := range []struct {
		name   string
		signal signal.Signal
		secret string
		want   string
	}{
		{"vector", signal.Signal{Command: "ApiUpdated", Payload: "a1"}, "node-secret-1",
			`{"command":"ApiUpdated","payload":"a1","signature":"27dd04f9ed46865f3b655297b9b4c2bc486a55eccd299857a3754d92c289eefa","algorithm":5}`},
		{"identity provider", signal.Signal{Command: signal.ClientIdPChanged, Payload: "corp"}, "s",
			`{"command":"ClientIdPChanged","payload":"corp","signature":"` + digest("ClientIdPChangedcorps") + `","algorithm":5}`},
		{"empty payload", signal.Signal{Command: signal.GroupReload}, "s",
			`{"command":"GroupReload","payload":"","signature":"` + digest("GroupReloads") + `","algorithm":5}`},
		{"quotes", signal.Signal{Command: signal.ClientIdPChanged, Payload: "\"\n"}, "",
			`{"command":"ClientIdPChanged","payload":"\"\n","signature":"` + digest("ClientIdPChanged\"\n") + `","algorithm":5}`},
		{"bytes that are no text", signal.Signal{Command: signal.ClientIdPChanged, Payload: "a\xffb"}, "",
			`{"command":"ClientIdPChanged","payload":"a` + "\ufffd" + `b","signature":"` + digest("ClientIdPChangeda\ufffdb") + `","algorithm":5}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if have, err := c.signal.Message(signal.Secret(c.secret)); string(have) != c.want || err != nil {
				t.Errorf("have %s, %v\nwant %s", have, err, c.want)
			}
		})
	}
}

func TestSignerFails(t *testing.T) {
	broken := errors.New("no key")
	sign := func(signal.Command, string) (string, int, error) { return "", 0, broken }
	if have, err := signal.CatchUp()[0].Message(sign); !errors.Is(err, broken) || have != nil {
		t.Errorf("have %s, %v", have, err)
	}
}

// FuzzMessage checks what every gateway checks: the signature fits the decoded message, and
// the algorithm is a number.
func FuzzMessage(f *testing.F) {
	f.Add("ApiUpdated", "a1", "node-secret-1")
	f.Add("GroupReload", "a\xff\xfe<&>\u2028\x00", "s\xff")
	f.Fuzz(func(t *testing.T, command, payload, secret string) {
		s := signal.Signal{Command: signal.ClientIdPChanged, Payload: payload}
		if command == "GroupReload" {
			s.Command = signal.GroupReload
		}
		raw, err := s.Message(signal.Secret(secret))
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Command, Payload, Signature string
			Algorithm                   any
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if m.Command != string(s.Command) || m.Algorithm != 5.0 || m.Signature != digest(m.Command+m.Payload+secret) {
			t.Errorf("a gateway would drop %s", raw)
		}
	})
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// TestSubject: the payload names an API, a policy or a provider, unless it has keys.
func TestSubject(t *testing.T) {
	reset := signal.KeyReset("old", "new")
	if want := (signal.Signal{Command: "UserKeyReset", Payload: "old.new:UserKeyReset"}); reset != want || !reset.Command.Sealed() || reset.Reloads() {
		t.Errorf("a replaced access key is announced as %+v", reset)
	}
	for command, want := range map[signal.Command]string{
		signal.ApiAdded: "x", signal.PolicyChanged: "x", signal.ClientIdPChanged: "x", signal.DeleteAPICache: "x", signal.InvalidateJWKSCacheForAPI: "x", signal.GroupReload: "x",
		signal.KeySpaceUpdateNotification: "", signal.OAuthPurgeLapsedTokens: "", signal.UserKeyReset: "",
	} {
		if got := (signal.Signal{Command: command, Payload: "x"}).Subject(); got != want {
			t.Errorf("the subject of %s is %q, want %q", command, got, want)
		}
	}
}

// TestAbout: a command belongs to the kind of records whose change it announces.
func TestAbout(t *testing.T) {
	for command, want := range map[signal.Command]string{
		signal.ApiAdded: "api", signal.ApiUpdated: "api", signal.ApiRemoved: "api", signal.PolicyChanged: "policy", signal.ClientIdPChanged: "clientidp", signal.GroupReload: "", signal.UserKeyReset: "",
	} {
		if got := table.About(command); got != want {
			t.Errorf("%s announces changes of %q, want %q", command, got, want)
		}
	}
}
