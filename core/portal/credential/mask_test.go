package credential_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/portal/credential"
)

// gatewayKey is a key as gateways make them.
func gatewayKey(id string) string {
	return base64.StdEncoding.EncodeToString([]byte(`{"org":"5e9d9544a1dcd60001d0ed20","id":"` + id + `","h":"murmur64"}`))
}

// TestMasked: the part of a secret that pages show.
func TestMasked(t *testing.T) {
	escaped := base64.StdEncoding.EncodeToString([]byte(`{"id":"\u0061bcdefghijklmnopqrst"}`))
	a, b := gatewayKey("4f1e2d3c4b5a69788796a5b4c3d2e1f0"), gatewayKey("4f1e2d3c4b5a69788796a5b4c3d2e1ab")
	for secret, want := range map[string]string{
		"": "", "short": "••••••••", "fifteen letters": "••••••••", "sixteen letters!": "••••••••ers!",
		"5e9d9544a1dcd60001d0ed204f1e2d3c4b5a6978": "••••••••6978",
		gatewayKey("bob"):                          "••••••••NCJ9", // a chosen identifier: too little of it would be left
		escaped:                                    "••••••••" + escaped[len(escaped)-4:],
	} {
		if have := credential.Masked(secret); have != want {
			t.Errorf("%q: %q, want %q", secret, have, want)
		}
	}
	shown := [2]string{credential.Masked(a), credential.Masked(b)}
	if shown[0] == shown[1] {
		t.Error("two keys look alike:", shown)
	}
	for i, key := range []string{a, b} {
		part := strings.Trim(shown[i], "•…")
		if len(part) != 4 || !strings.Contains(key, part) || strings.HasSuffix(key, part) {
			t.Errorf("%s of %s", part, key)
		}
	}
}

// FuzzMasked: pages show at most four characters of a secret.
func FuzzMasked(f *testing.F) {
	for _, s := range []string{"", "sixteen letters!", gatewayKey("4f1e2d3c4b5a69788796a5b4c3d2e1f0"), gatewayKey("x"), "eyJpZCI6IuKAouKAouKAouKAouKAouKAouKAouKAoiJ9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, secret string) {
		have := strings.TrimPrefix(credential.Masked(secret), "••••••••")
		if part := strings.TrimSuffix(have, "…"); len(part) > 4 || !strings.Contains(secret, part) {
			t.Errorf("%q of %q", have, secret)
		}
	})
}
