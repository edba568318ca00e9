package gatewaysim

import (
	"fmt"
	"testing"
)

const secret = "node-secret-1"

// The test vector of docs/wire/announcements.md#message.
func TestSignatureVector(t *testing.T) {
	const want = "27dd04f9ed46865f3b655297b9b4c2bc486a55eccd299857a3754d92c289eefa"
	if got := Signature("ApiUpdated", "a1", secret); got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}

func signed(command, payload string) string {
	return fmt.Sprintf(`{"command":%q,"payload":%q,"signature":%q,"algorithm":5}`, command, payload, Signature(command, payload, secret))
}

// The deviations of docs/wire/announcements.md#message and the commands of
// docs/wire/announcements.md#commands.
func TestReceive(t *testing.T) {
	good := Signature("ApiUpdated", "a1", secret)
	raw := func(payload, signature, algorithm string) string {
		return fmt.Sprintf(`{"command":"ApiUpdated","payload":%s,"signature":%q%s}`, payload, signature, algorithm)
	}
	accepted, rejected, ignored := Notification{1, 1, 0, 0}, Notification{1, 0, 1, 0}, Notification{1, 0, 0, 1}
	for name, tt := range map[string]struct {
		message string
		command string
		want    Notification
		reload  bool
		idps    bool
	}{
		"the vector":              {raw(`"a1"`, good, `,"algorithm":5`), "ApiUpdated", accepted, true, false},
		"wrong signature":         {raw(`"a2"`, good, `,"algorithm":5`), "ApiUpdated", rejected, false, false},
		"no signature":            {raw(`"a1"`, "", `,"algorithm":5`), "ApiUpdated", rejected, false, false},
		"upper-case signature":    {raw(`"a1"`, "27DD04F9ED46865F3B655297B9B4C2BC486A55ECCD299857A3754D92C289EEFA", `,"algorithm":5`), "ApiUpdated", rejected, false, false},
		"algorithm 0":             {raw(`"a1"`, good, `,"algorithm":0`), "ApiUpdated", rejected, false, false},
		"algorithm absent":        {raw(`"a1"`, good, ``), "ApiUpdated", rejected, false, false},
		"algorithm as text":       {raw(`"a1"`, good, `,"algorithm":"5"`), "", rejected, false, false},
		"payload is an object":    {raw(`{"id":"a1"}`, good, `,"algorithm":5`), "", rejected, false, false},
		"not JSON":                {`ApiUpdated`, "", rejected, false, false},
		"empty":                   {``, "", rejected, false, false},
		"unknown, well signed":    {signed("Dance", "x"), "Dance", ignored, false, false},
		"unknown, badly signed":   {`{"command":"Dance","payload":"x","algorithm":5}`, "Dance", rejected, false, false},
		"for dashboards, uncheck": {`{"command":"NoticeGatewayConfigResponse","payload":"x"}`, "NoticeGatewayConfigResponse", ignored, false, false},
		"empty payload":           {signed("PolicyChanged", ""), "PolicyChanged", accepted, true, false},
		"escaped payload":         {signed("GroupReload", "ü\"\n"), "GroupReload", accepted, true, false},
		"API added":               {signed("ApiAdded", "a1"), "ApiAdded", accepted, true, false},
		"API removed":             {signed("ApiRemoved", "a1"), "ApiRemoved", accepted, true, false},
		"registry":                {signed("ClientIdPChanged", "idp-a"), "ClientIdPChanged", accepted, false, true},
		"known without effect":    {signed("DeleteAPICache", "a1"), "DeleteAPICache", accepted, false, false},
		"between gateways":        {signed("NoticeGatewayDRLNotification", "{}"), "NoticeGatewayDRLNotification", accepted, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(Config{NodeSecret: secret})
			p := newProcess(t.Context(), g)
			p.receive(tt.message)
			if got := p.state.Notifications[tt.command]; got != tt.want || len(p.state.Notifications) != 1 {
				t.Errorf("counted %+v, want %+v for %q", p.state.Notifications, tt.want, tt.command)
			}
			if len(p.reloadDue) > 0 != tt.reload || len(p.idpDue) > 0 != tt.idps {
				t.Errorf("reload %d, registry %d", len(p.reloadDue), len(p.idpDue))
			}
		})
	}
}

func TestInsecureGatewaySkipsTheSignature(t *testing.T) {
	p := newProcess(t.Context(), New(Config{NodeSecret: secret, AllowInsecure: true}))
	p.receive(`{"command":"ApiUpdated","payload":"a1"}`)
	if n := p.state.Notifications["ApiUpdated"]; n.Accepted != 1 {
		t.Errorf("counted %+v", n)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add(signed("ApiUpdated", "a1"))
	f.Add(`{"command":"ApiUpdated","payload":{},"algorithm":"5"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		p := newProcess(t.Context(), New(Config{NodeSecret: "a secret the fuzzer does not know"}))
		p.receive(raw)
		for command, n := range p.state.Notifications {
			if n.Accepted != 0 {
				t.Errorf("unsigned %q was accepted", command)
			}
		}
	})
}
