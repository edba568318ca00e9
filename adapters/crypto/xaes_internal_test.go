package crypto

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// The vectors of the specification (C2SP, XAES-256-GCM).
func TestXAES(t *testing.T) {
	for _, c := range []struct {
		key  byte
		more string
		want string
	}{
		{1, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"},
		{3, "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"},
	} {
		x, err := newXAES(bytes.Repeat([]byte{c.key}, 32))
		if err != nil {
			t.Fatal(err)
		}
		nonce := []byte("ABCDEFGHIJKLMNOPQRSTUVWX")
		sealed, err := x.seal(nil, nonce, []byte("XAES-256-GCM"), []byte(c.more))
		if err != nil || hex.EncodeToString(sealed) != c.want {
			t.Errorf("%x, %v, not %s", sealed, err, c.want)
		}
		if plain, err := x.open(nil, nonce, sealed, []byte(c.more)); err != nil || string(plain) != "XAES-256-GCM" {
			t.Errorf("%q, %v", plain, err)
		}
	}
}
