package crypto_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
)

const session = "3b1f8a34-5c0e-4d2b-9d4c-0a7a7e1c9f10"

var uuidShape = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

func TestNodeID(t *testing.T) {
	one, replica, stranger := crypto.NewNodeTokens("node secret"), crypto.NewNodeTokens("node secret"), crypto.NewNodeTokens("Node secret")
	id := one.NodeID(session)
	if !uuidShape.MatchString(id) {
		t.Errorf("%q is not shaped like a UUID", id)
	}
	if replica.NodeID(session) != id {
		t.Error("a session has another identifier on another replica")
	}
	if one.NodeID(session+" ") == id {
		t.Error("two sessions have the same identifier")
	}
	if stranger.NodeID(session) == id || stranger.Ours(id) {
		t.Error("the node secret does not matter")
	}
	anonymous := one.NodeID("")
	if anonymous == one.NodeID("") {
		t.Error("two nodes without session have the same identifier")
	}
	for _, id := range []string{id, anonymous} {
		if !one.Ours(id) || !replica.Ours(id) {
			t.Errorf("%s is refused", id)
		}
	}
}

func TestOursRefuses(t *testing.T) {
	tokens := crypto.NewNodeTokens("node secret")
	id := tokens.NodeID(session)
	for name, text := range map[string]string{
		"nothing":        "",
		"made up":        "solo-" + session,
		"any UUID":       session,
		"upper case":     strings.ToUpper(id),
		"without dashes": strings.ReplaceAll(id, "-", ""),
		"other dashes":   strings.ReplaceAll(id, "-", "_"),
		"moved dash":     id[:7] + "-" + id[7:8] + id[9:],
		"cut":            id[:35],
		"longer":         id + "0",
		"not hex":        "g" + id[1:],
		"36 bytes":       strings.Repeat("é", 18),
	} {
		if tokens.Ours(text) {
			t.Errorf("%s: %q is accepted", name, text)
		}
	}
	for i := range id {
		changed := []byte(id)
		changed[i] ^= 1
		if tokens.Ours(string(changed)) {
			t.Errorf("byte %d changed: %s is accepted", i, changed)
		}
	}
}

func TestNonce(t *testing.T) {
	tokens := crypto.NewNodeTokens("node secret")
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	one, two := tokens.Nonce(at), tokens.Nonce(at)
	if !uuidShape.MatchString(one) || one == two {
		t.Errorf("nonces %q, %q", one, two)
	}
}

func FuzzOurs(f *testing.F) {
	tokens := crypto.NewNodeTokens("node secret")
	genuine := tokens.NodeID(session)
	for _, s := range []string{"", session, "solo-" + session, strings.Repeat("-", 36), strings.ToUpper(genuine), genuine + "0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		if got := tokens.Ours(id); got != (id == genuine) {
			t.Errorf("Ours(%q) = %v", id, got)
		}
		if made := tokens.NodeID(id); !tokens.Ours(made) || !uuidShape.MatchString(made) {
			t.Errorf("the identifier %q of session %q is refused", made, id)
		}
	})
}

func BenchmarkOurs(b *testing.B) {
	tokens := crypto.NewNodeTokens("node secret")
	id := tokens.NodeID(session)
	b.ReportAllocs()
	for b.Loop() {
		if !tokens.Ours(id) {
			b.Fatal("refused")
		}
	}
}
